"""Each rule over platform, container and variables: one launch of it, and a near miss."""

from typing import Any

import pytest

from deployments.planning.rules.launch.lint import CARDS, LintReport
from tests.planning.rules_launch import (
    test_rules_apart,
    test_rules_of_config,
    test_rules_of_flags,
    test_rules_of_text,
)
from tests.planning.rules_launch.judging import (
    codes,
    eagle3,
    extra,
    graphs,
    judged,
    mtp,
    ngram,
    on_ascend,
    serve,
)

OPENAI = "vllm/vllm-openai:v0.32.0"
NPU = "--device /dev/davinci0 --device /dev/davinci_manager --device /dev/devmm_svm --device /dev/hisi_hdc"
DRIVER = "-v /usr/local/Ascend/driver/lib64/:/usr/local/Ascend/driver/lib64/"
ASCEND_IMAGE = "quay.io/ascend/vllm-ascend:v0.23.0"
Case = tuple[str, LintReport, LintReport]


def _docker(options: str, command: str = "--model M", image: str = OPENAI) -> str:
    return f"docker run {options} {image} {command}"


def _npu(options: str, command: str = "vllm serve M", image: str = ASCEND_IMAGE) -> str:
    return f"docker run {options} {image} {command}"


def _containers() -> list[Case]:
    mounted = "--gpus all --ipc=host -v /data:/models"
    two = 'services:\n  a:\n    image: x/y\n    ports: ["8000:8000"]\n    command: vllm serve M\n  b:\n    image: x/y\n    ports: ["%s:8000"]\n    command: vllm serve M\n'
    return [
        (
            "MANAGEMENT_DEVICES_MISSING",
            on_ascend(_npu("--device /dev/davinci0")),
            on_ascend(_npu(NPU)),
        ),
        (
            "DRIVER_NOT_MOUNTED",
            on_ascend(_npu(NPU)),
            on_ascend(_npu(f"{NPU} {DRIVER}")),
        ),
        (
            "GPU_NOT_REQUESTED",
            judged(_docker("--ipc=host")),
            judged(_docker("--gpus all --ipc=host")),
        ),
        (
            "SHARED_MEMORY_SMALL",
            judged(_docker("--gpus all", "--model M -tp 2")),
            judged(_docker("--gpus all --shm-size 16g", "--model M -tp 2")),
        ),
        (
            "PATH_NOT_MOUNTED",
            judged(_docker(mounted, "--model /weights/m")),
            judged(_docker(mounted, "--model /models/m")),
        ),
        (
            "PORT_NOT_PUBLISHED",
            judged(_docker(f"{mounted} -p 8000:8000", "--model M --port 9000")),
            judged(_docker(f"{mounted} -p 8000:9000", "--model M --port 9000")),
        ),
        ("PORT_TAKEN", judged(two % "8000"), judged(two % "8001")),
        (
            "LISTENS_ON_LOOPBACK",
            judged(_docker(mounted, "--model M --host 127.0.0.1")),
            judged(_docker(f"{mounted} --network host", "--model M --host 127.0.0.1")),
        ),
        (
            "IMAGE_OF_OTHER_PLATFORM",
            judged(_docker(mounted), platform="ascend-a3"),
            judged(_docker(mounted), platform="nvidia"),
        ),
        (
            "MODEL_AS_WORD",
            judged(_docker(mounted, "M", "vllm/vllm-openai:v0.11.0")),
            judged(_docker(mounted, "M", "vllm/vllm-openai:v0.11.1")),
        ),
        (
            "ENTRYPOINT_TWICE",
            judged(_docker(mounted, "vllm serve M")),
            judged(_docker(f"{mounted} --entrypoint bash", "-c 'vllm serve M'")),
        ),
    ]


