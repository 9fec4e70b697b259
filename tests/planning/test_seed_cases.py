"""The three Ascend cases of the field guide against what vllm-ascend v0.23.0 documents."""

import json

import pytest

from deployments.planning.plan import Severity
from tests.planning.builders import codes, flags
from tests.planning.cases import deepseek_v4_flash, glm_52, kimi_k26


def _json(text: str | None) -> object:
    return json.loads(text or "null")


def test_glm_drafts_one_on_prefill_and_three_on_decode_with_an_eager_drafter() -> None:
    made = glm_52()
    configs = [_json(flags(made, index)["--speculative-config"]) for index in (0, 1)]
    assert configs == [
        {"method": "mtp", "num_speculative_tokens": 1, "enforce_eager": True},
        {"method": "mtp", "num_speculative_tokens": 3, "enforce_eager": True},
    ]
    assert made.can_submit


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (
            0,
            {
                "--tensor-parallel-size": "8",
                "--data-parallel-size": "2",
                "--max-num-seqs": "64",
                "--max-num-batched-tokens": "8192",
                "--enforce-eager": None,
                "--quantization": "ascend",
                "--gpu-memory-utilization": "0.92",
                "--tool-call-parser": "glm47",
                "--reasoning-parser": "glm45",
            },
        ),
        (
            1,
            {
                "--tensor-parallel-size": "4",
                "--data-parallel-size": "4",
                "--max-num-seqs": "32",
                "--max-num-batched-tokens": "164",
                "--compilation-config": '{"cudagraph_mode":"FULL_DECODE_ONLY"}',
                "--additional-config": '{"recompute_scheduler_enable":true}',
            },
        ),
    ],
)
def test_glm_flags_are_the_documented_ones_but_for_what_one_host_holds(
    index: int, expected: dict[str, str | None]
) -> None:
    given = flags(glm_52(), index)
    assert {name: given.get(name, "missing") for name in expected} == expected


def test_glm_transfers_the_cache_above_the_random_ports_of_an_a3_host() -> None:
    made = glm_52()
    first, second = (
        _json(flags(made, index)["--kv-transfer-config"]) for index in (0, 1)
    )
    sides = {
        "use_ascend_direct": True,
        "prefill": {"dp_size": 2, "tp_size": 8},
        "decode": {"dp_size": 4, "tp_size": 4},
    }
    assert first == {
        "kv_connector": "MooncakeConnectorV1",
        "kv_role": "kv_producer",
        "kv_port": "61000",
        "engine_id": "0",
        "kv_connector_extra_config": sides,
    }
    assert second == {
        "kv_connector": "MooncakeConnectorV1",
        "kv_role": "kv_consumer",
        "kv_port": "61100",
        "engine_id": "1",
        "kv_connector_extra_config": sides,
    }


def test_glm_environment_reaches_the_fabric() -> None:
    environment = dict(glm_52().replicas[1].container.environment)
    expected = {
        "HCCL_IF_IP": "10.0.0.2",
        "GLOO_SOCKET_IFNAME": "enp1s0",
        "TP_SOCKET_IFNAME": "enp1s0",
        "HCCL_SOCKET_IFNAME": "enp1s0",
        "HCCL_BUFFSIZE": "256",
        "HCCL_OP_EXPANSION_MODE": "AIV",
        "ASCEND_A3_ENABLE": "1",
        "ASCEND_RT_VISIBLE_DEVICES": "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15",
        "TASK_QUEUE_ENABLE": "1",
    }
    assert {name: environment.get(name) for name in expected} == expected


def test_kimi_mounts_target_and_head_on_every_host() -> None:
    made = kimi_k26()
    *engines, router = made.replicas
    assert router.container.mounts == ()
    for replica in engines:
        weights = [mount.target for mount in replica.container.mounts[:2]]
        assert weights == ["/models/Kimi-K2.6-W4A8", "/models/kimi-k2.6-eagle3"]
        config = _json(
            flags(made, made.replicas.index(replica))["--speculative-config"]
        )
        assert isinstance(config, dict)
        assert config["method"] == "eagle3"
        assert config["model"] == "/models/kimi-k2.6-eagle3"
        assert "enforce_eager" not in config


def test_kimi_decode_spans_two_hosts_with_a_headless_follower() -> None:
    made = kimi_k26()
    head, follower = flags(made, 1), flags(made, 2)
    assert head["--data-parallel-size"] == follower["--data-parallel-size"] == "8"
    assert head["--data-parallel-size-local"] == "4"
    assert head["--max-num-batched-tokens"] == "32"
    assert follower["--data-parallel-start-rank"] == "4"
    assert "--headless" in follower
    assert "--headless" not in head
    assert follower["--data-parallel-address"] == "10.0.0.2"
    assert made.replicas[2].health_port is None
    assert made.replicas[2].container.health_check is None


def test_deepseek_v4_flash_drafts_the_documented_one_and_says_why() -> None:
    made = deepseek_v4_flash()
    config = _json(flags(made)["--speculative-config"])
    assert config == {
        "method": "mtp",
        "num_speculative_tokens": 1,
        "enforce_eager": True,
    }
    refuted = next(
        one for one in made.findings if one.code == "COUNT_CLAIM_NOT_FOLLOWED"
    )
    assert refuted.severity is Severity.INFO
    assert "names 5 tokens" in refuted.message
    assert "drafts 1" in refuted.message
    assert "MTP_LAYER_REUSED" not in codes(made)


def test_deepseek_v4_flash_flags_are_the_documented_ones() -> None:
    given = flags(deepseek_v4_flash())
    expected = {
        "--tensor-parallel-size": "4",
        "--data-parallel-size": "4",
        "--enable-expert-parallel": None,
        "--max-model-len": "1048576",
        "--max-num-seqs": "64",
        "--max-num-batched-tokens": "10240",
        "--block-size": "32",
        "--tokenizer-mode": "deepseek_v4",
        "--tool-call-parser": "deepseek_v4",
        "--api-server-count": "1",
    }
    assert {name: given.get(name, "missing") for name in expected} == expected


def test_deepseek_v4_flash_gets_the_documented_shared_memory() -> None:
    assert deepseek_v4_flash().replicas[0].container.shm_size_bytes == 512 << 30
