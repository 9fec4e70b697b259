"""Ask for the tail of a log: a row that a worker answers; nothing here reaches a host."""

import uuid
from collections.abc import Iterable
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from deployments.models import LogRequest, LogRun, Replica, User
from deployments.services.waking import wake

FILL_HOST_TAILS = "deployments.fill_host_tails"
WANTED_S = 30
"""How long somebody is taken to look on after they last asked; the page asks every ten seconds."""
MOST_REPLICAS = 4


def ask_for_tails(user: User, replicas: Iterable[uuid.UUID], run: LogRun) -> None:
    """Have the logs of these replicas read for the next ``WANTED_S`` seconds.

    Being a member of the replica's team is enough; others' replicas are passed over, as are more
    than ``MOST_REPLICAS``. A host that nobody looked at is read at once.
    """
    rows = Replica.objects.for_user(user).filter(pk__in=list(replicas)[:MOST_REPLICAS])
    found = list(rows.exclude(container_id="").only("pk", "host_id"))
    now = timezone.now()
    until = now + timedelta(seconds=WANTED_S)
    with transaction.atomic():
        asked = LogRequest.objects.filter(replica__in=found, run=run)
        asked_at = dict(asked.values_list("replica_id", "wanted_until"))
        asked.update(wanted_until=until)
        missing = [row for row in found if row.pk not in asked_at]
        LogRequest.objects.bulk_create(
            [LogRequest(replica=row, run=run, wanted_until=until) for row in missing],
            ignore_conflicts=True,
        )
    quiet = {row.host_id for row in found if asked_at.get(row.pk, now) <= now}
    if quiet:
        transaction.on_commit(lambda: wake(FILL_HOST_TAILS, quiet, expires_s=WANTED_S))
