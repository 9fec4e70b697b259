"""The two arms of a pair: the same revision without speculation, and whether two plans differ in more."""

from dataclasses import replace

from deployments.planning.decision import OFF
from deployments.planning.engines.arguments import PROGRAM, flag_values
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Plan, PlannedReplica, Role
from deployments.planning.revision import RevisionSpec, SpeculationChoice
from deployments.planning.text import Text, text

SPECULATION_FLAGS = frozenset(
    {"--speculative-config", "--spec-decode-acceptance-method"}
)
"""What turns speculation on and shapes it (vLLM 0.6.4 to 0.33.0; earlier ones have flags that begin alike)."""
OLD_FLAGS = ("--speculative-", "--spec-", "--num-speculative-tokens", "--ngram-")
"""Until vLLM 0.8.5 each setting was a flag of its own."""
OF_THE_PLACE = frozenset(
    {"--port", "--host", "--data-parallel-address", "--data-parallel-rpc-port"}
)
"""What says where an arm answers, and nothing of how fast."""


LIMIT_FLAGS = {
    "max_model_len": "--max-model-len",
    "max_num_seqs": "--max-num-seqs",
    "max_num_batched_tokens": "--max-num-batched-tokens",
}


def without_speculation(spec: RevisionSpec) -> RevisionSpec:
    """The same revision with speculation off, in every role and without a canary.

    Raises:
        PlanningError: it is off already.
    """
    if spec.speculation.method == OFF:
        raise PlanningError(
            text(
                "Speculation is off here already: measure the deployment that has it on."
            )
        )
    return replace(
        spec,
        canary=None,
        speculation=SpeculationChoice(method=OFF),
        roles=tuple(replace(role, num_speculative_tokens=None) for role in spec.roles),
    )


def with_limits_of(spec: RevisionSpec, on: Plan) -> RevisionSpec:
    """The same revision with the limits that the planner chose for ``on``, where nobody had set them.

    Without a drafter there is room for more, and the planner would take it. A limit is taken over where
    all engines of the plan share it.
    """
    flags = [_flags(one) for one in _engines(on)]
    found: dict[str, int] = {}
    for field, flag in LIMIT_FLAGS.items():
        values = {one.get(flag) or "" for one in flags}
        value = values.pop() if len(values) == 1 else ""
        if getattr(spec.limits, field) is None and value.isdecimal():
            found[field] = int(value)
    return replace(spec, limits=replace(spec.limits, **found))


def arm_differences(on: Plan, off: Plan) -> tuple[Text, ...]:
    """Every reason why the two are no pair, a sentence each; none where they differ in speculation alone.

    Compared are the engines of both plans in their order: image, command, environment, kinds and
    numbers of what they get. Addresses, ports, names and the drafter's mount may differ.
    """
    first, second = _engines(on), _engines(off)
    if on.model != off.model:
        return (_said(text("model"), on.model, off.model),)
    if on.checkpoint != off.checkpoint:
        return (_said(text("checkpoint"), on.checkpoint, off.checkpoint),)
    shape = [[one.role.value for one in arm] for arm in (first, second)]
    if shape[0] != shape[1]:
        return (_said(text("replicas"), ", ".join(shape[0]), ", ".join(shape[1])),)
    found: dict[Text, None] = {}
    for before, after in zip(first, second, strict=True):
        found |= dict.fromkeys(_between(before, after))
    return tuple(found)


def _engines(plan: Plan) -> list[PlannedReplica]:
    return [one for one in plan.replicas if one.role is not Role.ROUTER]


def _between(on: PlannedReplica, off: PlannedReplica) -> list[Text]:
    one, other = on.container, off.container
    pairs: list[tuple[Text, object, object]] = [
        (text("image"), one.image.reference, other.image.reference),
        (text("number of devices"), len(on.devices), len(off.devices)),
        (text("shared memory"), one.shm_size_bytes, other.shm_size_bytes),
        (text("network"), one.network_mode.value, other.network_mode.value),
    ]
    pairs += _by_name(_flags(on), _flags(off))
    pairs += _by_name(dict(one.environment), dict(other.environment))
    return [
        _said(what, before, after) for what, before, after in pairs if before != after
    ]


def _flags(replica: PlannedReplica) -> dict[str, str]:
    command = replica.container.command
    if command[: len(PROGRAM)] != PROGRAM:
        return {"command": " ".join(command)}
    return {
        flag: value or ""
        for flag, value in flag_values(command).items()
        if flag not in SPECULATION_FLAGS
        and not flag.startswith(OLD_FLAGS)
        and flag not in OF_THE_PLACE
    }


def _by_name(
    before: dict[str, str], after: dict[str, str]
) -> list[tuple[Text, object, object]]:
    return [
        (Text(name), before.get(name), after.get(name))
        for name in sorted(before.keys() | after.keys())
    ]


def _said(what: Text, before: object, after: object) -> Text:
    return text(
        "The arms differ in more than speculation: {what} is {before} with it and {after} without.",
        what=what,
        before=_value(before),
        after=_value(after),
    )


def _value(value: object) -> Text | str:
    return text("not set") if value is None or value == "" else str(value)
