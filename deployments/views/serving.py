"""How a deployment serves: latencies, requests, cache, tokens."""

import uuid
from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from deployments.forms.history import wanted_history
from deployments.selectors.acceptance_range import LENGTHS_S, Range
from deployments.selectors.deployments import deployment_page
from deployments.selectors.serving import ServingPage, serving_page
from deployments.templatetags.figures import duration
from deployments.views.deployments import find, head
from deployments.views.people import person

TICKS = 4


@require_safe
def serving(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """The tab: figures of the range, charts, a table, replicas."""
    page = deployment_page(person(request), find(request, pk))
    wanted = wanted_history(request.GET.dict()).range
    seen = serving_page(page.row, page.live, wanted)
    address = reverse("deployment-serving", args=[page.row.pk])
    context = {
        **head(page, "serving"),
        "serving": seen,
        "charts": _charts(seen),
        "ticks": _ticks(seen.range),
        "ranges": [
            (duration(length_s), f"{address}?range={key}", key == wanted.key)
            for key, length_s in LENGTHS_S.items()
        ],
        "problems": [
            (name, _problems().get(code, code), since)
            for name, code, since in seen.problems
        ],
    }
    return render(request, "deployments/serving.html", context)


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
