"""What the program output below a command proves about the launch itself."""

import re
from collections.abc import Iterator

from deployments.planning.plan import Severity
from deployments.planning.rules.launch.rule import Check, Hit, LaunchRule, RuleCard
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import Text, text

_LONGEST_EVIDENCE = 160


def _shows(pattern: str, summary: Text) -> Check:
    compiled = re.compile(pattern)

    def check(view: LaunchView) -> Iterator[Hit]:
        """Fires on the first launch of an input whose output matches."""
        found = compiled.search(view.source.output or "")
        if found is not None and view.index == 0:
            yield Hit(
                message=summary,
                evidence=found[0][:_LONGEST_EVIDENCE],
                start=view.launch.start,
            )

    return check


def _rule(
    names: tuple[str, str], pattern: str, said: tuple[Text, Text], source: str
) -> LaunchRule:
    card = RuleCard(
        code=names[0],
        category=names[1],
        severity=Severity.WARNING,
        summary=said[0],
        fix=said[1],
        source=source,
    )
    return card(_shows(pattern, said[0]))


OUTPUT_RULES: tuple[LaunchRule, ...] = (
    _rule(
        ("OUTPUT_GRAMMAR_REJECTS", "structured-output"),
        r"Failed to advance FSM|grammar rejected tokens",
        (
            text(
                "The output shows drafts that the grammar of structured output rejects."
            ),
            text("Use vLLM 0.28.0 or later, or draft nothing for structured output."),
        ),
        "vllm#46118, #44006, #53777",
    ),
    _rule(
        ("OUTPUT_TOOL_CALL_CUT", "tool-calls"),
        r"Unterminated string|[Mm]alformed tool.call|Error in extracting tool call",
        (
            text(
                "The output shows a tool call that was cut off while several tokens came at once."
            ),
            text(
                "Draft 1 token, or use a version whose parser takes several tokens a step."
            ),
        ),
        "vllm-ascend#7580; vllm#41967, #35800",
    ),
    _rule(
        ("OUTPUT_SIDES_DISAGREE", "disaggregation"),
        r"NIXL compatibility hash mismatch|Remote KV metadata does not contain layer|NIXL agent engine ID mismatch"
        r"|prefill_tp_size: .* must be greater|Mooncake transfer failed|Releasing expired KV blocks",
        (
            text(
                "The output shows prefill and decode that do not understand each other."
            ),
            text(
                "Give both the same version, model, drafter and cache type, and check the network between them."
            ),
        ),
        "vllm#29503, #20139; vllm-ascend#2970; vllm-ascend sources, Mooncake connector",
    ),
    _rule(
        ("OUTPUT_RANKS_DISAGREE", "data-parallel"),
        r"num_tokens_across_dp_cpu|AssertionError: 4096 20",
        (
            text(
                "The output shows data parallel ranks that disagree on the batch while drafting."
            ),
            text("Use one data parallel rank, or a later version."),
        ),
        "vllm#56281",
    ),
    _rule(
        ("OUTPUT_ENGINE_CRASHED", "crash"),
        r"illegal memory access|RPC call to sample_tokens timed out|EngineDeadError|exceeds varlen segment length",
        (
            text("The output shows an engine that crashed or hung while drafting."),
            text("Draft fewer tokens, limit the context, or use a later version."),
        ),
        "vllm#57941, #40926, #41530; vllm-ascend#9956",
    ),
    _rule(
        ("OUTPUT_CAPTURE_FAILED", "cudagraph"),
        r"StreamCaptureUnsupported|operation not permitted when stream is capturing|No valid cudagraph sizes after"
        r"|batchIdx out of range|queryT\(\d+\) must be equal|Alloc sq cq fail|Stream resources are insufficient",
        (
            text("The output shows graph capture or replay that failed."),
            text(
                "Give capture sizes that are multiples of k+1 and cover the batch, or add --enforce-eager."
            ),
        ),
        "vllm#48749; vllm-ascend#6524, #8392",
    ),
    _rule(
        ("OUTPUT_NETWORK_MISSING", "environment"),
        r"EI0006|Getting socket times out",
        (
            text("The output shows a rank that did not reach the others in time."),
            text("Name the network interfaces, and raise HCCL_CONNECT_TIMEOUT."),
        ),
        "vllm-ascend#5461, #9447",
    ),
    _rule(
        ("OUTPUT_STACK_MISMATCH", "ascend-version"),
        r"find func by type TransData|get_draft_attn_causal|libatb\.so|old Ascend HDK/CANN",
        (
            text(
                "The output shows driver, CANN and packages that do not belong together."
            ),
            text(
                "Use the official image, and the driver that its CANN release asks for."
            ),
        ),
        "vllm-ascend#5361, #13976; FAQ",
    ),
    _rule(
        ("OUTPUT_DRAFT_CONTEXT_SHORT", "draft-loading"),
        r"index out of bounds: 0 <= .* < 2048",
        (
            text(
                "The output shows a drafter whose positions end before the prompt does."
            ),
            text(
                "Use vLLM 0.27.1 or later, or raise max_position_embeddings in the drafter's config.json."
            ),
        ),
        "vllm#48894, #21986",
    ),
    _rule(
        ("OUTPUT_MTP_TENSORS_MISSING", "missing-weights"),
        r"KeyError: .*(?:mtp_block|weight_scale_inv|e_proj|layers\.\d+\.self_attn)",
        (
            text(
                "The output shows MTP tensors that the checkpoint does not hold as the engine expects them."
            ),
            text("Use a checkpoint with its MTP layers, or a later version."),
        ),
        "vllm#52111, #43455; vllm-ascend#5794",
    ),
    _rule(
        ("OUTPUT_DEVICES_MISSING", "device"),
        r"larger than the number of available|Failed to infer device type",
        (
            text("The output shows fewer devices than the launch needs."),
            text("Show the process more devices, or lower the parallel sizes."),
        ),
        "vLLM sources; vllm-ascend FAQ",
    ),
    _rule(
        ("OUTPUT_PACKAGE_MISSING", "missing-package"),
        r"NIXL is not available|No module named '(?!vllm\._C)[\w.]+'",
        (
            text("The output shows a package that the image does not hold."),
            text("Install it in the image."),
        ),
        "vLLM sources",
    ),
    _rule(
        ("OUTPUT_NOTHING_ACCEPTED", "zero-acceptance"),
        r"Draft acceptance rate: 0(?:\.0+)?%|Per-position acceptance rate: 0\.000",
        (
            text("The output shows drafts of which none is accepted."),
            text(
                "Check that drafter and target belong together, also in their quantisation."
            ),
        ),
        "vllm#55605, #41789, #13704",
    ),
)
