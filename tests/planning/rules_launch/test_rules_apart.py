"""Each rule over prefill and decode apart: one launch of it, and a near miss."""

import pytest

from deployments.planning.rules.launch.lint import LintReport
from tests.planning.rules_launch.judging import (
    codes,
    eagle3,
    extra,
    judged,
    mtp,
    on_ascend,
    serve,
    transfer,
)

Case = tuple[str, LintReport, LintReport]


def _apart(prefill: str, decode: str) -> str:
    return f"{prefill} &\n{decode}"


def _mooncake(role: str, **more: object) -> str:
    return transfer(role, "MooncakeConnectorV1", **more)


def _transfers() -> list[Case]:
    return [
        (
            "KV_CONNECTOR_REFUSED",
            judged(serve(transfer("kv_both", "P2pNcclConnector")), "0.24.0"),
            judged(serve(transfer("kv_both", "P2pNcclConnector")), "0.23.0"),
        ),
        (
            "KV_ROLE_MISSING",
            judged(
                'vllm serve M --kv-transfer-config \'{"kv_connector":"NixlConnector"}\''
            ),
            judged(serve(transfer("kv_both"))),
        ),
        (
            "KV_CONNECTOR_MISSING",
            judged('vllm serve M --kv-transfer-config \'{"kv_role":"kv_both"}\''),
            judged(serve(transfer("kv_both"))),
        ),
        (
            "KV_KEYS_REMOVED",
            judged(serve(transfer("kv_both", kv_rank=0)), "0.32.0"),
            judged(serve(transfer("kv_both", kv_rank=0)), "0.31.0"),
        ),
        (
            "KV_ROLE_BOTH_OLD",
            judged(serve(transfer("kv_both")), "0.23.0"),
            judged(serve(transfer("kv_producer")), "0.23.0"),
        ),
        (
            "PREFILL_DRAFTS_IN_VAIN",
            judged(mtp(transfer("kv_producer"))),
            judged(mtp(transfer("kv_consumer"))),
        ),
        (
            "SCHEDULER_OF_OTHER_ROLE",
            on_ascend(serve(extra(recompute_scheduler_enable=True))),
            on_ascend(
                serve(
                    extra(recompute_scheduler_enable=True)
                    + " "
                    + _mooncake("kv_consumer")
                )
            ),
        ),
        (
            "KV_TOPOLOGY_DIFFERS",
            on_ascend(
                serve(
                    "-tp 4 "
                    + _mooncake(
                        "kv_consumer",
                        kv_connector_extra_config={"decode": {"tp_size": 8}},
                    )
                )
            ),
            on_ascend(
                serve(
                    "-tp 8 "
                    + _mooncake(
                        "kv_consumer",
                        kv_connector_extra_config={"decode": {"tp_size": 8}},
                    )
                )
            ),
        ),
        (
            "KV_PORT_IN_RANDOM_RANGE",
            on_ascend(serve(_mooncake("kv_both", kv_port="20001"))),
            on_ascend(serve(_mooncake("kv_both", kv_port="36000"))),
        ),
        (
            "DRAFTER_ON_ONE_SIDE",
            on_ascend(
                _apart(serve(_mooncake("kv_producer")), mtp(_mooncake("kv_consumer")))
            ),
            on_ascend(
                _apart(
                    mtp(_mooncake("kv_producer"), count=1),
                    mtp(_mooncake("kv_consumer")),
                )
            ),
        ),
        (
            "METHODS_DIFFER_ACROSS_ROLES",
            judged(
                _apart(
                    mtp(transfer("kv_producer"), count=1),
                    eagle3(transfer("kv_consumer")),
                )
            ),
            judged(
                _apart(
                    eagle3(transfer("kv_producer"), count=1),
                    eagle3(transfer("kv_consumer")),
                )
            ),
        ),
        (
            "COUNTS_DIFFER_ACROSS_ROLES",
            on_ascend(
                _apart(
                    mtp(_mooncake("kv_producer"), "Qwen3.6-27B", 1),
                    mtp(_mooncake("kv_consumer"), "Qwen3.6-27B"),
                )
            ),
            on_ascend(
                _apart(
                    mtp(_mooncake("kv_producer"), "GLM-5.2", 1),
                    mtp(_mooncake("kv_consumer"), "GLM-5.2"),
                )
            ),
        ),
        (
            "DRAFT_EAGER_DIFFERS_ACROSS_ROLES",
            on_ascend(
                _apart(
                    mtp(_mooncake("kv_producer"), "GLM-5", 1),
                    mtp(_mooncake("kv_consumer"), "GLM-5", enforce_eager=True),
                )
            ),
            on_ascend(
                _apart(
                    mtp(_mooncake("kv_producer"), "M", 1),
                    mtp(_mooncake("kv_consumer"), "M", enforce_eager=True),
                )
            ),
        ),
        (
            "PREFILL_TENSOR_PARALLEL",
            on_ascend(
                _apart(
                    serve("-tp 4 " + _mooncake("kv_producer")),
                    serve("-tp 8 " + _mooncake("kv_consumer")),
                )
            ),
            on_ascend(
                _apart(
                    serve("-tp 8 " + _mooncake("kv_producer")),
                    serve("-tp 4 " + _mooncake("kv_consumer")),
                )
            ),
        ),
        (
            "ENGINE_ID_TWICE",
            on_ascend(
                _apart(
                    serve(_mooncake("kv_producer", engine_id="0")),
                    serve(_mooncake("kv_consumer", engine_id="0")),
                )
            ),
            on_ascend(
                _apart(
                    serve(_mooncake("kv_producer", engine_id="0")),
                    serve(_mooncake("kv_consumer", engine_id="1")),
                )
            ),
        ),
    ]


CASES = _transfers()


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
