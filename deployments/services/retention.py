"""Forget samples and roll-ups that are older than the settings keep them, a few deployments at a time."""

import uuid
from datetime import timedelta

from django.conf import settings
from django.db.models import F, Q
from django.utils import timezone

from deployments.models import (
    AcceptanceSample,
    AcceptanceStanding,
    DayRollup,
    HourRollup,
    MinuteRollup,
    Rollup,
    Serving,
    ServingDay,
    ServingHour,
    ServingMinute,
)

DEPLOYMENTS_A_ROUND = 300
ROUND_AGAIN_AFTER = timedelta(hours=6)
DAY_S = 86_400
LEVELS: tuple[tuple[type[Rollup | Serving], str], ...] = (
    (MinuteRollup, "MINUTES_KEPT_DAYS"),
    (HourRollup, "HOURS_KEPT_DAYS"),
    (DayRollup, "DAYS_KEPT_DAYS"),
    (ServingMinute, "MINUTES_KEPT_DAYS"),
    (ServingHour, "HOURS_KEPT_DAYS"),
    (ServingDay, "DAYS_KEPT_DAYS"),
)


def forget_old(most: int = DEPLOYMENTS_A_ROUND) -> int:
    """Delete what is too old of the deployments that waited longest; returns rows deleted.

    Zero days keep for ever. A sample that the roll-ups do not hold yet is never deleted.
    """
    now = timezone.now()
    due = AcceptanceStanding.objects.filter(
        Q(pruned_at=None) | Q(pruned_at__lt=now - ROUND_AGAIN_AFTER)
    ).order_by(F("pruned_at").asc(nulls_first=True))[:most]
    deleted = 0
    for pk, deployment in due.values_list("pk", "deployment_id"):
        deleted += _forget(deployment, now.timestamp())
        AcceptanceStanding.objects.filter(pk=pk).update(pruned_at=now)
    return deleted


def _forget(deployment: uuid.UUID, now_s: float) -> int:
    deleted = 0
    if settings.SAMPLES_KEPT_DAYS:
        edge_s = now_s - settings.SAMPLES_KEPT_DAYS * DAY_S
        samples = AcceptanceSample.objects.filter(
            deployment=deployment, timestamp_ns__lt=int(edge_s * 10**9), rolled_up=True
        )
        deleted += samples.delete()[0]
    for level, name in LEVELS:
        days = getattr(settings, name)
        if days:
            old = level._default_manager.filter(
                deployment=deployment, start_s__lt=now_s - days * DAY_S
            )
            deleted += old.delete()[0]
    return deleted
