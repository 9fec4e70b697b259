"""A canary: one replica drafts in another way, everything around it stays as it is planned without."""

from dataclasses import replace

import pytest

from deployments.planning.answers import plan_answer
from deployments.planning.deployment_spec import parse_deployment_spec
from deployments.planning.documents import from_document
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Plan, Role, plan_from_document
from deployments.planning.revision import RevisionSpec, RoleSpec, SpeculationChoice
from deployments.planning.snapshot import HostSnapshot
from deployments.planning.spec_document import spec_document
from tests.planning.builders import (
    PRACTICE,
    a3,
    apart,
    combined,
    cpu,
    decode,
    gpu,
    plan,
    prefill,
)

LLAMA = "meta-llama/Llama-3.1-8B-Instruct"
GLM = "zai-org/GLM-5.2"
EAGLE3 = SpeculationChoice(method="eagle3", num_speculative_tokens=3)
FIVE = SpeculationChoice(method="eagle3", num_speculative_tokens=5)
OFF = SpeculationChoice(method="off")
GPUS = tuple(gpu(f"gpu-{number}", address=f"10.0.1.{number}") for number in (1, 2, 3))
TWO = combined(LLAMA, "gpu-1", "gpu-2", speculation=EAGLE3)


def counts(made: Plan) -> list[tuple[str, int | None, bool]]:
    """(role, count, canary) of every replica."""
    return [
        (
            one.role.value,
            one.speculation.num_speculative_tokens if one.speculation else None,
            one.canary,
        )
        for one in made.replicas
    ]


def refused(spec: RevisionSpec, *hosts: HostSnapshot) -> str:
    with pytest.raises(PlanningError) as caught:
        plan(spec, *hosts)
    return str(caught.value)


@pytest.mark.parametrize(("canary", "count"), [(FIVE, 5), (OFF, None)])
def test_the_last_replica_tries_it_and_nothing_else_changes(
    canary: SpeculationChoice, count: int | None
) -> None:
    without = plan(TWO, *GPUS)
    made = plan(replace(TWO, canary=canary), *GPUS)
    assert counts(made) == [("combined", 3, False), ("combined", count, True)]
    assert made.canary is made.replicas[1]
    replicas = plan_answer(made)["replicas"]
    assert isinstance(replicas, list)
    assert [one["canary"] for one in replicas if isinstance(one, dict)] == [False, True]
    assert made.replicas[0] == without.replicas[0]
    old, new = without.replicas[1], made.replicas[1]
    assert new.container.command != old.container.command
    assert (new.host, new.devices, new.health_port) == (
        old.host,
        old.devices,
        old.health_port,
    )
    assert new.container.ports == old.container.ports
    assert (made.decision, made.gain) == (without.decision, without.gain)
    assert set(without.findings) <= set(made.findings)
    assert all(
        one in without.findings or one.message.startswith("Canary: ")
        for one in made.findings
    )


def test_it_is_in_the_document_and_without_one_nothing_is() -> None:
    spec = replace(TWO, canary=FIVE)
    made, without = plan(spec, *GPUS), plan(TWO, *GPUS)
    assert plan_from_document(made.document) == made
    assert from_document(RevisionSpec, made.revision) == spec
    assert from_document(RevisionSpec, without.revision) == TWO
    assert "canary" not in str(without.document)
    written = spec_document(spec, GPUS[:2])
    assert parse_deployment_spec(written)[0] == spec


def test_decode_tries_another_count_and_the_router_and_prefill_stay() -> None:
    hosts = [a3(name, f"10.0.0.{number}") for number, name in enumerate("abcde", 1)]
    spec = apart(
        GLM,
        prefill("a"),
        decode("b", "c", "d", "e"),
        speculation=SpeculationChoice(method="mtp", num_speculative_tokens=3),
    )
    without = plan(spec, *hosts)
    tried = SpeculationChoice(method="mtp", num_speculative_tokens=2)
    made = plan(replace(spec, canary=tried), *hosts)
    changed = [
        (new.role, new.rank, new.host)
        for old, new in zip(without.replicas, made.replicas, strict=True)
        if old != new
    ]
    assert changed == [(Role.DECODE, 2, "d"), (Role.DECODE, 3, "e")]
    assert [one[1] for one in counts(made) if one[2]] == [2, 2]
    other = replace(spec, canary=replace(tried, method="ngram"))
    assert "a canary there can only try another num_speculative_tokens" in refused(
        other, *hosts
    )
    unsaid = replace(spec, canary=SpeculationChoice())
    assert "says no num_speculative_tokens" in refused(unsaid, *hosts)


def test_what_cannot_be_tried_is_refused_in_one_sentence() -> None:
    one = combined(LLAMA, "gpu-1", speculation=EAGLE3, canary=FIVE)
    assert "has one that writes replies" in refused(one, *GPUS)
    spanning = RoleSpec(
        role=Role.COMBINED,
        hosts=("gpu-1", "gpu-2"),
        data_parallel_size=2,
        tensor_parallel_size=8,
    )
    together = combined(LLAMA, role=spanning, speculation=EAGLE3, canary=FIVE)
    assert "has one that writes replies" in refused(together, *GPUS)
    assert "just as the other replicas do" in refused(
        replace(TWO, canary=EAGLE3), *GPUS
    )
    nowhere = replace(TWO, canary=SpeculationChoice(method="no_such_method"))
    assert refused(nowhere, *GPUS).startswith("The canary cannot be planned: ")


def test_a_canary_that_would_not_start_cannot_be_submitted() -> None:
    made = plan(replace(TWO, canary=SpeculationChoice(method="mtp")), *GPUS)
    assert not made.can_submit
    assert any(one.message.startswith("Canary: ") for one in made.findings)


def test_the_practice_image_tries_it_too() -> None:
    spec = combined(LLAMA, "a", "b", image=PRACTICE, speculation=EAGLE3, canary=FIVE)
    made = plan(spec, cpu("a"), cpu("b"))
    assert counts(made) == [("combined", 3, False), ("combined", 5, True)]
