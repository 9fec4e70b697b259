"""What speculation is expected to bring, in numbers that pages show."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from deployments.planning.catalog import Drafter
from deployments.planning.catalog import TargetModel as CatalogEntry
from deployments.planning.documents import from_document
from deployments.planning.engines.arguments import flag_values
from deployments.planning.expectation import (
    Situation,
    expected_benefits,
    expected_gain,
)
from deployments.planning.measured import Measured
from deployments.planning.methods import Method
from deployments.planning.plan import Gain, Plan, Role
from deployments.planning.revision import RevisionSpec
from deployments.planning.snapshot import HostSnapshot
from deployments.planning.text import Text
from deployments.selectors.speed_curves import CountLine, count_lines
from deployments.selectors.texts import say

THOUSAND = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class GainFigures:
    """Tokens per step and speed-up at the workload's concurrency; ``None`` is no data."""

    count: int
    tokens_per_step: float
    concurrency: int
    speedup: float | None
    low: float | None
    high: float | None
    best_count: int | None
    kind: str
    sentence: str
    source: str
    warnings: tuple[str, ...]
    curve: tuple[tuple[int, float | None], ...]


def gain_figures(gain: Gain | None) -> GainFigures | None:
    """The figures of one prediction."""
    if gain is None:
        return None
    point = gain.at(gain.concurrency)
    return GainFigures(
        count=gain.num_speculative_tokens,
        tokens_per_step=gain.tokens_per_step / THOUSAND,
        concurrency=gain.concurrency,
        speedup=_ratio(point.speedup) if point else None,
        low=_ratio(point.low) if point else None,
        high=_ratio(point.high) if point else None,
        best_count=point.best_num_speculative_tokens if point else None,
        kind=kind_word(gain.kind),
        sentence=paying_sentence(
            gain.sentence,
            reach=gain.measured_up_to,
            until=gain.break_even,
            known=any(one.speedup is not None for one in gain.points),
        ),
        source=say(gain.source),
        warnings=tuple(say(one) for one in gain.warnings),
        curve=tuple((one.concurrency, _ratio(one.speedup)) for one in gain.points),
    )


def situation_of(
    plan: Plan,
    entry: CatalogEntry,
    hosts: Sequence[HostSnapshot],
    measured: Sequence[Measured] = (),
) -> Situation | None:
    """Where a plan's replies are written; ``None`` for practice and for hosts that are not known.

    ``measured`` is what was seen on the deployment itself.
    """
    writing = next(
        (one for one in reversed(plan.replicas) if one.role is not Role.ROUTER), None
    )
    if writing is None or plan.practice or not plan.memory:
        return None
    host = next((one for one in hosts if one.name == writing.host), None)
    if host is None:
        return None
    memory = plan.memory[-1]
    workload = from_document(RevisionSpec, plan.revision).workload
    checkpoint = entry.checkpoint(plan.checkpoint)
    heads = {
        one.container.name
        for one in plan.replicas
        if one.role is writing.role and one.health_port is not None
    }
    return Situation(
        model=entry,
        host=host,
        quantisation=checkpoint.quantisation,
        role=writing.role,
        tensor_parallel_size=memory.tensor_parallel_size,
        data_parallel_size=memory.data_parallel_size,
        workload=workload,
        concurrency=-(-workload.concurrency // max(1, len(heads))),
        instances=max(1, len(heads)),
        measured=tuple(measured),
    )


def method_gain(
    situation: Situation | None,
    method: Method,
    count: int | None,
    drafter: Drafter | None,
) -> GainFigures | None:
    """The figures of a method in that place, ``None`` where nothing can be said."""
    if situation is None or not count:
        return None
    return gain_figures(expected_gain(situation, method, count, drafter))


def planned_counts(
    plan: Plan,
    entry: CatalogEntry,
    hosts: Sequence[HostSnapshot],
    measured: Sequence[Measured] = (),
) -> tuple[CountLine, ...]:
    """What each count of the planned method brings; nothing where nothing is predicted."""
    place, gain = situation_of(plan, entry, hosts, measured), plan.gain
    if place is None or gain is None:
        return ()
    drafter = entry.drafter(plan.decision.drafter) if plan.decision.drafter else None
    count = gain.num_speculative_tokens
    found = expected_benefits(
        place, Method(gain.method), count, drafter, draft_eager=_drafts_eagerly(plan)
    )
    return count_lines(found, count)


def _drafts_eagerly(plan: Plan) -> bool:
    """Whether the drafter of the role that writes replies runs without captured graphs."""
    writing = [one for one in plan.replicas if one.role is not Role.ROUTER]
    flags = flag_values(writing[-1].container.command) if writing else {}
    config = json.loads(flags.get("--speculative-config") or "{}")
    return config.get("enforce_eager") is True


def paying_sentence(said: Text, *, reach: int, until: int | None, known: bool) -> str:
    """Up to where it pays; where measurements end before the computed end, in two sentences."""
    if not known or not reach or (until is not None and until <= reach):
        return say(said)
    if until is None:
        return _(
            "Pays with up to %(reach)s requests at once, as far as anyone has measured. Beyond that the estimate sees no end to the gain, which nobody has checked: measure first."
        ) % {"reach": reach}
    return _(
        "Pays with up to %(reach)s requests at once, as far as anyone has measured. The estimate puts the end of the gain near %(until)s, which nobody has checked: measure first above %(reach)s."
    ) % {"reach": reach, "until": until}


def _ratio(thousandths: int | None) -> float | None:
    return None if thousandths is None else thousandths / THOUSAND


def kind_word(kind: str) -> str:
    """Who says so, in one word."""
    words = {
        "measured": _("measured"),
        "published": _("published"),
        "assumed": _("assumed"),
    }
    return words.get(kind, kind)
