"""How log records look: JSON lines in production, readable lines in a lab."""

import contextvars
import json
import logging
from datetime import UTC, datetime
from typing import Any

__all__ = ["JsonFormatter", "RequestIdFilter", "logging_settings", "request_id"]

request_id: contextvars.ContextVar[str] = contextvars.ContextVar(
    "request_id", default=""
)
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}
_NEVER = frozenset({"request", "response"})


class RequestIdFilter(logging.Filter):
    """Gives each record the id of the request that is being answered."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Add the id; let every record pass."""
        if not getattr(record, "request_id", ""):
            record.request_id = request_id.get()
        return True


class JsonFormatter(logging.Formatter):
    """One JSON object per line, with the ``extra`` keys of the record."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line of JSON."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, tz=UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {
            key: value
            for key, value in vars(record).items()
            if key not in _STANDARD and key not in _NEVER and value != ""
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


def logging_settings(*, readable: bool) -> dict[str, Any]:
    """Return Django's LOGGING: one handler on standard error for everything but the audit.

    Audit entries are one line of JSON each, in a lab too: on standard output, or from commands,
    whose standard output is their answer, on standard error.
    """
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"request_id": {"()": RequestIdFilter}},
        "formatters": {
            "json": {"()": JsonFormatter},
            "readable": {
                "format": "%(asctime)s %(levelname)-7s %(name)s: %(message)s",
                "datefmt": "%H:%M:%S",
            },
        },
        "handlers": {
            "stream": {
                "class": "logging.StreamHandler",
                "filters": ["request_id"],
                "formatter": "readable" if readable else "json",
            },
            "audit": {
                "class": "logging.StreamHandler",
                "stream": "ext://sys.stdout",
                "filters": ["request_id"],
                "formatter": "json",
            },
            "audit_of_commands": {
                "class": "logging.StreamHandler",
                "filters": ["request_id"],
                "formatter": "json",
            },
        },
        "root": {"handlers": ["stream"], "level": "INFO"},
        "loggers": {
            "audit": {"handlers": ["audit"], "level": "INFO", "propagate": False},
            "audit.commands": {
                "handlers": ["audit_of_commands"],
                "level": "INFO",
                "propagate": False,
            },
            "django": {"handlers": [], "level": "INFO", "propagate": True},
            "django.server": {"handlers": [], "level": "INFO", "propagate": True},
            # Two lines for each task would be all that a log holds: some run every two seconds.
            "celery.worker.strategy": {"level": "WARNING"},
            "celery.app.trace": {"level": "WARNING"},
            "celery.beat": {"level": "WARNING"},
            "httpx": {"level": "WARNING"},
            # Its words may name addresses that are secrets.
            "apprise": {"level": "CRITICAL", "propagate": False},
            "urllib3": {"level": "WARNING"},
        },
    }
