"""make_plan: what it refuses, and names, labels and limits of what it makes."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from deployments.planning.containers import container_name
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Plan, Role
from deployments.planning.planner import make_plan
from deployments.planning.revision import (
    Limits,
    RevisionSpec,
    SpeculationChoice,
    Topology,
)
from deployments.planning.serving import ServingProfile
from deployments.planning.snapshot import ClusterSettings
from tests.planning.builders import (
    PRACTICE,
    a3,
    apart,
    codes,
    combined,
    cpu,
    decode,
    flags,
    gpu,
    plan,
    prefill,
    shipped,
)

LLAMA = "meta-llama/Llama-3.1-8B-Instruct"

REFUSED: list[tuple[str, Callable[[], Plan]]] = [
    (
        "There is no host 'gone'; these hosts are known: gpu-1",
        lambda: plan(combined(LLAMA, "gone"), gpu()),
    ),
    ("these hosts are known: none", lambda: plan(combined(LLAMA, "gone"))),
    ("The combined role has no host", lambda: plan(combined(LLAMA), gpu())),
    ("names a host twice", lambda: plan(combined(LLAMA, "gpu-1", "gpu-1"), gpu())),
    (
        "different platforms \\(ascend-a3, nvidia\\)",
        lambda: plan(combined(LLAMA, "gpu-1", "a"), gpu(), a3("a")),
    ),
    (
        "vllm-ascend does not run on NVIDIA GPU; use vllm",
        lambda: plan(combined(LLAMA, "gpu-1", engine="vllm-ascend==0.23.0"), gpu()),
    ),
    (
        "The checkpoint w8a8 of GLM-5.2 is for ascend-a2, ascend-a3, not for nvidia",
        lambda: plan(combined("zai-org/GLM-5.2", "gpu-1", checkpoint="w8a8"), gpu()),
    ),
    (
        "no checkpoint of GLM-5.2 for cpu",
        lambda: plan(combined("zai-org/GLM-5.2", "local"), cpu()),
    ),
    (
        "A disaggregated deployment has exactly these roles: prefill and decode",
        lambda: plan(
            replace(combined(LLAMA, "gpu-1"), topology=Topology.DISAGGREGATED), gpu()
        ),
    ),
    (
        "the revision names none",
        lambda: plan(RevisionSpec(name="x", model=LLAMA, roles=()), gpu()),
    ),
    (
        "cannot draft -1 tokens",
        lambda: plan(
            combined(
                LLAMA, "gpu-1", speculation=SpeculationChoice(num_speculative_tokens=-1)
            ),
            gpu(),
        ),
    ),
    (
        "'eagle9' is not a speculative method",
        lambda: plan(
            combined(LLAMA, "gpu-1", speculation=SpeculationChoice(method="eagle9")),
            gpu(),
        ),
    ),
    (
        "binds no drafter 'other'",
        lambda: plan(
            combined(LLAMA, "gpu-1", speculation=SpeculationChoice(drafter="other")),
            gpu(),
        ),
    ),
    (
        "The host name '../etc' may hold letters",
        lambda: plan(combined(LLAMA, "../etc"), gpu("../etc")),
    ),
    (
        "'--privileged' is not an image reference",
        lambda: plan(combined(LLAMA, "gpu-1", image="--privileged"), gpu()),
    ),
    (
        "served name '--trust-remote-code' may not begin with a dash",
        lambda: plan(
            combined(LLAMA, "gpu-1", served_model_name="--trust-remote-code"), gpu()
        ),
    ),
    (
        "holds invisible characters",
        lambda: plan(combined(LLAMA, "gpu-1", served_model_name="chat\u202e"), gpu()),
    ),
    (
        "is not in Unicode normal form C",
        lambda: plan(combined(LLAMA, "gpu-1", served_model_name="cafe\u0301"), gpu()),
    ),
    (
        "An argument of chat-r1-combined-0 is longer than 8192 bytes",
        lambda: plan(combined(LLAMA, "gpu-1", served_model_name="x" * 9000), gpu()),
    ),
    (
        "The command of chat-r1-combined-0 is longer than 65536 bytes",
        lambda: plan(
            combined(
                LLAMA,
                "gpu-1",
                extra_flags=tuple((f"--a{n}", "x" * 8000) for n in range(9)),
            ),
            gpu(),
        ),
    ),
    (
        "The label draftboard.deployment of .* is longer than 4096 bytes",
        lambda: plan(replace(combined(LLAMA, "gpu-1"), name="n" * 5000), gpu()),
    ),
    (
        "The plan takes .* bytes; 262144 is the most",
        lambda: plan(
            combined(LLAMA, *(f"g{n}" for n in range(140))),
            *(gpu(f"g{n}") for n in range(140)),
        ),
    ),
]


@pytest.mark.parametrize(("sentence", "make"), REFUSED)
def test_unusable_input_is_one_sentence(
    sentence: str, make: Callable[[], Plan]
) -> None:
    with pytest.raises(PlanningError, match=sentence) as caught:
        make()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("deployment", "expected"),
    [
        ("chat", "chat-r1-decode-0"),
        ("Chat Bot_2", "chat-bot-2-r1-decode-0"),
        ("***", "deployment-r1-decode-0"),
        ("名前", "deployment-r1-decode-0"),
    ],
)
def test_container_name_derives_from_the_deployment(
    deployment: str, expected: str
) -> None:
    assert container_name(deployment, 1, Role.DECODE, 0) == expected


def test_long_names_stay_apart_within_63_characters() -> None:
    first = container_name("n" * 80 + "a", 12, Role.PREFILL, 3)
    second = container_name("n" * 80 + "b", 12, Role.PREFILL, 3)
    assert first != second
    assert max(len(first), len(second)) <= 63
    assert first.endswith("-r12-prefill-3")


def test_labels_say_whose_container_it_is() -> None:
    made = plan(replace(combined(LLAMA, "gpu-1"), number=7), gpu())
    assert dict(made.replicas[0].container.labels) == {
        "draftboard.deployment": "chat",
        "draftboard.revision": "7",
        "draftboard.role": "combined",
        "draftboard.rank": "0",
    }


def test_prefill_and_decode_share_a_host_on_other_devices_and_ports() -> None:
    spec = apart(
        LLAMA, prefill("gpu-1", devices_per_host=2), decode("gpu-1", devices_per_host=4)
    )
    made = plan(spec, gpu())
    first, second, router = made.replicas
    assert router.devices == ()
    assert first.devices == (0, 1)
    assert second.devices == (4, 5, 6, 7)
    taken = [port.host for replica in made.replicas for port in replica.container.ports]
    assert len(taken) == len(set(taken))


def test_cluster_settings_reach_the_container() -> None:
    made = plan(
        combined(LLAMA, "gpu-1"),
        gpu(model_root=None),
        image_rewrites=(("vllm/vllm-openai", "registry.example/vllm-openai"),),
        time_zone="Asia/Shanghai",
        model_roots=("/srv/models",),
    )
    container = made.replicas[0].container
    assert container.image.reference == "registry.example/vllm-openai:v0.32.0"
    assert container.time_zone == "Asia/Shanghai"
    assert container.mounts[0].source.startswith("/srv/models/")
    assert made.snapshot_digests == (("gpu-1", gpu(model_root=None).digest),)


def test_limits_of_a_person_win() -> None:
    limits = Limits(
        max_model_len=4096,
        max_num_seqs=12,
        max_num_batched_tokens=1024,
        gpu_memory_utilization_percent=85,
    )
    given = flags(plan(combined(LLAMA, "gpu-1", limits=limits), gpu()))
    assert given["--max-model-len"] == "4096"
    assert given["--max-num-seqs"] == "12"
    assert given["--max-num-batched-tokens"] == "1024"
    assert given["--gpu-memory-utilization"] == "0.85"


def test_taken_devices_and_ports_are_stepped_over() -> None:
    made = plan(combined(LLAMA, "gpu-1"), gpu(taken_devices=(0,), taken_ports=(8000,)))
    assert made.replicas[0].devices == (1,)
    assert made.replicas[0].health_port == 8001
    assert made.replicas[0].container.ports[0].container == 8000


def test_practice_image_takes_the_engine_version_from_its_tag() -> None:
    image = PRACTICE.replace("0.32.0", "0.33.0")
    made = plan(combined(LLAMA, "local", image=image), cpu())
    assert made.engine_version == "0.33.0"
    untagged = plan(combined(LLAMA, "local", image="draftboard/practice-vllm"), cpu())
    assert untagged.engine_version == "0.32.0"


def test_practice_rehearses_an_ascend_engine_and_checkpoint() -> None:
    spec = apart(
        "zai-org/GLM-5.2",
        prefill("x"),
        decode("y"),
        engine="vllm-ascend==0.23.0",
        checkpoint="w8a8",
        image=PRACTICE,
    )
    made = plan(spec, cpu("x", address="10.0.0.1"), cpu("y", address="10.0.0.2"))
    assert made.can_submit
    assert '"enforce_eager":true' in (flags(made, 1)["--speculative-config"] or "")
    assert [port.purpose for port in made.replicas[0].container.ports] == ["api"]


def test_practice_takes_a_checkpoint_of_any_platform() -> None:
    spec = combined(LLAMA, "local", image=PRACTICE, engine="vllm-ascend==0.23.0")
    ascend_only = replace(
        shipped(LLAMA),
        checkpoints=tuple(
            replace(one, platforms=("nvidia",)) for one in shipped(LLAMA).checkpoints
        ),
    )
    made = make_plan(spec, ascend_only, [cpu()], ClusterSettings())
    assert made.checkpoint == "bf16"


def test_drafting_off_in_one_role_only_is_possible_and_told() -> None:
    spec = apart(LLAMA, prefill("gpu-1"), decode("gpu-2", num_speculative_tokens=0))
    made = plan(spec, gpu(), gpu("gpu-2"))
    assert made.replicas[1].speculation is None
    assert "DRAFTER_ON_ONE_SIDE" in codes(made)


def test_small_model_of_a_person_is_asked_on_decode_and_prefill_follows_dspark() -> (
    None
):
    spec = apart(
        "deepseek-ai/DeepSeek-V4-Flash",
        prefill("gpu-1"),
        decode("gpu-2", num_speculative_tokens=6),
        checkpoint="fp8-dspark",
    )
    made = plan(spec, gpu(), gpu("gpu-2"))
    counts = [
        one.speculation.num_speculative_tokens
        for one in made.replicas
        if one.speculation
    ]
    assert counts == [6, 6]
    assert '"model"' not in (flags(made)["--speculative-config"] or "")


def _ready(made: Plan) -> set[int]:
    found: set[int] = set()
    for replica in made.replicas:
        container = replica.container
        found.add(int(dict(container.environment)["VLLM_ENGINE_READY_TIMEOUT_S"]))
        found.add(replica.ready_deadline_s)
        if container.health_check is not None:
            found.add(container.health_check.start_period_s)
    return found


def test_engine_health_check_and_panel_wait_for_one_and_the_same_time() -> None:
    small = _ready(plan(combined(LLAMA, "gpu-1"), gpu()))
    large = _ready(plan(combined("zai-org/GLM-5.2", "a"), a3("a")))
    assert len(small) == len(large) == 1
    assert min(small) < 1800
    assert min(large) > 1800


def test_longer_documented_wait_wins_everywhere() -> None:
    known = shipped(LLAMA)
    asks = {"VLLM_ENGINE_READY_TIMEOUT_S": "7200"}
    asking = ServingProfile(source="a recipe", environment=asks)
    model = replace(known, serving=(*known.serving, asking))
    made = make_plan(combined(LLAMA, "gpu-1"), model, [gpu()], ClusterSettings())
    assert _ready(made) == {7200}


def test_caches_belong_to_one_exact_image() -> None:
    first = plan(combined(LLAMA, "gpu-1"), gpu()).replicas[0].container
    other = plan(combined(LLAMA, "gpu-1", engine="vllm==0.33.0"), gpu())
    (cache,) = first.volumes
    assert cache.name != other.replicas[0].container.volumes[0].name
    root = dict(first.environment)["VLLM_CACHE_ROOT"]
    assert root.startswith(f"{cache.target}/")


def test_every_container_rotates_its_log_and_is_not_restarted_alone() -> None:
    made = plan(combined("zai-org/GLM-5.2", "a", "b"), a3("a"), a3("b"))
    for replica in made.replicas:
        log = replica.container.logging
        assert (log.driver, log.max_size, log.max_file) == ("json-file", "64m", 5)
        assert replica.container.restart == "no"


@pytest.mark.parametrize("asked", [4096, 262144])
def test_the_drafter_reads_no_further_than_the_target(asked: int) -> None:
    """The recipe of this drafter says 65536; engines refuse one with the longer context."""
    spec = combined(
        "mistralai/Mistral-Medium-3.5-128B",
        "gpu-1",
        limits=Limits(max_model_len=asked),
    )
    config = json.loads(flags(plan(spec, gpu()))["--speculative-config"] or "")
    assert config["max_model_len"] == min(asked, 65536)
