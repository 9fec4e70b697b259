"""The ways that notices travel: what an address of each looks like, and how one line of it is sent.

Apprise 1.13 knows the services; each kind names its one class, so that no address reaches another.
"""

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from apprise import Apprise, AppriseAsset, NotifyFormat, PersistentStoreMode
from apprise.logger import LogCapture
from apprise.plugins.base import NotifyBase
from apprise.plugins.dingtalk import NotifyDingTalk
from apprise.plugins.email import NotifyEmail
from apprise.plugins.feishu import NotifyFeishu
from apprise.plugins.slack import NotifySlack
from apprise.plugins.wecombot import NotifyWeComBot
from apprise.plugins.workflows import NotifyWorkflows
from django.conf import settings

from deployments.models import ChannelKind
from deployments.planning.text import Text, text
from deployments.services.errors import UseCaseError
from deployments.services.notices.connection_guard import guarded_connections

CONNECT_TIMEOUT_S = 5.0
READ_TIMEOUT_S = 10.0
HOPELESS = frozenset({400, 401, 403, 404, 405, 410})
"""Answers that the next attempt would get again."""
_STATUS = re.compile(r"error=(\d{3})\b")
_MAIL = re.compile(r"[^@\s:/?#]+@[^@\s:/?#]+\.[^@\s:/?#]+")


class BadAddressError(UseCaseError):
    """No address of this kind; the message says how one looks."""

    code = "bad_address"


class SendError(Exception):
    """A notice that did not arrive; ``final`` where another attempt cannot help."""

    def __init__(self, said: Text, *, final: bool = False) -> None:
        super().__init__(said)
        self.said, self.final = said, final


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One kind: its class, its schemes, how an address that the service shows becomes one of them."""

    plugin: type[NotifyBase]
    schemes: tuple[str, ...]
    example: str
    rewrite: Callable[[str, str], str] | None = None


def _dingtalk(address: str, key: str) -> str:
    parts = urlsplit(address)
    tokens = parse_qs(parts.query).get("access_token", [])
    if parts.scheme == "https" and parts.hostname == "oapi.dingtalk.com" and tokens:
        return f"dingtalk://{quote(key, safe='')}{'@' if key else ''}{tokens[0]}/"
    return address


def _feishu(address: str, key: str) -> str:
    del key
    parts = urlsplit(address)
    if parts.scheme == "https" and parts.hostname == "open.feishu.cn":
        return f"feishu://{parts.path.rpartition('/')[2]}"
    return address


WAYS: Mapping[str, Way] = {
    ChannelKind.EMAIL: Way(
        plugin=NotifyEmail,
        schemes=("mailto", "mailtos"),
        example="team@example.com, mailtos://NAME:PASSWORD@smtp.example.com?to=team@example.com",
    ),
    ChannelKind.DINGTALK: Way(
        plugin=NotifyDingTalk,
        schemes=("dingtalk",),
        example="https://oapi.dingtalk.com/robot/send?access_token=…",
        rewrite=_dingtalk,
    ),
    ChannelKind.FEISHU: Way(
        plugin=NotifyFeishu,
        schemes=("feishu",),
        example="https://open.feishu.cn/open-apis/bot/v2/hook/…",
        rewrite=_feishu,
    ),
    ChannelKind.WECOM: Way(
        plugin=NotifyWeComBot,
        schemes=("wecombot",),
        example="https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=…",
    ),
    ChannelKind.SLACK: Way(
        plugin=NotifySlack,
        schemes=("slack",),
        example="https://hooks.slack.com/services/…",
    ),
    ChannelKind.TEAMS: Way(
        plugin=NotifyWorkflows,
        schemes=("workflow", "workflows"),
        example="https://….logic.azure.com/workflows/…",
    ),
}


def plugin_for(kind: str, address: str, key: str) -> NotifyBase:
    """The object of apprise that sends to the address.

    Raises:
        BadAddressError: it is no address of this kind, or an e-mail address without a mail server.
    """
    way = WAYS[kind]
    target: list[str] = []
    if kind == ChannelKind.EMAIL and "://" not in address:
        if _MAIL.fullmatch(address) is None:
            raise _bad(way)
        if not settings.NOTICE_MAIL_URL:
            raise BadAddressError(
                text(
                    "This panel has no mail server: have an operator set NOTICE_MAIL_URL, or enter "
                    "an address with a server, such as {example}.",
                    example="mailtos://NAME:PASSWORD@smtp.example.com?to=team@example.com",
                )
            )
        target, address = [address], settings.NOTICE_MAIL_URL
    if way.rewrite is not None:
        address = way.rewrite(address, key)
    values = _parsed(way, address)
    if values is None:
        raise _bad(way)
    if target:
        values["targets"] = target
    asset = AppriseAsset(
        plugin_paths=[], storage_mode=PersistentStoreMode.MEMORY, app_id="Draftboard"
    )
    try:
        made = way.plugin(**{**values, "asset": asset})
    except (TypeError, ValueError, KeyError) as error:
        raise _bad(way) from error
    made.redirects = False
    made.socket_connect_timeout = CONNECT_TIMEOUT_S
    made.socket_read_timeout = READ_TIMEOUT_S
    made.request_rate_per_sec = 0
    return made


def _parsed(way: Way, address: str) -> dict[str, Any] | None:
    """What apprise reads in the address; it takes words for a host, so the scheme is asked first."""
    try:
        scheme = urlsplit(address).scheme
        found = (
            way.plugin.parse_native_url(address)
            if scheme == "https"
            else way.plugin.parse_url(address)
            if scheme in way.schemes
            else None
        )
    except (ValueError, TypeError, AttributeError):
        return None
    return dict(found) if found else None


def _bad(way: Way) -> BadAddressError:
    return BadAddressError(
        text(
            "This is no address of this kind. One looks like {example}.",
            example=way.example,
        )
    )


def send_by_apprise(
    kind: str, address: str, key: str, *, title: str, body: str
) -> None:
    """Send one notice; answers of services and words of apprise go nowhere, since both may hold secrets.

    Raises:
        SendError: it did not arrive.
        BadAddressError: the address cannot be used any more.
    """
    carrier = Apprise()
    carrier.add(plugin_for(kind, address, key))
    with (
        LogCapture(level=logging.WARNING, fmt="%(message)s") as heard,  # type: ignore[no-untyped-call]
        guarded_connections() as watch,
    ):
        arrived = carrier.notify(body=body, title=title, body_format=NotifyFormat.TEXT)
        words = heard.getvalue()
    if watch.refused is not None:
        raise SendError(watch.refused, final=True)
    if arrived:
        return
    status = _STATUS.search(words)
    if status is None:
        raise SendError(text("The service did not answer, or did not take it."))
    raise answered(int(status[1]))


def answered(status: int) -> SendError:
    """The error that an HTTP status means."""
    return SendError(
        text("The service answered with status {status}.", status=status),
        final=status in HOPELESS,
    )
