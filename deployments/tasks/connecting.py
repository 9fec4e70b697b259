"""Test the way to a host that somebody added or changed."""

import uuid

from celery import shared_task
from celery.contrib.django.task import DjangoTask

from deployments.services import connection_test
from deployments.services.hosts import TEST_CONNECTION


@shared_task(base=DjangoTask, name=TEST_CONNECTION)
def test_connection(host_id: str) -> None:
    """Test one host."""
    connection_test.run_connection_test(uuid.UUID(host_id))


@shared_task(base=DjangoTask, name="deployments.test_connections")
def test_connections() -> None:
    """Test the hosts whose message was lost."""
    for host_id in connection_test.hosts_to_test():
        test_connection.apply_async(args=(str(host_id),), expires=15)
