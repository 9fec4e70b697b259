"""Look at the model directories of hosts: one task per host that somebody asked for."""

import uuid

from celery import shared_task
from celery.contrib.django.task import DjangoTask

from deployments.services import model_listing
from deployments.services.model_listing import LONGEST_LOOK_S, MOST_ROOTS
from deployments.services.model_requests import LIST_MODELS

TIME_LIMIT_S = LONGEST_LOOK_S * MOST_ROOTS + 60


@shared_task(
    base=DjangoTask,
    name=LIST_MODELS,
    time_limit=TIME_LIMIT_S,
    soft_time_limit=TIME_LIMIT_S - 30,
)
def list_models(host_id: str) -> None:
    """Look at one host."""
    model_listing.list_models(uuid.UUID(host_id))


@shared_task(base=DjangoTask, name="deployments.list_models_asked")
def list_models_asked() -> None:
    """Look at the hosts whose message was lost."""
    for host_id in model_listing.hosts_to_list():
        list_models.apply_async(args=(str(host_id),), expires=15)
