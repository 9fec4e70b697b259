"""The acceptance history of a deployment: the page, its chart's numbers, and a file of them."""

import csv
import hashlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from deployments.forms.history import wanted_history
from deployments.models import Alarm
from deployments.selectors.acceptance import Against, History, history
from deployments.selectors.acceptance_events import Unread, unread_replicas
from deployments.selectors.acceptance_range import DEFAULT, LENGTHS_S, OWN
from deployments.selectors.advice_words import sentence
from deployments.selectors.alarms import alarms_of
from deployments.selectors.deployments import DeploymentPage, deployment_page
from deployments.selectors.standings import heard_at, stale_edge
from deployments.telemetry.advice import Advice
from deployments.templatetags.figures import duration
from deployments.views.acceptance_numbers import file_rows, numbers
from deployments.views.deployments import find, head, wizard_address
from deployments.views.grafana import grafana_link
from deployments.views.people import PanelRequest, person


@require_safe
@vary_on_headers("HX-Request")
def acceptance(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """What was accepted over the range, as sentence, chart, bars and table.

    An htmx request gets what renews itself, or 204 where nothing differs from the stamp that the page has.
    """
    page, seen = _read(request, pk)
    alarms = alarms_of(page.row, seen.range.start, seen.range.end)
    marked = _marked(alarms, seen)
    # Of a range that ended before, everything is known.
    silent = bool(page.silent_since and page.silent_since < seen.range.end)
    fresh = _freshness(page, seen, silent=silent, slides=_slides(request, seen))
    stamp = _stamp(page, seen, marked, fresh)
    if request.htmx and request.GET.get("v") == stamp:
        return HttpResponse(status=204)
    context = {
        **head(page, "acceptance", alarms),
        "history": seen,
        "marked": marked,
        "silent": silent,
        "fresh": fresh,
        "stamp": stamp,
        "choices": _choices(page, seen, slides=fresh.slides),
        "sentences": _sentences(seen.advice)
        if page.live
        else [_("Nothing runs now, so nothing is judged.")],
        "prepare": wizard_address(page, seen.advice.suggested_num_speculative_tokens)
        if seen.advice.suggested_num_speculative_tokens
        else "",
        "compared": _compared(seen, seen.against) if seen.against else (),
    }
    name = "deployments/acceptance.html" + ("#live" if request.htmx else "")
    return render(request, name, context)


@require_safe
def acceptance_data(request: HttpRequest, pk: uuid.UUID) -> JsonResponse:
    """The numbers of the page as JSON; times are seconds since 1970, unknown is null."""
    page, seen = _read(request, pk)
    alarms = alarms_of(page.row, seen.range.start, seen.range.end)
    return JsonResponse(numbers(seen, _marked(alarms, seen)))


@require_safe
def acceptance_file(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """The steps of the page as comma-separated values; unknown is empty."""
    page, seen = _read(request, pk)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    start = timezone.localtime(seen.range.start).strftime("%Y%m%d-%H%M")
    name = f"{page.row.name}-acceptance-{start}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    csv.writer(response).writerows(file_rows(seen))
    return response


def _read(request: HttpRequest, pk: uuid.UUID) -> tuple[DeploymentPage, History]:
    page = deployment_page(person(request), find(request, pk))
    return page, history(page.row, page.live, wanted_history(request.GET.dict()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """How old the figures are: ``slides`` with the time, or ends; ``unread`` replicas lack in them."""

    heard_at: datetime | None
    slides: bool
    renews: bool
    unread: tuple[Unread, ...]


def _slides(request: HttpRequest, seen: History) -> bool:
    """Whether the range ends now, whenever that is, and not at a time that the address names."""
    return seen.range.key != OWN and not request.GET.get("until")


def _freshness(
    page: DeploymentPage, seen: History, *, silent: bool, slides: bool
) -> Freshness:
    live = page.live
    unread: tuple[Unread, ...] = ()
    if live and slides and page.speculates and not silent:
        unread = unread_replicas(live, page.replicas, seen.read, stale_edge())
    return Freshness(
        heard_at=heard_at(page.row, live),
        slides=slides,
        renews=slides and bool(live or page.moving),
        unread=unread,
    )


def _stamp(
    page: DeploymentPage, seen: History, marked: Sequence[Alarm], fresh: Freshness
) -> str:
    """Everything that can change under a page that is open."""
    facts = (
        seen.range,
        seen.totals,
        seen.judged,
        [(step.counts, step.state) for step in seen.steps],
        seen.log_gaps,
        [(row.pk, row.closed_at) for row in marked],
        page.live and page.live.pk,
        page.silent_since,
        fresh.heard_at,
        [one.name for one in fresh.unread],
    )
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]


def _sentences(advice: Advice) -> list[str]:
    """What the advice says; the arithmetic in words only where no table has it."""
    return [
        sentence(statement)
        for statement in advice.statements
        if not (advice.gains and statement.code == "marginal_gain")
    ]


def _marked(alarms: Sequence[Alarm], seen: History) -> list[Alarm]:
    """Those that began before the range ended; another may have opened since."""
    return [row for row in alarms if row.began_at < seen.range.end]


def _choices(page: DeploymentPage, seen: History, *, slides: bool) -> dict[str, Any]:
    """Every choice of the page as an address, so that each can be a link and be shared.

    A range that slides goes on sliding; the numbers of the chart and the file are those of the page.
    """
    address = reverse("deployment-acceptance", args=[page.row.pk])
    here = _query(seen)
    kept = {k: v for k, v in here.items() if k != "until"} if slides else here
    fixed = {
        **{key: value for key, value in here.items() if key in {"only", "against"}},
        **{key: value for key, value in here.items() if key.startswith("against_")},
    }

    def link(**changes: str) -> str:
        query = {**kept, **changes}
        return f"{address}?{urlencode({k: v for k, v in query.items() if v})}"

    ranges = [
        (
            duration(length_s),
            f"{address}?{urlencode({**fixed, 'range': key})}",
            key == seen.range.key,
        )
        for key, length_s in LENGTHS_S.items()
    ]
    replicas = [
        *((role, link(only=role)) for role in seen.roles),
        *((line.name, link(only=line.name)) for line in seen.replicas),
    ]
    against = seen.against.key if seen.against else ""
    comparisons = [
        ("before", _("the range before"), link(against="before")),
        ("week", _("a week earlier"), link(against="week")),
        *(
            (
                str(row.number),
                _("release %(number)s (r%(revision)s)")
                % {"number": row.number, "revision": row.plan.revision.number},
                link(against=str(row.number)),
            )
            for row in seen.earlier
        ),
    ]
    files = address.removesuffix("/")
    newest = DEFAULT if seen.range.key == OWN else seen.range.key
    return {
        "ranges": ranges,
        "whole": link(only=""),
        "replicas": [(name, url, name == seen.only) for name, url in replicas]
        if len(replicas) > 2
        else [],
        "comparisons": [(key, *rest, key == against) for key, *rest in comparisons],
        "live": link(),
        "newest": f"{address}?{urlencode({**fixed, 'range': newest})}",
        "alone": link(against="", against_from="", against_to=""),
        "kept": fixed.items(),
        "kept_beside": [
            (key, value) for key, value in kept.items() if not key.startswith("against")
        ],
        "own": seen.range.key == OWN,
        "data": f"{files}.json?{urlencode(here)}",
        "file": f"{files}.csv?{urlencode(here)}",
        "zoom": f"{address}?{urlencode({**fixed, 'range': OWN})}",
        "grafana": grafana_link(page.row, seen.range),
    }


def _query(seen: History) -> dict[str, str]:
    """The state of the page, with times that stay."""
    one = seen.range
    times = (
        {"range": OWN, "from": str(one.start_s), "to": str(one.end_s)}
        if one.key == OWN
        else {"range": one.key, "until": str(one.end_s)}
    )
    query = {**times, "only": seen.only}
    if seen.against:
        other = seen.against.range
        query["against"] = seen.against.key
        if seen.against.key == "own":
            query["against_from"] = str(other.start_s)
            query["against_to"] = str(other.end_s)
    return {key: value for key, value in query.items() if value}


def _compared(seen: History, other: Against) -> tuple[Mapping[str, Any], ...]:
    """Both ranges figure by figure."""
    here, there = seen.totals, other.totals
    lines = [
        (
            "figure",
            _("Mean acceptance length"),
            here.mean_acceptance_length,
            there.mean_acceptance_length,
        ),
        ("percent", _("Acceptance rate"), here.acceptance_rate, there.acceptance_rate),
    ]
    mine, theirs = here.per_position_rates or (), there.per_position_rates or ()
    for place in range(max(len(mine), len(theirs))):
        name = _("Position %(number)s") % {"number": place + 1}
        one = mine[place] if place < len(mine) else None
        two = theirs[place] if place < len(theirs) else None
        lines.append(("percent", name, one, two))
    lines += [
        ("count", _("Drafts"), here.num_drafts, there.num_drafts),
        ("count", _("Drafted"), here.drafted, there.drafted),
        ("count", _("Accepted"), here.accepted, there.accepted),
    ]
    return tuple(
        {
            "kind": kind,
            "name": name,
            "here": one,
            "there": two,
            "change": one / two - 1 if one is not None and two else None,
        }
        for kind, name, one, two in lines
    )