def _ascend() -> list[Case]:
    hybrid = "Qwen3.6-35B-A3B-w8a8"
    comm = extra(enable_flashcomm1=True)
    xlite = extra(xlite_graph_config={"enabled": True})
    spark: dict[str, Any] = {"method": "dspark", "num_speculative_tokens": 7}
    return [
        (
            "DRAFTER_MUST_RUN_EAGER",
            on_ascend(mtp(target="glm-5")),
            on_ascend(mtp(target="glm-5", enforce_eager=True)),
        ),
        (
            "EAGLE3_GRAPH_EARLY",
            on_ascend(eagle3(), "0.11.0"),
            on_ascend(eagle3("--enforce-eager"), "0.11.0"),
        ),
        (
            "CHIP_310P_MTP_GRAPH",
            on_ascend(mtp(), "0.23.0rc1-310p"),
            on_ascend(mtp(), "0.23.0rc1"),
        ),
        (
            "CHIP_310P_DTYPE",
            on_ascend(serve("--dtype bfloat16"), platform="ascend-310p"),
            on_ascend(serve("--dtype float16"), platform="ascend-310p"),
        ),
        (
            "CHIP_950_FEW_GRAPHS",
            on_ascend(
                serve(graphs("PIECEWISE", cudagraph_capture_sizes=[1, 2, 4, 8, 16])),
                platform="ascend-950",
            ),
            on_ascend(
                serve(graphs("PIECEWISE", cudagraph_capture_sizes=[1, 2, 4, 8])),
                platform="ascend-950",
            ),
        ),
        ("XLITE_ONE_TOKEN", on_ascend(mtp(xlite)), on_ascend(mtp(xlite, count=1))),
        (
            "DSPARK_PROBABILISTIC",
            on_ascend(serve(**spark, draft_sample_method="probabilistic")),
            on_ascend(serve(**spark, draft_sample_method="greedy")),
        ),
        (
            "PREFILL_CONTEXT_PARALLEL_REFUSED",
            on_ascend(serve("--prefill-context-parallel-size 2"), "0.24.0rc1"),
            on_ascend(serve("--prefill-context-parallel-size 2"), "0.23.0"),
        ),
        (
            "NETWORK_NOT_NAMED",
            on_ascend(serve("--data-parallel-address 10.0.0.1")),
            on_ascend(
                "export HCCL_IF_IP=10.0.0.2\n"
                + serve("--data-parallel-address 10.0.0.1")
            ),
        ),
        (
            "HYBRID_MTP_DECAY",
            on_ascend(mtp(target=hybrid), "0.20.2rc1"),
            on_ascend(mtp(target=hybrid), "0.23.0"),
        ),
        (
            "GEMMA4_EAGLE3_PATCH",
            on_ascend(eagle3(target="gemma4-31b-it")),
            judged(eagle3(target="gemma4-31b-it")),
        ),
        (
            "SUFFIX_GLM_GRAPH",
            on_ascend(serve(graphs(), "GLM-5", method="suffix")),
            on_ascend(serve(graphs("PIECEWISE"), "GLM-5", method="suffix")),
        ),
        (
            "FLASHCOMM_WITH_MTP",
            on_ascend(mtp(comm, "GLM-5"), "0.21.0rc1"),
            on_ascend(mtp(comm, "GLM-5"), "0.23.0"),
        ),
        (
            "SPARSE_PARALLEL_WITH_MTP",
            on_ascend(mtp(extra(enable_dsa_cp=True)), "0.22.1rc1"),
            on_ascend(mtp(extra(enable_dsa_cp=True), count=1), "0.22.1rc1"),
        ),
        (
            "EIGHT_BIT_CACHE_WITH_EAGLE3",
            on_ascend(eagle3(target="MiniMax-M2.5-w8a8c8")),
            on_ascend(eagle3(target="MiniMax-M2.5-w8a8")),
        ),
    ]


