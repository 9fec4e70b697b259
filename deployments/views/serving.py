"""How a deployment serves: latencies, requests, cache, tokens."""

import csv
import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from deployments.forms.history import wanted_history
from deployments.selectors.acceptance_range import LENGTHS_S, OWN, Range
from deployments.selectors.deployments import DeploymentPage, deployment_page
from deployments.selectors.serving import ServingPage, serving_page
from deployments.templatetags.figures import duration
from deployments.views.deployments import find, head
from deployments.views.grafana import grafana_link
from deployments.views.people import person

TICKS = 4
FIGURES = (
    "first_median",
    "first_high",
    "output_median",
    "output_high",
    "running",
    "waiting",
    "cache",
    "cache_most",
    "tokens_s",
    "requests_s",
    "restarts",
)


@require_safe
def serving(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """The tab: figures of the range, charts, a table, replicas."""
    page = deployment_page(person(request), find(request, pk))
    seen = _read(request, page)
    address = reverse("deployment-serving", args=[page.row.pk])
    context = {
        **head(page, "serving"),
        "serving": seen,
        "charts": _charts(seen),
        "ticks": _ticks(seen.range),
        "events": [_place(seen.range, one.at) for one in seen.markers],
        "choices": {
            **_choices(seen, address),
            "grafana": grafana_link(page.row, seen.range),
        },
        "problems": [
            (name, _problems().get(code, code), since)
            for name, code, since in seen.problems
        ],
    }
    return render(request, "deployments/serving.html", context)


@require_safe
def serving_file(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """The steps of the tab as comma-separated values; seconds and fractions, unknown is empty."""
    page = deployment_page(person(request), find(request, pk))
    seen = _read(request, page)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    start = timezone.localtime(seen.range.start).strftime("%Y%m%d-%H%M")
    name = f"{page.row.name}-serving-{start}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    csv.writer(response).writerows(_file_rows(seen))
    return response


def _read(request: HttpRequest, page: DeploymentPage) -> ServingPage:
    wanted = wanted_history(request.GET.dict())
    return serving_page(page.row, page.live, wanted.range, wanted.only)


def _file_rows(seen: ServingPage) -> Iterator[Sequence[object]]:
    """The lines of a file, oldest first; times are ISO 8601 in the person's zone."""
    yield ["from", "to", *FIGURES]
    for step in seen.steps:
        start = timezone.localtime(step.start)
        values = [getattr(step, name) if step.seen else None for name in FIGURES]
        yield [
            start.isoformat(timespec="seconds"),
            (start + timedelta(seconds=step.step_s)).isoformat(timespec="seconds"),
            *("" if value is None else value for value in values),
        ]


def _choices(seen: ServingPage, address: str) -> dict[str, Any]:
    """Every choice of the tab as an address, so that each can be a link and be shared."""
    one = seen.range
    only = {"only": seen.only} if seen.only else {}
    until = (
        {"range": OWN, "from": one.start_s, "to": one.end_s}
        if one.key == OWN
        else {"range": one.key, "until": one.end_s}
    )
    sliding = until if one.key == OWN else {"range": one.key}

    def link(**query: object) -> str:
        return f"{address}?{urlencode(query)}"

    return {
        "ranges": [
            (duration(length_s), link(range=key, **only), key == one.key)
            for key, length_s in LENGTHS_S.items()
        ],
        "own": one.key == OWN,
        "kept": only.items(),
        "whole": link(**sliding),
        "replicas": [
            (name, link(**sliding, only=name), name == seen.only) for name in seen.names
        ]
        if len(seen.replicas) > 1 or seen.only
        else [],
        "here": link(**until, **only),
        "file": f"{address.removesuffix('/')}.csv?{urlencode({**until, **only})}",
        "zoom": link(range=OWN, **only),
    }


def _ticks(one: Range) -> list[tuple[str, str, datetime]]:
    """Where the time stands under a chart: (place in per cent, anchor, moment)."""
    return [
        (
            f"{100 * place / TICKS:.0f}",
            "end" if place == TICKS else "mid" if place else "",
            datetime.fromtimestamp(one.start_s + one.length_s * place // TICKS, UTC),
        )
        for place in range(TICKS + 1)
    ]


def _place(one: Range, at: datetime) -> str:
    """Where a moment lies in the range, in per cent."""
    return f"{100 * (at.timestamp() - one.start_s) / one.length_s:.2f}"


def _charts(seen: ServingPage) -> list[dict[str, Any]]:
    """Each chart with its words: title, what the lines are."""
    median = _("half of the requests under this")
    high = _("nine of ten under this")
    output = _("Time per step") if seen.by_step else _("Time per output token")
    words = {
        "output": (output, median, high),
        "first": (_("Time to first token"), median, high),
        "requests": (_("Requests"), _("running"), _("waiting")),
        "cache": (_("KV cache in use"), _("mean"), _("most")),
        "tokens": (_("Generated tokens per second"), "", ""),
    }
    return [
        dict(zip(("title", "first", "second"), words[chart.key], strict=True))
        | {"chart": chart}
        for chart in seen.charts
    ]


def _problems() -> dict[str, str]:
    return {
        "no_answer": _("its metrics port does not answer"),
        "refused": _("it refuses to show its metrics"),
        "too_large": _("its metrics are larger than 4 MiB"),
        "no_series": _("it exports no vllm: series (--disable-log-stats?)"),
    }
