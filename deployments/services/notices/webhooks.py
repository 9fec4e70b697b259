"""Webhooks of our own: one signed POST, no redirect, no answer read (docs/notifications.md)."""

import hashlib
import hmac
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

import requests
from requests.auth import AuthBase

from deployments.planning.canonical import Json, canonical_json
from deployments.planning.text import text
from deployments.services.notices.connection_guard import guarded_connections
from deployments.services.notices.ways import (
    CONNECT_TIMEOUT_S,
    READ_TIMEOUT_S,
    BadAddressError,
    SendError,
    answered,
)

SHORTEST_KEY, LONGEST_KEY = 16, 200
OK = range(200, 300)


class _NoLogIn(AuthBase):
    """Keeps requests from looking for a log-in in the account's files."""

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        return request


def prove_webhook(address: str, key: str) -> None:
    """Refuse what is no address of a webhook, or a key that is too easily guessed.

    Raises:
        BadAddressError: one of the two.
    """
    try:
        parts = urlsplit(address)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname)
        usable = usable and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable or any(sign.isspace() for sign in address):
        raise BadAddressError(
            text("A webhook has an address such as https://receiver.example/notices.")
        )
    if not SHORTEST_KEY <= len(key) <= LONGEST_KEY:
        raise BadAddressError(
            text(
                "A signed webhook needs a key of {shortest} to {longest} characters. "
                "“openssl rand -hex 32” makes a good one.",
                shortest=SHORTEST_KEY,
                longest=LONGEST_KEY,
            )
        )


def signature(key: str, timestamp: str, body: bytes) -> str:
    """HMAC-SHA256, in hexadecimal, over the time, a full stop and the body."""
    signed = timestamp.encode() + b"." + body
    return hmac.new(key.encode(), signed, hashlib.sha256).hexdigest()


def post(
    address: str, key: str, *, delivery: str, document: Mapping[str, Json]
) -> None:
    """Post a document once; ``delivery`` is the same in every attempt.

    Nothing of the account's environment counts: no proxy, no certificates, no ``.netrc``.

    Raises:
        SendError: nobody took it.
    """
    body = canonical_json(dict(document))
    timestamp = str(int(time.time()))
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Draftboard",
        "Draftboard-Delivery": delivery,
        "Draftboard-Timestamp": timestamp,
        "Draftboard-Signature": f"v1={signature(key, timestamp, body)}",
    }
    with requests.Session() as session, guarded_connections() as watch:
        session.trust_env = False
        try:
            with session.post(
                address,
                data=body,
                headers=headers,
                auth=_NoLogIn(),
                timeout=(CONNECT_TIMEOUT_S, READ_TIMEOUT_S),
                allow_redirects=False,
                stream=True,
            ) as answer:
                status = answer.status_code
        except (requests.RequestException, ValueError) as error:
            if watch.refused is not None:
                raise SendError(watch.refused, final=True) from None
            kind = type(error).__name__
            raise SendError(
                text("The webhook could not be reached ({kind}).", kind=kind)
            ) from None
    if status not in OK:
        raise answered(status)
