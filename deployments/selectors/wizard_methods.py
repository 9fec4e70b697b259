"""Methods as the wizard shows them: a card each, and two of them side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from deployments.planning.catalog import Drafter
from deployments.planning.catalog import TargetModel as CatalogEntry
from deployments.planning.decision import OFF
from deployments.planning.engines.definition import ENGINES
from deployments.planning.engines.lives import method_lives
from deployments.planning.errors import PlanningError
from deployments.planning.expectation import Situation
from deployments.planning.measured import Measured
from deployments.planning.methods import FACTS, Method, MethodFacts, Need
from deployments.planning.plan import Decision, MethodVerdict, Plan, Role
from deployments.planning.snapshot import HostSnapshot
from deployments.selectors.canaries import TIMES, tried
from deployments.selectors.gains import (
    GainFigures,
    gain_figures,
    method_gain,
    situation_of,
)
from deployments.selectors.texts import listed, role_name, say

DEFAULT_PAIR = (Method.MTP.value, Method.EAGLE3.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodCard:
    """One method. ``weights_bytes`` are what must be loaded besides the checkpoint, ``None`` unknown."""

    method: str
    title: str
    open: bool
    chosen: bool
    best: bool
    count: int | None
    because: str
    evidence: str
    needs: str
    needs_weights: bool
    weights_bytes: int | None
    gain: GainFigures | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Methods side by side: ``rows`` are (what, one value a method, why it matters)."""

    titles: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def method_cards(  # noqa: PLR0913 - two plans, and what they were made from
    plan: Plan,
    undecided: Plan,
    entry: CatalogEntry,
    asked: str,
    hosts: Sequence[HostSnapshot] = (),
    *,
    measured: Sequence[Measured] = (),
) -> list[MethodCard]:
    """The answer of the path first, the other open ones and off by their speed, closed ones last.

    ``undecided`` is the plan that the decision tree makes by itself; ``asked`` is what the person
    chose, ``auto`` for the tree's own answer. Without ``hosts`` nothing is predicted; ``measured``
    on the deployment itself corrects what is.
    """
    place = situation_of(undecided, entry, hosts, measured)
    cards = [
        replace(
            _card(one, plan, undecided, entry, asked),
            gain=_gain(one, entry, place, (plan, undecided)),
        )
        for one in undecided.decision.methods
    ]
    opened = [card for card in cards if card.open]
    closed = [card for card in cards if not card.open]
    off = _off_card(undecided, asked)
    return [*_by_speed([*opened, off]), *closed]


def _by_speed(cards: Sequence[MethodCard]) -> list[MethodCard]:
    """The best of the tree first, then the fastest; the order stays where nothing is predicted."""
    predicted = any(card.gain for card in cards)

    def rank(card: MethodCard) -> tuple[bool, bool, float]:
        speed = card.gain.speedup if card.gain else None
        if card.method == OFF and predicted:
            speed = 1.0
        return (not card.best, speed is None, -(speed or 0.0))

    return sorted(cards, key=rank)


def pinned_methods(pins: Sequence[str]) -> tuple[str, ...]:
    """The two methods to put side by side: those asked for, filled up with MTP and EAGLE-3."""
    chosen = dict.fromkeys((*pins, *DEFAULT_PAIR))
    return tuple(chosen)[: len(DEFAULT_PAIR)]


def compare(
    cards: Sequence[MethodCard], entry: CatalogEntry, pins: Sequence[str]
) -> Comparison:
    """The facts of the pinned methods; an empty text is "no data"."""
    by_method = {card.method: card for card in cards}
    chosen = [by_method[pin] for pin in pins if pin in by_method]
    readers = (
        (_("Here"), _state),
        (_("Why"), lambda card: card.because),
        (_("Drafter"), lambda card: _drafter_text(card, entry)),
        (_("Must be mounted"), lambda card: card.needs),
        (_("Tokens drafted per step"), lambda card: str(card.count or "")),
        (_("Evidence for the count"), _evidence),
        (_("Engine, first version"), _since),
        (_("Asynchronous scheduling"), _scheduling),
        (_("Expected tokens per step"), _tokens_per_step),
        (_("Speed-up"), _speedup),
    )
    return Comparison(
        titles=tuple(card.title for card in chosen),
        rows=tuple(
            (name, tuple(read(card) for card in chosen)) for name, read in readers
        ),
    )


def speculation_text(plan: Plan) -> str:
    """Method and count of a plan in short, by role where they differ, and what its canary tries."""
    canary = tried(plan)
    if canary:
        words = {"method": _of_most(plan), "canary": canary}
        return _("%(method)s; canary: %(canary)s") % words
    return _of_most(plan)


def _of_most(plan: Plan) -> str:
    method = plan.decision.method
    if method == OFF:
        return _("Off")
    counts = {
        replica.role: replica.speculation.num_speculative_tokens
        if replica.speculation
        else 0
        for replica in plan.replicas
        if replica.role is not Role.ROUTER and not replica.canary
    }
    title = title_of(method)
    if len(set(counts.values())) <= 1:
        return f"{title} {TIMES}{next(iter(counts.values()), 0)}"
    parts = [
        f"{role_name(role.value)} {TIMES}{count}" for role, count in counts.items()
    ]
    return _("%(method)s: %(counts)s") % {"method": title, "counts": listed(parts)}


def title_of(method: str) -> str:
    """The name people know."""
    return _("Off") if method == OFF else say(FACTS[Method(method)].title)


