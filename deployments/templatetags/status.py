"""The one table of states: what each looks like, always a tone with an icon and a word."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import template
from django.db import models
from django.utils.translation import gettext_lazy as _

from deployments.models import (
    AlarmEnd,
    AlarmKind,
    BenchmarkState,
    Decision,
    DeliveryState,
    DriftKind,
    EventKind,
    ModelDirectoryState,
    PairState,
    PreflightState,
    Reachability,
    ReleaseState,
    ReplicaState,
    RequestState,
    Standing,
)
from deployments.models.release import STOPPED
from deployments.planning.plan import Severity
from deployments.telemetry.advice import Verdict

register = template.Library()

GOOD, ATTENTION, BAD, IDLE, NOW = "good", "attention", "bad", "idle", "now"


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """How one state is shown; ``tone`` is also the name of the icon."""

    tone: str
    label: Any


def _choices(tones: Mapping[models.TextChoices, str]) -> dict[str, Status]:
    return {
        choice.value: Status(tone=tone, label=choice.label)
        for choice, tone in tones.items()
    }


def _named(rows: Mapping[str, tuple[str, Any]]) -> dict[str, Status]:
    return {
        str(value): Status(tone=tone, label=label)
        for value, (tone, label) in rows.items()
    }


STATUSES: Mapping[str, Mapping[str, Status]] = {
    "benchmark": _choices(
        {
            BenchmarkState.WAITING: NOW,
            BenchmarkState.RUNNING: NOW,
            BenchmarkState.DONE: GOOD,
            BenchmarkState.FAILED: BAD,
            BenchmarkState.CANCELLED: IDLE,
        }
    ),
    "pair": _choices(
        {
            PairState.APPROVAL: ATTENTION,
            PairState.FIRST: NOW,
            PairState.SWITCHING_OFF: NOW,
            PairState.BASE: NOW,
            PairState.SWITCHING_BACK: NOW,
            PairState.LAST: NOW,
            PairState.DONE: GOOD,
            PairState.FAILED: BAD,
            PairState.CANCELLED: IDLE,
        }
    ),
    "delivery": _choices(
        {
            DeliveryState.WAITING: IDLE,
            DeliveryState.SENDING: NOW,
            DeliveryState.DELIVERED: GOOD,
            DeliveryState.DEAD: BAD,
            DeliveryState.DISCARDED: IDLE,
        }
    ),
    "release": _choices(
        {
            ReleaseState.QUEUED: NOW,
            ReleaseState.PREFLIGHT: NOW,
            ReleaseState.PULLING: NOW,
            ReleaseState.CREATING: NOW,
            ReleaseState.STARTING: NOW,
            ReleaseState.VERIFYING: NOW,
            ReleaseState.LIVE: GOOD,
            ReleaseState.FAILED: BAD,
            ReleaseState.CANCELLED: IDLE,
            ReleaseState.ROLLED_BACK: ATTENTION,
            ReleaseState.BLOCKED: ATTENTION,
            ReleaseState.STOPPING: NOW,
            ReleaseState.STOPPED: IDLE,
        }
    ),
    "request": _choices(
        {
            RequestState.OPEN: ATTENTION,
            RequestState.APPROVED: GOOD,
            RequestState.RELEASED: GOOD,
            RequestState.REJECTED: BAD,
            RequestState.WITHDRAWN: IDLE,
            RequestState.EXPIRED: IDLE,
            RequestState.STALE: ATTENTION,
            RequestState.SUPERSEDED: IDLE,
        }
    ),
    "alarm": _choices(
        {
            AlarmKind.SILENT_ZERO: BAD,
            AlarmKind.NO_DRAFTS: BAD,
            AlarmKind.BELOW_BAND: ATTENTION,
            AlarmKind.DROP: ATTENTION,
            AlarmKind.ALL_ACCEPTED: ATTENTION,
            AlarmKind.POSITIONS: ATTENTION,
            AlarmKind.DISAGREEMENT: ATTENTION,
            AlarmKind.GAP: ATTENTION,
            AlarmKind.LOG_RATE: ATTENTION,
            AlarmKind.CLOCK: ATTENTION,
        }
    ),
    "alarm_end": _choices(
        {
            AlarmEnd.RECOVERED: GOOD,
            AlarmEnd.STOPPED: IDLE,
            AlarmEnd.SILENT: IDLE,
            AlarmEnd.REPLACED: IDLE,
        }
    ),
    "decision": _choices({Decision.APPROVE: GOOD, Decision.REJECT: BAD}),
    "host": _choices(
        {
            Reachability.UNKNOWN: IDLE,
            Reachability.REACHABLE: GOOD,
            Reachability.DEGRADED: ATTENTION,
            Reachability.UNREACHABLE: BAD,
            Reachability.DIFFERENT_ENGINE: BAD,
        }
    ),
    "model_directory": _choices(
        {
            ModelDirectoryState.COMPLETE: GOOD,
            ModelDirectoryState.INCOMPLETE: BAD,
            ModelDirectoryState.UNREADABLE: BAD,
            ModelDirectoryState.UNCHECKED: ATTENTION,
        }
    ),
    "preflight": _choices(
        {
            PreflightState.PASSED: GOOD,
            PreflightState.NOTED: ATTENTION,
            PreflightState.FAILED: BAD,
            PreflightState.UNCHECKED: IDLE,
        }
    ),
    "replica": {
        **_choices(
            {
                ReplicaState.PLANNED: IDLE,
                ReplicaState.CREATED: NOW,
                ReplicaState.RUNNING: GOOD,
                ReplicaState.EXITED: BAD,
                ReplicaState.REMOVED: IDLE,
                ReplicaState.UNKNOWN: ATTENTION,
            }
        ),
        STOPPED: Status(tone=IDLE, label=ReleaseState.STOPPED.label),
    },
    "drift": _choices(
        {
            DriftKind.STOPPED: BAD,
            DriftKind.REMOVED: BAD,
            DriftKind.REPLACED: BAD,
            DriftKind.RENAMED: ATTENTION,
            DriftKind.CHANGED: ATTENTION,
            DriftKind.PAUSED: BAD,
            DriftKind.STARTED: ATTENTION,
        }
    ),
    "event": {
        **_choices(
            {
                EventKind.DONE: GOOD,
                EventKind.FAILED: BAD,
                EventKind.NOTE: IDLE,
            }
        ),
        EventKind.INTENT.value: Status(tone=NOW, label=_("Begins")),
    },
    "severity": _named(
        {
            Severity.ERROR: (BAD, _("Error")),
            Severity.WARNING: (ATTENTION, _("Warning")),
            Severity.INFO: (IDLE, _("Note")),
        }
    ),
    "verdict": _named(
        {
            GOOD: (GOOD, _("Good")),
            ATTENTION: (ATTENTION, _("Attention")),
            BAD: (BAD, _("Bad")),
            IDLE: (IDLE, _("Idle")),
        }
    ),
    "acceptance": _named(
        {
            Verdict.HEALTHY: (GOOD, _("Healthy")),
            Verdict.NORMAL: (GOOD, _("Normal")),
            Verdict.LOW: (ATTENTION, _("Low")),
            Verdict.ZERO: (BAD, _("Nothing accepted")),
            Standing.STALE: (ATTENTION, _("No data")),
            Verdict.NOT_COMPARABLE: (IDLE, _("Not judged")),
            Verdict.TOO_FEW: (IDLE, _("Too few drafts")),
            Verdict.NO_DATA: (IDLE, _("No traffic")),
            Standing.OFF: (IDLE, _("Drafts nothing")),
        }
    ),
    "message": _named(
        {
            "success": (GOOD, _("Done")),
            "info": (IDLE, _("Note")),
            "debug": (IDLE, _("Note")),
            "warning": (ATTENTION, _("Attention")),
            "error": (BAD, _("Error")),
        }
    ),
}


def status_of(kind: str, value: str) -> Status:
    """How the state ``value`` of ``kind`` is shown.

    Raises:
        KeyError: the table lacks the kind or the state, which a test forbids.
    """
    return STATUSES[kind][str(value)]


@register.inclusion_tag("components/status.html")
def status(kind: str, value: str) -> dict[str, Status]:
    """Icon and word of a state: ``{% status "release" release.state %}``."""
    return {"status": status_of(kind, value)}


@register.simple_tag
def tone(kind: str, value: str) -> str:
    """The tone of a state alone, for a class: ``{% tone "severity" finding.severity %}``."""
    return status_of(kind, value).tone
