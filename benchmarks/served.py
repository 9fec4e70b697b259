"""The web server as it runs in the lab, with a database of the caller's, for measuring pages."""

import os
import socket
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from django.contrib.auth import (
    BACKEND_SESSION_KEY,
    HASH_SESSION_KEY,
    SESSION_KEY,
)
from django.contrib.sessions.backends.db import SessionStore
from django.core.management import call_command

from deployments.models import User
from panel.lab.parts import parts
from panel.lab.processes import wait_until

START_TIMEOUT_S = 60.0
KEY = "measured-" * 8
"""What sessions are made with; both who makes them and the server must have it."""
WITHOUT_OTHER_PARTS = {
    "DEBUG": "0",
    "ALLOWED_HOSTS": "127.0.0.1",
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "SERVED_OVER_HTTPS": "0",
}
BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


@contextmanager
def served_pages(logs: Path) -> Iterator[str]:
    """Serve the panel on a free port, static files hashed and compressed; yields its address.

    Raises:
        RuntimeError: it did not answer within a minute; the message ends with its log.
    """
    call_command("collectstatic", interactive=False, verbosity=0)
    with web_server(logs, {**os.environ, "SECRET_KEY": KEY}) as address:
        yield address


@contextmanager
def web_server(logs: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """The web server of the lab with this environment, without the other parts.

    Raises:
        RuntimeError: it did not answer within a minute; the message ends with its log.
    """
    port = _free_port()
    web = parts(port, logs, {**environment, **WITHOUT_OTHER_PARTS})[0]
    web.start()
    try:
        if not wait_until(lambda: _answers(port), timeout_s=START_TIMEOUT_S):
            raise RuntimeError(f"The web server did not answer:\n{web.last_words()}")
        yield f"http://127.0.0.1:{port}"
    finally:
        web.stop()


def session_of(user: User) -> str:
    """The cookie value of a new session of the person."""
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = BACKEND
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    return str(session.session_key)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _answers(port: int) -> bool:
    address = f"http://127.0.0.1:{port}/accounts/login/"
    try:
        with urllib.request.urlopen(address, timeout=5):
            return True
    except OSError:
        return False