def answer_of(decision: Decision) -> str:
    """The answer of the decision tree in short."""
    if decision.num_speculative_tokens is None:
        return title_of(decision.method)
    return f"{title_of(decision.method)} {TIMES}{decision.num_speculative_tokens}"


def _card(
    verdict: MethodVerdict,
    plan: Plan,
    undecided: Plan,
    entry: CatalogEntry,
    asked: str,
) -> MethodCard:
    facts = FACTS[Method(verdict.method)]
    drafter = _drafter_of(verdict, entry)
    chosen = asked != "auto" and verdict.method == plan.decision.method
    return MethodCard(
        method=verdict.method,
        title=say(facts.title),
        open=verdict.open,
        chosen=chosen,
        best=verdict.method == undecided.decision.method,
        count=verdict.num_speculative_tokens if verdict.open else None,
        because=say(verdict.because),
        evidence=verdict.evidence if verdict.open else "",
        needs=_needs(facts, drafter, entry),
        needs_weights=facts.need is Need.DRAFTER,
        weights_bytes=drafter.size_bytes if drafter else None,
    )


def _gain(
    verdict: MethodVerdict,
    entry: CatalogEntry,
    place: Situation | None,
    plans: Sequence[Plan],
) -> GainFigures | None:
    """What a plan predicts where there is one of this method and count, else the same reckoning."""
    if not verdict.open or place is None:
        return None
    for plan in plans:
        gain, count = plan.gain, verdict.num_speculative_tokens
        if gain and (gain.method, gain.num_speculative_tokens) == (
            verdict.method,
            count,
        ):
            return gain_figures(gain)
    drafter = _drafter_of(verdict, entry)
    method = Method(verdict.method)
    return method_gain(place, method, verdict.num_speculative_tokens, drafter)


def _off_card(undecided: Plan, asked: str) -> MethodCard:
    return MethodCard(
        method=OFF,
        title=_("Off"),
        open=True,
        chosen=asked == OFF,
        best=undecided.decision.method == OFF,
        count=None,
        because=_(
            "Every token comes from the target model: the baseline that any gain is measured against."
        ),
        evidence="",
        needs=_("Nothing."),
        needs_weights=False,
        weights_bytes=None,
    )


def _drafter_of(verdict: MethodVerdict, entry: CatalogEntry) -> Drafter | None:
    if verdict.drafter is None:
        return None
    try:
        return entry.drafter(verdict.drafter)
    except PlanningError:
        return None


def _needs(facts: MethodFacts, drafter: Drafter | None, entry: CatalogEntry) -> str:
    if facts.need is Need.MTP_WEIGHTS:
        if entry.has_mtp is False:
            return _("MTP layers, which this model does not have.")
        return _("Nothing: the layers are inside the checkpoint.")
    if facts.need is Need.PACKAGE:
        return _("Nothing, but the image must hold the package %(package)s.") % {
            "package": facts.package
        }
    if facts.need is Need.NOTHING:
        return _("Nothing.")
    return _needs_drafter(drafter)


def _needs_drafter(drafter: Drafter | None) -> str:
    if drafter is None:
        return _("A trained drafter, which the catalog does not have here.")
    if drafter.inside_checkpoint:
        return _("Nothing: the drafter is inside the checkpoint.")
    return _("%(directory)s on every host of every role that drafts.") % {
        "directory": drafter.directory
    }


def _state(card: MethodCard) -> str:
    if not card.open:
        return _("closed")
    return _("the decision tree's answer") if card.best else _("open")


def _drafter_text(card: MethodCard, entry: CatalogEntry) -> str:
    if card.method == Method.MTP.value:
        return _("none") if entry.has_mtp is False else _("inside the checkpoint")
    names = [
        one.repository for one in entry.drafters if one.method.value == card.method
    ]
    if names:
        return listed(names)
    return _("none in the catalog") if card.needs_weights else _("none needed")


def _evidence(card: MethodCard) -> str:
    words = {"published": _("published"), "assumed": _("assumed")}
    return words.get(card.evidence, "")


def _since(card: MethodCard) -> str:
    if card.method == OFF:
        return ""
    method = Method(card.method)
    parts = []
    for engine in ENGINES:
        lives = method_lives(engine, method)
        spans = [
            _("%(first)s to %(last)s") % {"first": one.first, "last": one.last}
            if one.last
            else one.first
            for one in lives
        ]
        parts.append(f"{engine} {', '.join(spans) or _('never')}")
    return f"{'; '.join(parts)} ({FACTS[method].source})"


def _tokens_per_step(card: MethodCard) -> str:
    if card.method == OFF:
        return "1"
    if card.gain is None:
        return ""
    return _with_kind(f"{card.gain.tokens_per_step:.2f}", card.gain.kind)


def _speedup(card: MethodCard) -> str:
    if card.method == OFF:
        return f"1{TIMES}"
    if card.gain is None or card.gain.speedup is None:
        return ""
    return _with_kind(f"{card.gain.speedup:.2f}{TIMES}", card.gain.kind)


def _with_kind(value: str, kind: str) -> str:
    return _("%(value)s (%(kind)s)") % {"value": value, "kind": kind}


def _scheduling(card: MethodCard) -> str:
    if card.method == OFF or FACTS[Method(card.method)].async_scheduling:
        return _("stays on")
    return _("is turned off")
