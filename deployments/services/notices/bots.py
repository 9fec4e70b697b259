"""Bots of DingTalk, Feishu and WeCom: they answer 200 also to what they refuse, and say so in the body.

Apprise 1.13 knows their addresses and signatures, but not that; so the one POST is made here.
"""

import json

import requests
from apprise.plugins.base import NotifyBase
from apprise.plugins.dingtalk import NotifyDingTalk
from apprise.plugins.feishu import NotifyFeishu
from apprise.plugins.wecombot import NotifyWeComBot

from deployments.models import ChannelKind
from deployments.planning.canonical import Json, canonical_json
from deployments.planning.text import text
from deployments.services.notices.connection_guard import guarded_connections
from deployments.services.notices.ways import SendError, answered, plugin_for

MOST_READ_BYTES = 16 * 1024
CODES = ("errcode", "code", "StatusCode")
"""Where the three say how it went: 0 is well."""
BOTS = frozenset({ChannelKind.DINGTALK, ChannelKind.FEISHU, ChannelKind.WECOM})


def send_to_bot(kind: str, address: str, key: str, *, title: str, body: str) -> None:
    """Post one notice, and read in the answer whether the bot took it.

    An answer without any such code counts as taken: its status was 200.

    Raises:
        SendError: it did not arrive, or the bot refused it; the message holds its code alone.
        BadAddressError: the address cannot be used any more.
    """
    plugin = plugin_for(kind, address, key)
    url, params = _place(plugin)
    with requests.Session() as session, guarded_connections() as watch:
        try:
            with session.post(
                url,
                params=params,
                data=canonical_json(_document(kind, f"{title}\n{body}")),
                headers={"Content-Type": "application/json; charset=utf-8"},
                timeout=plugin.request_timeout,
                allow_redirects=False,
                stream=True,
            ) as answer:
                status = answer.status_code
                said = answer.raw.read(MOST_READ_BYTES, decode_content=True)
        except (requests.RequestException, OSError, ValueError):
            if watch.refused is not None:
                raise SendError(watch.refused, final=True) from None
            raise SendError(
                text("The service did not answer, or did not take it.")
            ) from None
    if status != requests.codes.ok:
        raise answered(status)
    code = _code(said)
    if code:
        raise SendError(
            text("The service refused the message with its code {code}.", code=code)
        )


def _place(plugin: NotifyBase) -> tuple[str, dict[str, str] | None]:
    if isinstance(plugin, NotifyWeComBot):
        return plugin.api_url, None
    if isinstance(plugin, NotifyFeishu):
        return plugin.notify_url.format(token=plugin.token), None
    if not isinstance(plugin, NotifyDingTalk):
        raise TypeError(plugin)
    params = None
    if plugin.secret:
        timestamp, signature = plugin.get_signature()  # type: ignore[no-untyped-call]
        params = {"timestamp": timestamp, "sign": signature}
    return plugin.notify_url.format(token=plugin.token), params


def _document(kind: str, words: str) -> dict[str, Json]:
    if kind == ChannelKind.FEISHU:
        return {"msg_type": "text", "content": {"text": words}}
    return {"msgtype": "text", "text": {"content": words}}


def _code(said: bytes) -> int:
    """The code of an answer; 0 where it holds none."""
    try:
        found = json.loads(said)
    except (ValueError, RecursionError):
        return 0
    values = [found.get(name) for name in CODES] if isinstance(found, dict) else []
    return next((one for one in values if isinstance(one, int) and one), 0)
