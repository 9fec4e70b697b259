"""Wake workers: messages that carry ids; the rows are the truth."""

import logging
import uuid
from collections.abc import Iterable

from celery import current_app
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)
DEFAULT_QUEUE = "default"


def wake(
    task: str,
    ids: Iterable[uuid.UUID],
    *,
    queue: str = DEFAULT_QUEUE,
    delay_s: float = 0,
    expires_s: float | None = None,
) -> bool:
    """Send each id to the task ``delay_s`` from now; ``False`` where the broker is down.

    One attempt on a connection of its own: by default kombu would wait six seconds for a broker
    that refuses (kombu 5.7, redis 8.1), and a person waits for this answer. What is lost is found
    by the round that asks for the same rows.
    """
    sent = [str(one) for one in ids]
    try:
        with current_app.connection_for_write(
            transport_options={"max_retries": 0}
        ) as connection:
            for one in sent:
                current_app.send_task(
                    task,
                    args=[one],
                    queue=queue,
                    countdown=delay_s or None,
                    expires=expires_s,
                    retry=False,
                    connection=connection,
                )
    except OperationalError:
        logger.warning("queue unreachable", extra={"task_name": task, "ids": sent})
        return False
    return True
