"""Carry a pair of benchmarks on, one look at a time: rows say where it stands, no worker remembers.

Each step asks for a benchmark or a release under a key of its own, so that a step that is repeated finds
what the first attempt made. What was switched off is switched back before a pair ends, whatever happened.
"""

import uuid
from collections.abc import Callable

from django.db.models.functions import Now
from django.utils import timezone, translation

from deployments.models import (
    CHANGING_STATES,
    OPEN_BENCHMARKS,
    OPEN_PAIRS,
    BenchmarkJob,
    BenchmarkPair,
    BenchmarkState,
    Deployment,
    PairState,
    Release,
    ReleaseState,
    RequestState,
)
from deployments.planning.bench.course import Course
from deployments.planning.documents import from_document
from deployments.planning.errors import PlanningError
from deployments.planning.text import Text, said_by, text
from deployments.selectors.earlier_releases import changed_hosts
from deployments.selectors.plans import stored_plan
from deployments.services.approvals import check_approval, withdraw
from deployments.services.bench.asking import ask_for_benchmark, cancel_benchmark
from deployments.services.errors import ConflictError, UseCaseError
from deployments.services.freezes import FrozenError
from deployments.services.releases import (
    cancel_release,
    release_again,
    start_release,
)
from deployments.services.schedules import NotYetError

RELATED = (
    "deployment__cluster",
    "deployment__team",
    "other__cluster",
    "other__team",
    "request__plan__revision__deployment__cluster",
    "request__plan__revision__deployment__team",
    "with_it__plan__revision",
    "with_it__request__plan__revision__deployment__cluster",
    "with_it__request__plan__revision__deployment__team",
    "with_it__deployment__cluster",
    "with_it__deployment__team",
    "without_it",
    "restored",
    "first",
    "base",
    "last",
    "asked_by",
)


def open_pairs() -> list[uuid.UUID]:
    """Those that have not ended."""
    rows = BenchmarkPair.objects.filter(state__in=OPEN_PAIRS)
    return list(rows.values_list("pk", flat=True))


def carry_pair_on(pair_id: uuid.UUID) -> None:
    """Bring a pair one step on, if it may be; safe to repeat and to run twice at once."""
    pair = (
        BenchmarkPair.objects.filter(pk=pair_id, state__in=OPEN_PAIRS)
        .select_related(*RELATED)
        .first()
    )
    if pair is None:
        return
    with translation.override("en"):
        try:
            STEPS[PairState(pair.state)](pair)
        except (UseCaseError, PlanningError) as error:
            _go_back(pair, said_by(error))


def _approval(pair: BenchmarkPair) -> None:
    request = pair.request
    if request is None or pair.cancel_asked_at is not None:
        _end(pair, PairState.CANCELLED)
        return
    if request.state == RequestState.OPEN:
        return
    if request.state != RequestState.APPROVED:
        _end(pair, PairState.FAILED, _not_approved(request.get_state_display()))
        return
    _prove_way_back(pair)
    _measure(pair, "first", pair.deployment, PairState.FIRST)


def _not_approved(state: str) -> Text:
    return text(
        "The request for the run without speculation is “{state}”, so nothing was switched.",
        state=Text(state),
    )


def _first(pair: BenchmarkPair) -> None:
    if pair.first is None:
        _measure(pair, "first", pair.deployment, PairState.FIRST)
        return
    if not _measured(pair, pair.first):
        return
    if pair.other is not None:
        _measure(pair, "base", pair.other, PairState.BASE)
        return
    if pair.request is None:
        return
    _prove_way_back(pair)
    try:
        release = start_release(pair.asked_by, pair.request, f"pair-off-{pair.pk.hex}")
    except (FrozenError, NotYetError) as error:
        _move(pair, hold=said_by(error))
        return
    _move(pair, PairState.SWITCHING_OFF, without_it=release, hold="")


def _switching_off(pair: BenchmarkPair) -> None:
    release = pair.without_it
    if release is None:
        return
    if release.state == ReleaseState.LIVE:
        if pair.cancel_asked_at is not None:
            _go_back(pair)
        else:
            _measure(pair, "base", pair.deployment, PairState.BASE)
    elif release.state in CHANGING_STATES:
        _cancel(pair, lambda: cancel_release(pair.asked_by, release))
    else:
        _go_back(pair, None if pair.cancel_asked_at else _not_live(release))


def _base(pair: BenchmarkPair) -> None:
    if pair.base is None or not _measured(pair, pair.base):
        return
    if pair.in_turn:
        _go_back(pair)
    else:
        _measure(pair, "last", pair.deployment, PairState.LAST)


def _switching_back(pair: BenchmarkPair) -> None:
    release = pair.restored
    if release is None or release.state in CHANGING_STATES:
        return
    if release.state != ReleaseState.LIVE:
        _end(pair, PairState.FAILED, pair.cause or _not_live(release))
    elif pair.cancel_asked_at is not None:
        _end(pair, PairState.CANCELLED)
    elif pair.cause:
        _end(pair, PairState.FAILED, pair.cause)
    else:
        _measure(pair, "last", pair.deployment, PairState.LAST)


def _last(pair: BenchmarkPair) -> None:
    if pair.last is not None and _measured(pair, pair.last):
        _end(pair, PairState.DONE)


