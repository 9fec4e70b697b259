"""The style page: every component in its states, for developers; its values are examples."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from deployments.forms.style import ExampleForm
from deployments.selectors.speed_curves import CurvePoint, SpeedCurve
from deployments.templatetags.status import STATUSES

SECTIONS = (
    "colours",
    "type",
    "status",
    "button",
    "badge",
    "field",
    "choice",
    "facts",
    "table",
    "phases",
    "diff",
    "code",
    "memory",
    "drawings",
    "curve",
    "finding",
    "verdict",
    "card",
    "empty",
    "error",
    "stale",
    "message",
    "skeleton",
    "dialog",
)
COLOURS = (
    "page frame sunk raised hover",
    "ink ink-2 ink-3 hair line rule control",
    "accent accent-deep accent-wash accent-soft",
    "good attention bad idle",
    "good-wash attention-wash bad-wash idle-wash",
)
GIBIBYTE = 1024**3


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of the example's memory bar."""

    kind: str
    label: str
    size_bytes: int


@require_safe
def style(request: HttpRequest) -> HttpResponse:
    """All components, light and dark beside each other."""
    context = {
        "sections": [(name, f"style/_{name}.html") for name in SECTIONS],
        "themes": [(name, _form(name)) for name in ("light", "dark")],
        "colours": [row.split() for row in COLOURS],
        "states": [(kind, list(rows)) for kind, rows in STATUSES.items()],
        **_examples(),
    }
    return render(request, "style/style.html", context)


def _form(theme: str) -> ExampleForm:
    """A form in which one field is refused; its ids do not meet those of the other theme."""
    data = {"name": "chat", "method": "eagle3", "goal": "live", "note": "r3"}
    return ExampleForm(data, auto_id=f"id_{theme}_%s")


def _examples() -> dict[str, Any]:
    now = timezone.now()
    return {
        "seen_at": now - timedelta(minutes=7),
        "parts": [
            Part(kind="weights", label=_("Weights"), size_bytes=41 * GIBIBYTE),
            Part(kind="drafter", label=_("Drafter"), size_bytes=3 * GIBIBYTE),
            Part(kind="graphs", label=_("Graphs"), size_bytes=2 * GIBIBYTE),
            Part(kind="kv", label=_("KV cache"), size_bytes=26 * GIBIBYTE),
            Part(kind="free", label=_("free"), size_bytes=8 * GIBIBYTE),
        ],
        "capacity": 80 * GIBIBYTE,
        "rates": [0.91, 0.72, 0.4],
        "course": [2.1, 2.2, 2.15, 2.4, None, None, 2.3, 2.5, 2.45, 2.6],
        "gaps": [None] * 10,
        "curve": _curve((2.4, 2.1, 1.6, 1.1, 0.8), reach=16),
        "unknown_curve": _curve((None,), reach=0),
        "kinds": ["success", "info", "warning", "error"],
        "digest": "sha256:" + "0123456789abcdef" * 4,
        "command": "vllm serve example/model --speculative-config "
        '\'{"method": "mtp", "num_speculative_tokens": 3}\'',
        "facts": [
            (_("Method"), "MTP", "example"),
            (_("Cluster"), "example", ""),
            (_("Runs out"), _("in %(distance)s") % {"distance": "2 d"}, ""),
        ],
        "phases": [
            _phase(_("Checking the hosts"), "done", 4, 60),
            _phase(_("Getting the image"), "current", 71, 1800),
            _phase(_("Starting"), "failed", 12, 600),
            _phase(_("Verifying"), "later", None, 120),
        ],
        "tabs": [(_("Acceptance"), "#tabs", True), (_("Logs"), "#tabs", False)],
        "findings": [
            _finding("error", "MEMORY_BELOW_MINIMUM"),
            _finding("warning", "CAPTURE_COVERAGE_SHORT"),
            _finding("info", "PRACTICE_IMAGE"),
        ],
    }


def _curve(speedups: Sequence[float | None], *, reach: int) -> SpeedCurve:
    """Speed-ups at 1, 4, 16 ... requests at once; bands up to ``reach``."""
    points = tuple(
        CurvePoint(
            concurrency=4**power,
            speedup=speedup,
            low=speedup * 0.8 if speedup and 4**power <= reach else None,
            high=speedup * 1.2 if speedup and 4**power <= reach else None,
            best_count=3 if speedup else None,
        )
        for power, speedup in enumerate(speedups)
    )
    known = reach > 0
    return SpeedCurve(
        count=3,
        asked=4,
        points=points,
        reach=reach,
        break_even=80 if known else None,
        break_even_low=40 if known else None,
        break_even_high=160 if known else None,
    )


def _phase(
    name: str, state: str, elapsed: int | None, deadline: int
) -> dict[str, object]:
    return {"name": name, "state": state, "elapsed": elapsed, "deadline": deadline}


def _finding(severity: str, code: str) -> dict[str, str]:
    return {
        "severity": severity,
        "code": code,
        "message": _("Example: one sentence says what is wrong."),
        "fix": _("Example: the next one says how to mend it."),
        "source": _("example"),
    }
