"""Known failures are recognised in real recordings, and healthy logs have none."""

from pathlib import Path

import pytest

from deployments.telemetry.diagnosis import DiagnosisSeverity, diagnose_text
from deployments.telemetry.logs.reader import read_log

FIXTURES = Path(__file__).parent / "fixtures"


def failure(name: str) -> str:
    return (FIXTURES / f"failure-{name}.log").read_text()


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("deepseek_mtp_without_mtp", "MTP_MISSING", {}),
        (
            "draft_vocab_mismatch",
            "VOCABULARY_MISMATCH",
            {"draft": "512", "target": "1024"},
        ),
        (
            "eagle3_missing_hub_id",
            "MODEL_PATH_MISSING",
            {"path": "some-org/eagle3-head"},
        ),
        (
            "eagle3_missing_path",
            "MODEL_PATH_MISSING",
            {"path": "/models/does-not-exist"},
        ),
        ("eagle3_no_model", "DRAFTER_NOT_GIVEN", {}),
        ("invalid_json", "SPEC_JSON_INVALID", {"flag": "--speculative-config"}),
        ("kv_cache_too_big", "KV_CACHE_TOO_SMALL", {}),
        ("cpu_memory_taken", "DEVICE_MEMORY_TAKEN", {}),
        ("max_model_len_too_long", "CONTEXT_TOO_LONG", {"length": "65536"}),
        ("missing_k", "SPEC_COUNT_MISSING", {}),
        ("missing_target", "MODEL_PATH_MISSING", {"path": "/models/nope"}),
        (
            "mtp_k3_on_n_predict2",
            "SPEC_COUNT_NOT_DIVISIBLE",
            {"count": "3", "depth": "2"},
        ),
        ("unknown_flag", "ARGUMENTS_UNKNOWN", {"arguments": "--no-such-flag"}),
        (
            "old_flag_num_speculative_tokens",
            "ARGUMENTS_UNKNOWN",
            {
                "arguments": "--num-speculative-tokens 3 --speculative-model /models/draft"
            },
        ),
        ("unknown_key", "SPEC_KEY_UNKNOWN", {"key": "prompt_lookup_maximum"}),
        ("wrong_method", "SPEC_METHOD_UNKNOWN", {"method": "ngrams"}),
        (
            "shm_default",
            "SHARED_MEMORY_TOO_SMALL",
            {"needed": "160 MiB", "free": "64 MiB"},
        ),
        ("compiler_missing", "COMPILER_MISSING", {}),
        ("synthetic_rates", "SYNTHETIC_ON_CPU", {}),
        ("ngram_gpu_on_cpu", "PINNED_MEMORY_MISSING", {}),
    ],
)
def test_recorded_failure_is_recognised_alone(
    name: str, code: str, words: dict[str, str]
) -> None:
    text = failure(name)
    (found,) = diagnose_text(text)
    assert found.code == code
    assert found.severity is DiagnosisSeverity.CRITICAL
    assert dict(found.parameters) == words
    assert found.evidence in text.splitlines()[found.line - 1]
    for value in words.values():
        assert value in f"{found.cause} {found.fix}" or code == "SPEC_JSON_INVALID"


def test_consequences_are_told_when_no_cause_is_known() -> None:
    log = failure("ngram_gpu_on_cpu").replace("pin_memory=True requires", "no")
    codes = [found.code for found in diagnose_text(log)]
    assert codes == ["WORKER_FAILED", "ENGINE_START_FAILED"]


@pytest.mark.parametrize("method", ["mtp", "eagle3", "ngram"])
def test_healthy_log_has_no_critical_diagnosis(method: str) -> None:
    reading = read_log((FIXTURES / f"vllm-0.32.0-{method}.log").read_bytes())
    assert DiagnosisSeverity.CRITICAL not in {
        found.severity for found in reading.diagnoses
    }


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (
            "torch.OutOfMemoryError: CUDA out of memory. Tried to",
            "DEVICE_OUT_OF_MEMORY",
        ),
        ("RuntimeError: NPU out of memory. Tried to allocate", "DEVICE_OUT_OF_MEMORY"),
        ("OSError: [Errno 98] Address already in use", "PORT_IN_USE"),
        (
            "zmq.error.ZMQError: Address already in use (addr='tcp://...')",
            "PORT_IN_USE",
        ),
        (
            "OSError: [Errno 28] No space left on device: '/dev/shm/x'",
            "SHARED_MEMORY_TOO_SMALL",
        ),
        ("ValueError: No available memory for the cache blocks.", "KV_CACHE_TOO_SMALL"),
        ("Engine core initialization failed. See root cause", "ENGINE_START_FAILED"),
        (
            "NotImplementedError: Unsupported speculative method: 'mlp_speculator'",
            "SPEC_METHOD_UNSUPPORTED",
        ),
        (
            "error: argument --speculative-config: invalid loads value: '{x}'",
            "SPEC_JSON_INVALID",
        ),
        (
            "Following weights were not initialized from checkpoint: {'mtp_block.w'}",
            "MTP_WEIGHTS_MISSING",
        ),
    ],
)
def test_published_error_is_recognised(line: str, code: str) -> None:
    assert [found.code for found in diagnose_text(line)] == [code]


def test_dead_engine_after_an_ordered_stop_is_no_failure() -> None:
    died = "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue."
    stop = "[shutdown] API server: shutdown triggered"
    assert diagnose_text(f"{stop}\n{died}") == ()
    assert [found.code for found in diagnose_text(f"{died}\n{stop}")] == ["ENGINE_DIED"]


def test_each_failure_is_told_once_at_its_first_line() -> None:
    (found,) = diagnose_text("fine\nAddress already in use\nAddress already in use\n")
    assert found.line == 2


def test_words_of_the_log_cannot_fill_other_places() -> None:
    (found,) = diagnose_text("vllm: error: unrecognized arguments: {flag} {cause}")
    assert "{flag} {cause}" in found.cause


def spec(accepted: int, drafted: int, length: float) -> str:
    return (
        f"SpecDecoding metrics: Mean acceptance length: {length:.2f}, Accepted: {accepted} "
        f"tokens, Drafted: {drafted} tokens"
    )


@pytest.mark.parametrize(
    ("lines", "code", "severity"),
    [
        ([spec(0, 500, 1.0)], "ZERO_ACCEPTANCE", "warning"),
        ([spec(0, 500, 1.0)] * 2, "ZERO_ACCEPTANCE", "critical"),
        ([spec(100, 500, 1.6)], "LOW_ACCEPTANCE", "warning"),
        (
            [spec(350, 500, 1.7)] * 3 + [spec(160, 500, 1.3)] * 3,
            "ACCEPTANCE_FELL",
            "warning",
        ),
    ],
)
def test_records_alone_show_what_is_wrong(
    lines: list[str], code: str, severity: str
) -> None:
    (found,) = read_log("\n".join(lines).encode()).diagnoses
    assert (found.code, found.severity.value) == (code, severity)


def test_good_acceptance_is_no_diagnosis() -> None:
    assert read_log("\n".join([spec(400, 500, 1.8)] * 8).encode()).diagnoses == ()