def _environment() -> list[Case]:
    return [
        (
            "VARIABLE_MISSPELT",
            on_ascend("export VLLM_ASCEND_EN1BLE_MLAPO=1\nvllm serve M"),
            on_ascend("export VLLM_ASCEND_ENABLE_MLAPO=1\nvllm serve M"),
        ),
        (
            "VARIABLE_UNKNOWN",
            judged("VLLM_MAKE_IT_QUICK=1 vllm serve M"),
            judged("MAKE_IT_QUICK=1 vllm serve M"),
        ),
        (
            "VARIABLE_NOT_IN_VERSION",
            judged("VLLM_USE_TRITON_FLASH_ATTN=1 vllm serve M", "0.32.0"),
            judged("VLLM_USE_TRITON_FLASH_ATTN=1 vllm serve M", "0.9.0"),
        ),
        (
            "OLD_ENGINE_ASKED_FOR",
            judged("VLLM_USE_V1=0 vllm serve M", "0.10.0"),
            judged("VLLM_USE_V1=0 vllm serve M", "0.9.2"),
        ),
        (
            "DEVICES_OF_OTHER_PLATFORM",
            on_ascend("CUDA_VISIBLE_DEVICES=0 vllm serve M"),
            on_ascend("ASCEND_RT_VISIBLE_DEVICES=0 vllm serve M"),
        ),
        (
            "REPOSITORY_UNKNOWN",
            judged(serve(target="Qwen/Qwen3-72B")),
            judged(serve(target="Qwen/Qwen3-32B")),
        ),
        ("METRICS_OFF", judged(mtp("--disable-log-stats")), judged(mtp())),
        (
            "LOG_SENT_TO_FILE",
            judged(mtp("> /var/log/vllm.log 2>&1")),
            judged(mtp("2>/dev/null")),
        ),
        (
            "MEMORY_SHARE_ODD",
            judged(mtp("--gpu-memory-utilization 90")),
            judged(mtp("--gpu-memory-utilization 0.9")),
        ),
        ("OTHER_SERVER", judged("llama-server -m x.gguf"), judged("vllm serve x")),
        (
            "SGLANG_PARTS_MISSING",
            judged(
                "sglang serve --model-path M --speculative-algorithm EAGLE3 --speculative-num-steps 3"
            ),
            judged(
                "sglang serve --model-path M --speculative-algorithm EAGLE3 --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4"
            ),
        ),
        (
            "OTHER_SERVER_COUNT_MISSING",
            judged("atom serve M --method mtp"),
            judged("atom serve M --method mtp --num-speculative-tokens 1"),
        ),
        (
            "IMAGE_BROKEN",
            judged(
                "vllm serve M\n--- output ---\nTypeError: Worker.__init__() got an unexpected keyword argument 'x'"
            ),
            judged("vllm serve M\n--- output ---\nTypeError: 'x'"),
        ),
        (
            "BENCHMARK_MODULE_MISSING",
            judged("python -m vllm.benchmarks.benchmark_serving --model m"),
            judged("vllm bench serve --model m"),
        ),
        (
            "DATASET_FILE_MISSING",
            judged("vllm bench serve --dataset-name sharegpt"),
            judged("vllm bench serve --dataset-name sharegpt --dataset-path a.json"),
        ),
    ]


CASES = [*_containers(), *_ascend(), *_environment()]


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


def test_every_rule_has_its_case() -> None:
    covered = {code for code, _fires, _misses in CASES}
    for other in (
        test_rules_apart,
        test_rules_of_config,
        test_rules_of_flags,
        test_rules_of_text,
    ):
        covered |= other.COVERED
    assert {card.code for card in CARDS} == covered


def test_every_card_says_what_it_is_about_how_to_mend_it_and_who_says_so() -> None:
    names = [card.code for card in CARDS]
    assert len(names) == len(set(names))
    for card in CARDS:
        assert card.summary.endswith(".")
        assert card.fix.endswith(".")
        assert card.source
        assert card.versions


def test_a_launch_without_faults_is_accepted() -> None:
    assert judged(ngram(), "0.32.0").verdict == "accept"
