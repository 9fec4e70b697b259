"""Requests that end or start by the clock."""

from celery import shared_task
from celery.contrib.django.task import DjangoTask

from deployments.services import approvals, reminders, self_starts
from deployments.services.audit import acting_from, by_itself


@shared_task(base=DjangoTask, name="deployments.follow_requests")
def follow_requests() -> None:
    """End what ran out, remind of what soon will, then start what is due by itself."""
    with acting_from(by_itself):
        approvals.expire_requests()
        reminders.remind_due()
        self_starts.start_due()
