"""Add samples up, judge what is live, and forget what is too old."""

import time

from celery import shared_task
from celery.contrib.django.task import DjangoTask

from deployments.services import alarms, retention, rollups, standings
from deployments.services.notices.sending import forget_deliveries

ROUND_S = 20
"""A round ends before the next one begins; what is left waits for it."""


@shared_task(base=DjangoTask, name="deployments.roll_up")
def roll_up() -> None:
    """Add up what waits, judge what that touched, then open and close alarms."""
    until = time.monotonic() + ROUND_S
    while rollups.roll_up() >= rollups.BATCH and time.monotonic() < until:
        pass
    standings.judge_standings()
    alarms.watch_alarms()


@shared_task(base=DjangoTask, name="deployments.forget_old")
def forget_old() -> None:
    """Delete samples, roll-ups and notices that are kept no longer."""
    retention.forget_old()
    forget_deliveries()
