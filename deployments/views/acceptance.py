"""The acceptance history of a deployment: the page, and the same numbers for its chart."""

import time
import uuid
from datetime import UTC, datetime

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from deployments.selectors.acceptance import (
    DEFAULT_SPAN,
    NANOSECONDS,
    SPANS,
    History,
    Span,
    history,
)
from deployments.selectors.advice_words import TONES, VERDICTS, sentence
from deployments.selectors.deployments import deployment_page
from deployments.telemetry.acceptance_history import Counts
from deployments.views.deployments import find, head, wizard_address
from deployments.views.people import person

LAST_SECOND = 4_102_444_800
"""2100-01-01: an end of a range beyond it is a slip of the keyboard."""


@require_safe
def acceptance(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """What was accepted over the range, as sentence, chart, bars and table."""
    page = deployment_page(person(request), find(request, pk))
    span = _span(request)
    seen = history(page.row, page.live, span, _end(request, span))
    advice = seen.advice
    data = reverse("deployment-acceptance-data", args=[page.row.pk])
    context = {
        **head(page, "acceptance"),
        "history": seen,
        "spans": [(key, key == span.key) for key in SPANS],
        "tone": TONES[advice.verdict],
        "verdict": VERDICTS[advice.verdict],
        "sentences": [sentence(statement) for statement in advice.statements]
        if page.live
        else [_("Nothing runs now, so nothing is judged.")],
        "prepare": wizard_address(page, advice.suggested_num_speculative_tokens)
        if advice.suggested_num_speculative_tokens
        else "",
        "data_url": f"{data}?range={span.key}&until={seen.end_ns // NANOSECONDS}",
    }
    return render(request, "deployments/acceptance.html", context)


@require_safe
def acceptance_data(request: HttpRequest, pk: uuid.UUID) -> JsonResponse:
    """The numbers of the page as JSON; times are seconds since 1970, unknown is null."""
    page = deployment_page(person(request), find(request, pk))
    span = _span(request)
    seen = history(page.row, page.live, span, _end(request, span))
    return JsonResponse(_document(seen))


def _span(request: HttpRequest) -> Span:
    return SPANS.get(request.GET.get("range", ""), SPANS[DEFAULT_SPAN])


def _end(request: HttpRequest, span: Span) -> int:
    """The end of the range: the one asked for, so that page and chart agree, else now."""
    text = request.GET.get("until", "")
    plain = text.isascii() and text.isdigit() and len(text) <= len(str(LAST_SECOND))
    seconds = int(text) if plain else 0
    if not span.step_s * span.steps <= seconds <= LAST_SECOND:
        seconds = int(time.time())
    return span.end_after(datetime.fromtimestamp(seconds, tz=UTC))


def _document(seen: History) -> dict[str, object]:
    return {
        "range": seen.span.key,
        "step_s": seen.span.step_s,
        "time_zone": timezone.get_current_timezone_name(),
        "from": seen.start_ns // NANOSECONDS,
        "to": seen.end_ns // NANOSECONDS,
        "buckets": [
            {
                "from": bucket.start_ns // NANOSECONDS,
                "to": bucket.end_ns // NANOSECONDS,
                **_counts(bucket.counts),
            }
            for bucket in seen.buckets
        ],
        "totals": {"windows": seen.windows, **_counts(seen.totals)},
        "per_position": list(seen.totals.per_position) or None,
        "markers": [
            {
                "at": int(marker.at.timestamp()),
                "release": marker.release.number,
                "revision": marker.release.plan.revision.number,
            }
            for marker in seen.markers
        ],
        "log_gaps": [
            {
                "from": gap.from_ns // NANOSECONDS,
                "to": -(-gap.to_ns // NANOSECONDS),
                "reason": gap.reason,
            }
            for gap in seen.log_gaps
        ],
    }


def _counts(counts: Counts | None) -> dict[str, float | int | None]:
    if counts is None:
        return dict.fromkeys(
            (
                "accepted",
                "drafted",
                "num_drafts",
                "acceptance_rate",
                "mean_acceptance_length",
            )
        )
    return {
        "accepted": counts.accepted,
        "drafted": counts.drafted,
        "num_drafts": counts.num_drafts,
        "acceptance_rate": counts.acceptance_rate,
        "mean_acceptance_length": counts.mean_acceptance_length,
    }
