"""What the program output below a command proves about the launch itself."""

import re
from collections.abc import Iterator

from deployments.planning.failures.known import BY_CODE
from deployments.planning.plan import Severity
from deployments.planning.rules.launch.rule import Check, Hit, LaunchRule, RuleCard
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import Text, text

_LONGEST_EVIDENCE = 160


def _shows(patterns: tuple[str, ...], summary: Text) -> Check:
    compiled = [re.compile(pattern, re.MULTILINE) for pattern in patterns]

    def check(view: LaunchView) -> Iterator[Hit]:
        """Fires on the first launch of an input whose output matches."""
        output = view.source.output if view.index == 0 else None
        found = next(filter(None, (one.search(output or "") for one in compiled)), None)
        if found is not None:
            yield Hit(
                message=summary,
                evidence=found[0][:_LONGEST_EVIDENCE],
                start=view.launch.start,
            )

    return check


def _rule(
    names: tuple[str, str],
    failures: tuple[str, ...],
    said: tuple[Text, Text],
    source: str,
) -> LaunchRule:
    """A rule that fires where the output shows one of these known failures, or a pattern."""
    patterns = (BY_CODE[one].pattern if one in BY_CODE else one for one in failures)
    card = RuleCard(
        code=names[0],
        category=names[1],
        severity=Severity.WARNING,
        summary=said[0],
        fix=said[1],
        source=source,
    )
    return card(_shows(tuple(patterns), said[0]))


OUTPUT_RULES: tuple[LaunchRule, ...] = (
    _rule(
        ("OUTPUT_GRAMMAR_REJECTS", "structured-output"),
        ("GRAMMAR_REJECTS_DRAFTS",),
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
        ("TOOL_CALL_CUT",),
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
        (
            "NIXL_HASH_MISMATCH",
            "REMOTE_LAYER_MISSING",
            "NIXL_PEER_RESTARTED",
            "KV_LAYOUT_DIFFERS",
            "PREFILL_PARALLEL_TOO_SMALL",
            "KV_TRANSFER_FAILED",
            "KV_BLOCKS_EXPIRED",
            "NIXL_HANDSHAKE_FAILED",
            "TRANSFER_TIMED_OUT",
        ),
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
        ("RANKS_DISAGREE",),
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
        (
            "ILLEGAL_MEMORY_ACCESS",
            "SAMPLE_TOKENS_TIMEOUT",
            "ENGINE_DIED",
            "VARLEN_SEGMENT",
            "SUFFIX_SAMPLER_FAILED",
            "SLOT_MAPPING_SHAPE",
            "NPU_DEVICE_ERROR",
        ),
        (
            text("The output shows an engine that crashed or hung while drafting."),
            text("Draft fewer tokens, limit the context, or use a later version."),
        ),
        "vllm#57941, #40926, #41530; vllm-ascend#9956",
    ),
    _rule(
        ("OUTPUT_CAPTURE_FAILED", "cudagraph"),
        (
            "CUDA_GRAPH_CAPTURE_FAILED",
            "CAPTURE_TOO_SMALL",
            "CAPTURE_NOT_MULTIPLE",
            "STREAMS_EXHAUSTED",
            "MTP_GRAPH_UNSUPPORTED",
            "GRAPH_REPLAY_FAILED",
        ),
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
        (
            "HCCL_SOCKET_TIMEOUT",
            "NCCL_FAILED",
        ),
        (
            text("The output shows a rank that did not reach the others in time."),
            text("Name the network interfaces, and raise HCCL_CONNECT_TIMEOUT."),
        ),
        "vllm-ascend#5461, #9447",
    ),
    _rule(
        ("OUTPUT_STACK_MISMATCH", "ascend-version"),
        (
            "STACK_MISMATCH",
            "CANN_LIBRARY_MISSING",
        ),
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
        ("DRAFT_POSITIONS_SHORT",),
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
        (
            "MTP_TENSOR_NAMES",
            "MTP_QUANTISATION_UNDESCRIBED",
            "MTP_WEIGHTS_MISSING",
        ),
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
        (
            "DEVICES_TOO_FEW",
            "DEVICE_NOT_FOUND",
        ),
        (
            text("The output shows fewer devices than the launch needs."),
            text("Show the process more devices, or lower the parallel sizes."),
        ),
        "vLLM sources; vllm-ascend FAQ",
    ),
    _rule(
        ("OUTPUT_PACKAGE_MISSING", "missing-package"),
        (
            "NIXL_MISSING",
            "PACKAGE_MISSING",
        ),
        (
            text("The output shows a package that the image does not hold."),
            text("Install it in the image."),
        ),
        "vLLM sources",
    ),
    _rule(
        ("OUTPUT_NOTHING_ACCEPTED", "zero-acceptance"),
        (r"Draft acceptance rate: 0(?:\.0+)?%|Per-position acceptance rate: 0\.000",),
        (
            text("The output shows drafts of which none is accepted."),
            text(
                "Check that drafter and target belong together, also in their quantisation."
            ),
        ),
        "vllm#55605, #41789, #13704",
    ),
)
