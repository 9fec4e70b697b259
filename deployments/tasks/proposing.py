"""Changes that the panel proposes by itself."""

from celery import shared_task
from celery.contrib.django.task import DjangoTask

from deployments.services import proposal_schedules
from deployments.services.audit import acting_from, by_itself


@shared_task(base=DjangoTask, name="deployments.propose_due")
def propose_due() -> None:
    """Put to the vote what is due, for teams that allowed it."""
    with acting_from(by_itself):
        proposal_schedules.propose_due()