def _not_live(release: Release) -> Text:
    return text(
        "Release {number} is “{state}” and not live: {cause}",
        number=release.number,
        state=Text(release.get_state_display()),
        cause=release.cause or text("its page says more."),
    )


def _measured(pair: BenchmarkPair, job: BenchmarkJob) -> bool:
    """Whether a benchmark is done; one that ended otherwise ends the pair."""
    if job.state == BenchmarkState.DONE:
        if pair.cancel_asked_at is None:
            return True
        _go_back(pair)
    elif job.state in OPEN_BENCHMARKS:
        _cancel(pair, lambda: cancel_benchmark(pair.asked_by, job))
    elif job.state == BenchmarkState.CANCELLED:
        _go_back(pair, None if pair.cancel_asked_at else _cancelled())
    else:
        _go_back(pair, job.cause)
    return False


def _cancelled() -> Text:
    return text("Somebody cancelled one of its benchmarks.")


def _cancel(pair: BenchmarkPair, act: Callable[[], object]) -> None:
    if pair.cancel_asked_at is None:
        return
    try:
        act()
    except ConflictError:
        return  # It ends just now; the next look sees how.


def _measure(
    pair: BenchmarkPair, name: str, deployment: Deployment, state: PairState
) -> None:
    """Ask for a benchmark of what is live there, which must be what this pair put there."""
    expected = {
        "base": pair.without_it if pair.in_turn else None,
        "last": pair.restored or pair.with_it,
    }.get(name, pair.with_it)
    live = deployment.releases.filter(state=ReleaseState.LIVE).first()
    if expected is not None and live != expected:
        raise ConflictError(
            text(
                "{name} was changed by somebody else while it was measured.",
                name=deployment.name,
            )
        )
    job = ask_for_benchmark(
        pair.asked_by,
        deployment,
        from_document(Course, pair.course),
        prompts=pair.prompts,
        key=f"pair-{name}-{pair.pk.hex}",
    )
    _move(pair, state, **{name: job}, hold="")


def _prove_way_back(pair: BenchmarkPair) -> None:
    """Nothing is switched off that could not be switched on again."""
    earlier = pair.with_it
    check_approval(earlier.request)
    if pair.request is not None:
        check_approval(pair.request)
    changed = changed_hosts(stored_plan(earlier.plan), pair.deployment.cluster)
    if changed:
        raise ConflictError(
            text(
                "{host} changed since what runs was planned, so it could not be brought back: plan it again first.",
                host=changed[0],
            )
        )


def _go_back(pair: BenchmarkPair, cause: Text | None = None) -> None:
    """Bring back what was switched off, then end; ``cause`` says why before its time."""
    if pair.state == PairState.SWITCHING_BACK or not _is_off(pair):
        _end_at_once(pair, cause)
        return
    try:
        release = release_again(pair.asked_by, pair.with_it, f"pair-back-{pair.pk.hex}")
    except (UseCaseError, PlanningError) as error:
        if isinstance(error, ConflictError) and _is_changing(pair):
            return
        said = text(
            "Speculation could not be turned on again: {why} Restore release {number} from its page.",
            why=said_by(error),
            number=pair.with_it.number,
        )
        _end(pair, PairState.FAILED, said)
        return
    _move(pair, PairState.SWITCHING_BACK, restored=release, cause=cause or "", hold="")


def _end_at_once(pair: BenchmarkPair, cause: Text | None) -> None:
    if pair.cancel_asked_at is not None:
        _end(pair, PairState.CANCELLED)
    else:
        _end(pair, PairState.FAILED, cause or _cancelled())


def _is_off(pair: BenchmarkPair) -> bool:
    """Whether this pair's run without speculation took the place of the other, and still has it."""
    if pair.without_it is None:
        return False
    live = pair.deployment.releases.filter(state=ReleaseState.LIVE).first()
    return live is None or live == pair.without_it


def _is_changing(pair: BenchmarkPair) -> bool:
    return pair.deployment.releases.filter(state__in=CHANGING_STATES).exists()


def _move(pair: BenchmarkPair, state: PairState | None = None, **told: object) -> None:
    """Store what a step made, unless another worker has gone on meanwhile."""
    BenchmarkPair.objects.filter(pk=pair.pk, state=pair.state).update(
        state=state or pair.state, **told
    )


def _end(pair: BenchmarkPair, state: PairState, cause: Text | str = "") -> None:
    request = pair.request
    if request is not None and request.state in {
        RequestState.OPEN,
        RequestState.APPROVED,
    }:
        _withdraw(pair)
    BenchmarkPair.objects.filter(pk=pair.pk, state=pair.state).update(
        state=state,
        cause=cause if state == PairState.FAILED else "",
        hold="",
        ended_at=Now(),
    )


def _withdraw(pair: BenchmarkPair) -> None:
    if pair.request is None or pair.request.expires_at <= timezone.now():
        return
    try:
        withdraw(pair.asked_by, pair.request)
    except UseCaseError:
        return  # Decided or expired just now; it starts nothing once the pair has ended.


STEPS: dict[PairState, Callable[[BenchmarkPair], None]] = {
    PairState.APPROVAL: _approval,
    PairState.FIRST: _first,
    PairState.SWITCHING_OFF: _switching_off,
    PairState.BASE: _base,
    PairState.SWITCHING_BACK: _switching_back,
    PairState.LAST: _last,
}
