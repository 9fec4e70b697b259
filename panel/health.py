"""The health page: whether the database and the message broker can be reached."""

import logging

import redis
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import Error as DatabaseError
from django.db import connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

logger = logging.getLogger(__name__)

BROKER_TIMEOUT_S = 1.0


@login_not_required
@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """Answer 200 while pages can be served, that is while the database answers."""
    database = database_answers()
    body = {
        "status": "ok" if database else "unavailable",
        "database": database,
        "broker": broker_answers(),
    }
    return JsonResponse(body, status=200 if database else 503)


def database_answers() -> bool:
    """Whether a query comes back."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        logger.exception("database_unreachable")
        return False
    return True


def broker_answers() -> bool:
    """Whether Redis answers within a second."""
    client = redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=BROKER_TIMEOUT_S,
        socket_connect_timeout=BROKER_TIMEOUT_S,
        retry=None,
    )
    try:
        client.ping()
    except redis.RedisError:
        logger.warning("broker_unreachable")
        return False
    finally:
        client.close()
    return True
