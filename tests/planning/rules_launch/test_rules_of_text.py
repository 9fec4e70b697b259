"""Each rule over the text of an input, its version and its output: one of it, and a near miss."""

import pytest

from deployments.planning.rules.launch.lint import LintReport
from tests.planning.rules_launch.judging import (
    codes,
    judged,
    mtp,
)

Case = tuple[str, LintReport, LintReport]


OPENAI = "vllm/vllm-openai:v0.32.0"


def _texts() -> list[Case]:
    broken = f"services:\n  a:\n    image: {OPENAI}\n    command: [--model, M\n"
    return [
        (
            "COMMENT_ENDS_COMMAND",
            judged("vllm serve M \\\n  # tokens\n  --port 9"),
            judged("# tokens\nvllm serve M \\\n  --port 9"),
        ),
        (
            "LINE_NOT_CONTINUED",
            judged("vllm serve M\n  --port 9"),
            judged("vllm serve M \\\n  --port 9"),
        ),
        (
            "SPACE_AFTER_BACKSLASH",
            judged("vllm serve M \\ \n  --port 9"),
            judged("vllm serve M \\\n  --port 9"),
        ),
        (
            "QUOTE_NOT_CLOSED",
            judged("vllm serve M --served-model-name 'x"),
            judged("vllm serve M --served-model-name 'x'"),
        ),
        ("COMPOSE_INVALID", judged(broken), judged(broken.replace("M\n", "M]\n"))),
        (
            "DASH_IS_NOT_ASCII",
            judged("vllm serve M \u2014port 9"),
            judged("vllm serve M --port 9"),
        ),
        (
            "ENVIRONMENT_FILE_UNSEEN",
            judged(
                f"services:\n  a:\n    image: {OPENAI}\n    env_file: .env\n    command: --model M\n"
            ),
            judged(f"services:\n  a:\n    image: {OPENAI}\n    command: --model M\n"),
        ),
        ("NO_LAUNCH", judged("ls -l"), judged("vllm serve M")),
        (
            "VERSION_UNREADABLE",
            judged("vllm serve M", "nightly"),
            judged("vllm serve M", "0.20.x"),
        ),
        ("VERSION_NOT_NAMED", judged("vllm serve M"), judged("vllm serve M", "0.32.0")),
        (
            "VERSION_NEWER",
            judged("vllm serve M", "0.99.0"),
            judged("vllm serve M", "0.12"),
        ),
    ]


def _outputs() -> list[Case]:
    shown = {
        "OUTPUT_GRAMMAR_REJECTS": (
            "Failed to advance FSM for request 1",
            "advanced the FSM",
        ),
        "OUTPUT_TOOL_CALL_CUT": (
            "JSON Parse error:  Unterminated string",
            "JSON Parse error",
        ),
        "OUTPUT_SIDES_DISAGREE": (
            "NIXL compatibility hash mismatch",
            "NIXL compatibility hash",
        ),
        "OUTPUT_RANKS_DISAGREE": (
            "assert num_tokens_across_dp_cpu",
            "assert num_tokens",
        ),
        "OUTPUT_ENGINE_CRASHED": (
            "an illegal memory access was encountered",
            "memory access",
        ),
        "OUTPUT_CAPTURE_FAILED": ("batchIdx out of range", "batchIdx 3"),
        "OUTPUT_NETWORK_MISSING": (
            "EI0006: Getting socket times out",
            "socket is open",
        ),
        "OUTPUT_STACK_MISMATCH": (
            "Failed to find func by type TransData",
            "TransData took 3 ms",
        ),
        "OUTPUT_DRAFT_CONTEXT_SHORT": (
            "index out of bounds: 0 <= tmp4 < 2048",
            "index out of bounds",
        ),
        "OUTPUT_MTP_TENSORS_MISSING": (
            "KeyError: 'model.layers.92.self_attn.q_proj.weight'",
            "KeyError: 'x'",
        ),
        "OUTPUT_DEVICES_MISSING": (
            "world size (8) is larger than the number of available GPUs",
            "world size (8)",
        ),
        "OUTPUT_PACKAGE_MISSING": (
            "No module named 'nixl'",
            "No module named 'vllm._C'",
        ),
        "OUTPUT_NOTHING_ACCEPTED": (
            "Avg Draft acceptance rate: 0.0%",
            "Avg Draft acceptance rate: 70.0%",
        ),
    }
    return [
        (
            code,
            judged(f"{mtp()}\n--- output ---\n{bad}"),
            judged(f"{mtp()}\n--- output ---\n{good}"),
        )
        for code, (bad, good) in shown.items()
    ]


CASES = [*_texts(), *_outputs()]


@pytest.mark.parametrize(
    ("code", "fires", "misses"),
    CASES,
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_a_rule_fires_on_its_case_and_not_on_the_near_miss(
    code: str, fires: LintReport, misses: LintReport
) -> None:
    assert code in codes(fires)
    assert code not in codes(misses)


COVERED = frozenset(code for code, _fires, _misses in CASES)
