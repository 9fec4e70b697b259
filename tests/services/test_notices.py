"""Sending notices to real receivers: signed, repeated, given up, and never where they must not go."""

import hashlib
import hmac
import json
import logging
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from apprise.plugins.dingtalk import NotifyDingTalk
from apprise.plugins.feishu import NotifyFeishu
from apprise.plugins.wecombot import NotifyWeComBot
from django.utils import timezone

from deployments.models import (
    AuditEntry,
    ChannelKind,
    DeliveryState,
    NoticeChannel,
    NoticeDelivery,
    NoticeKind,
    TeamRole,
)
from deployments.planning.text import text
from deployments.services.errors import ConflictError, NotAllowedError
from deployments.services.notices.channels import (
    Destination,
    add_channel,
    change_channel,
    prove_destination,
    send_test,
)
from deployments.services.notices.dead_letters import (
    discard_delivery,
    retry_delivery,
)
from deployments.services.notices.sending import (
    BACKOFF,
    MOST_ATTEMPTS,
    due_deliveries,
    forget_deliveries,
    send_notice,
)
from deployments.services.notices.ways import BadAddressError
from tests.factories import MembershipFactory, TeamFactory, UserFactory, member
from tests.notice_rows import (
    KEY,
    NoticeDeliveryFactory,
    NoticeFactory,
    channel_to,
)
from tests.receivers import (
    HttpReceiver,
    MailReceiver,
    http_receiver,
    mail_receiver,
)

pytestmark = pytest.mark.django_db

LOCAL = ["127.0.0.0/8"]


@pytest.fixture
def receiver(settings: Any) -> Iterator[HttpReceiver]:
    """A receiver on this machine, which an operator has allowed."""
    settings.NOTICE_NETWORKS_ALLOWED = LOCAL
    with http_receiver() as one:
        yield one


@pytest.fixture
def mailbox(settings: Any) -> Iterator[MailReceiver]:
    """A mail server on this machine, which an operator has set."""
    with mail_receiver() as one:
        settings.NOTICE_NETWORKS_ALLOWED = LOCAL
        settings.NOTICE_MAIL_URL = (
            f"mailto://127.0.0.1:{one.port}?from=panel@example.com"
        )
        yield one


def sent(row: NoticeDelivery) -> NoticeDelivery:
    """The delivery after one attempt, whenever it is due."""
    NoticeDelivery.objects.filter(pk=row.pk).update(not_before=timezone.now())
    send_notice(row.pk)
    row.refresh_from_db()
    return row


def test_a_webhook_is_signed_and_carries_what_happened(
    receiver: HttpReceiver, settings: Any
) -> None:
    settings.PANEL_URL = "https://panel.example/"
    row = NoticeDeliveryFactory.create(
        channel=channel_to(receiver.url),
        notice__actor_name="bob",
        notice__place="fleet",
    )
    assert sent(row).state == DeliveryState.DELIVERED
    (post,) = receiver.posts
    stamp = post.headers["Draftboard-Timestamp"]
    wanted = hmac.new(KEY.encode(), f"{stamp}.".encode() + post.body, hashlib.sha256)
    assert post.headers["Draftboard-Signature"] == f"v1={wanted.hexdigest()}"
    assert post.headers["Draftboard-Delivery"] == str(row.pk)
    told = json.loads(post.body)
    assert told["delivery"] == str(row.pk)
    assert (told["event"], told["by"]) == ("alarm", "bob")
    assert told["said"] == "chat on lab: 0 of 6000 drafted tokens were accepted."
    assert told["link"] == "https://panel.example/fleet/"
    assert told["facts"] == {"deployment": "chat", "cluster": "lab"}


def test_the_documented_receiver_takes_what_is_sent_and_nothing_else(
    receiver: HttpReceiver, repository: Path
) -> None:
    page = (repository / "docs/notifications.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert found is not None
    names: dict[str, Any] = {}
    exec(compile(found[1], "docs/notifications.md", "exec"), names)  # noqa: S102 - ours
    genuine = names["genuine"]
    sent(NoticeDeliveryFactory.create(channel=channel_to(receiver.url)))
    (post,) = receiver.posts
    stamp = int(post.headers["Draftboard-Timestamp"])
    assert genuine(KEY, post.headers, post.body, now=stamp + 10)
    assert not genuine(KEY + "x", post.headers, post.body, now=stamp)
    assert not genuine(KEY, post.headers, post.body + b" ", now=stamp)
    assert not genuine(KEY, post.headers, post.body, now=stamp + 301)
    later = {**post.headers, "Draftboard-Timestamp": str(stamp + 400)}
    assert not genuine(KEY, later, post.body, now=stamp + 401)


def test_a_receiver_that_fails_is_tried_again_later_under_the_same_id(
    receiver: HttpReceiver,
) -> None:
    receiver.answers = [(503, ""), (200, "")]
    row = sent(NoticeDeliveryFactory.create(channel=channel_to(receiver.url)))
    assert row.state == DeliveryState.WAITING
    assert "503" in row.error
    assert row.not_before > timezone.now() + BACKOFF[0] / 2
    send_notice(row.pk)
    assert len(receiver.posts) == 1
    assert row.pk not in due_deliveries()
    assert sent(row).state == DeliveryState.DELIVERED
    assert len({post.headers["Draftboard-Delivery"] for post in receiver.posts}) == 1


def test_after_the_last_attempt_it_is_given_up_and_a_person_decides(
    receiver: HttpReceiver,
) -> None:
    receiver.answers = [(503, "")]
    row = NoticeDeliveryFactory.create(channel=channel_to(receiver.url))
    for _attempt in range(MOST_ATTEMPTS):
        assert row.state == DeliveryState.WAITING
        sent(row)
    assert (row.state, row.attempts) == (DeliveryState.DEAD, MOST_ATTEMPTS)
    assert row.pk not in due_deliveries()
    assert row.channel.team is not None
    admin = member(row.channel.team, "admin", TeamRole.ADMIN)
    with pytest.raises(NotAllowedError):
        retry_delivery(member(row.channel.team, "operator", TeamRole.OPERATOR), row)
    receiver.answers = [(204, "")]
    retry_delivery(admin, row)
    row.refresh_from_db()
    assert sent(row).state == DeliveryState.DELIVERED
    with pytest.raises(ConflictError):
        discard_delivery(admin, row)


def test_an_answer_that_would_come_again_ends_it_at_once(
    receiver: HttpReceiver,
) -> None:
    receiver.answers = [(404, "")]
    row = sent(NoticeDeliveryFactory.create(channel=channel_to(receiver.url)))
    assert (row.state, row.attempts) == (DeliveryState.DEAD, 1)


def test_a_redirect_is_not_followed(receiver: HttpReceiver) -> None:
    receiver.answers = [(302, receiver.url), (200, "")]
    row = sent(NoticeDeliveryFactory.create(channel=channel_to(receiver.url)))
    assert row.state == DeliveryState.WAITING
    assert len(receiver.posts) == 1


def test_two_workers_send_once_and_a_lost_one_is_taken_over(
    receiver: HttpReceiver,
) -> None:
    row = NoticeDeliveryFactory.create(
        channel=channel_to(receiver.url),
        state=DeliveryState.SENDING,
        attempts=1,
        lease_until=timezone.now() + timedelta(minutes=1),
    )
    assert sent(row).state == DeliveryState.SENDING
    assert receiver.posts == []
    row.lease_until = timezone.now() - timedelta(seconds=1)
    row.save()
    assert row.pk in due_deliveries()
    assert sent(row).state == DeliveryState.DELIVERED
    row.state, row.attempts = DeliveryState.SENDING, MOST_ATTEMPTS
    row.lease_until = timezone.now() - timedelta(seconds=1)
    row.save()
    assert sent(row).state == DeliveryState.DEAD


@pytest.mark.parametrize("kind", [ChannelKind.WEBHOOK, ChannelKind.EMAIL])
def test_a_name_that_leads_to_the_panel_itself_is_refused_at_the_connection(
    kind: ChannelKind, settings: Any
) -> None:
    """The name is resolved by whoever connects, so what matters is where the connection goes."""
    settings.NOTICE_NETWORKS_ALLOWED = []
    with http_receiver() as http, mail_receiver() as mail:
        address = {
            ChannelKind.WEBHOOK: f"http://localhost:{http.port}/x",
            ChannelKind.EMAIL: f"mailto://localhost:{mail.port}?from=a@example.com&to=b@example.com",
        }[kind]
        row = sent(NoticeDeliveryFactory.create(channel=channel_to(address, kind=kind)))
        assert (http.posts, mail.mails) == ([], [])
    assert row.state == DeliveryState.DEAD
    assert "the panel's own machine" in row.error


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "localhost",
        "169.254.169.254",
        "[fe80::1]",
        "100.100.100.200",
        "0.0.0.0",  # noqa: S104 - an address to refuse
    ],
)
def test_closed_addresses_are_refused_when_they_are_entered(host: str) -> None:
    with pytest.raises(BadAddressError, match="does not contact"):
        prove_destination(ChannelKind.WEBHOOK, Destination(f"https://{host}/x", KEY))


def test_private_networks_are_where_receivers_live() -> None:
    for host in ("10.1.2.3", "192.168.0.9", "172.16.0.1", "receiver.example"):
        prove_destination(ChannelKind.WEBHOOK, Destination(f"http://{host}/x", KEY))


@pytest.mark.parametrize(
    ("kind", "address", "key"),
    [
        (ChannelKind.WEBHOOK, "https://receiver.example/x", "short"),
        (ChannelKind.WEBHOOK, "ftp://receiver.example/x", KEY),
        (ChannelKind.SLACK, "https://receiver.example/x", ""),
        (ChannelKind.SLACK, "syslog://localhost", ""),
        (ChannelKind.DINGTALK, "https://oapi.dingtalk.com/robot/send", ""),
        (ChannelKind.EMAIL, "nobody", ""),
        (ChannelKind.EMAIL, "ann@example.com", ""),
    ],
)
def test_another_kind_of_address_is_refused(
    kind: ChannelKind, address: str, key: str
) -> None:
    with pytest.raises(BadAddressError):
        prove_destination(kind, Destination(address, key))


@pytest.mark.parametrize(
    ("kind", "address"),
    [
        (ChannelKind.SLACK, "https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"),
        (ChannelKind.DINGTALK, "https://oapi.dingtalk.com/robot/send?access_token=abc123"),
        (ChannelKind.FEISHU, "https://open.feishu.cn/open-apis/bot/v2/hook/abc123"),
        (ChannelKind.WECOM, "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=693a91f6"),
        (ChannelKind.TEAMS, "https://prod-1.westus.logic.azure.com:443/workflows/3XXX5/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=iXXXU"),
        (ChannelKind.EMAIL, "mailtos://name:word@smtp.example.com?to=team@example.com"),
    ],
)  # fmt: skip
def test_what_services_show_for_their_bots_is_understood(
    kind: ChannelKind, address: str
) -> None:
    prove_destination(kind, Destination(address))


@pytest.mark.parametrize(
    ("said", "arrives"),
    [
        (b'{"errcode": 0, "errmsg": "ok"}', True),
        (b'{"StatusCode": 0, "code": 0, "msg": "success"}', True),
        (b"", True),
        (b'{"errcode": 310000, "errmsg": "token is not exist"}', False),
        (b'{"code": 19024, "msg": "Key Words Not Found"}', False),
    ],
)
def test_a_bot_that_answers_200_and_refuses_is_no_delivery(
    receiver: HttpReceiver,
    monkeypatch: pytest.MonkeyPatch,
    said: bytes,
    *,
    arrives: bool,
) -> None:
    places = {
        ChannelKind.DINGTALK: (NotifyDingTalk, "https://oapi.dingtalk.com/robot/send?access_token=abc123", "SEC123"),
        ChannelKind.FEISHU: (NotifyFeishu, "https://open.feishu.cn/open-apis/bot/v2/hook/abc123", ""),
        ChannelKind.WECOM: (NotifyWeComBot, "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=693a91f6", ""),
    }  # fmt: skip
    receiver.said = said
    for kind, (plugin, address, key) in places.items():
        monkeypatch.setattr(plugin, "notify_url", receiver.url)
        channel = channel_to(address, key=key, kind=kind)
        row = sent(NoticeDeliveryFactory.create(channel=channel))
        if arrives:
            assert row.state == DeliveryState.DELIVERED, row.error
        else:
            assert row.state == DeliveryState.WAITING
            assert re.search(r"code (310000|19024)", str(row.error))
            assert "token is not" not in str(row.error)
    assert len(receiver.posts) == len(places)
    assert "sign=" in receiver.posts[0].path
    texts = [json.loads(post.body) for post in receiver.posts]
    assert [one.get("msgtype", one.get("msg_type")) for one in texts] == ["text"] * 3


def test_mail_arrives_in_the_language_of_the_person(
    mailbox: MailReceiver, settings: Any
) -> None:
    settings.PANEL_URL = "https://panel.example"
    team = TeamFactory.create()
    ann = UserFactory.create(username="ann", language="zh-hans")
    MembershipFactory.create(team=team, user=ann)
    channel = channel_to(
        "ann@example.com", key="", team=None, user=ann, kind=ChannelKind.EMAIL
    )
    notice = NoticeFactory.create(
        team=team,
        kind=NoticeKind.REQUESTED,
        said=text("Revision {revision} of {name} may run on {cluster}.", revision=3, name="chat", cluster="lab"),
        actor_name="bob",
        place="approval-list",
    )  # fmt: skip
    row = sent(NoticeDeliveryFactory.create(channel=channel, notice=notice))
    assert row.state == DeliveryState.DELIVERED, row.error
    (mail,) = mailbox.mails
    part = mail.get_body(("plain", "html"))
    assert part is not None
    body = part.get_content()
    assert mail["To"] == "ann@example.com"
    assert "chat" in mail["Subject"]
    assert "请求审批" in mail["Subject"]
    assert "bob" in body
    assert "https://panel.example/approvals/" in body


def test_a_mail_server_that_refuses_is_tried_again(mailbox: MailReceiver) -> None:
    mailbox.refuses = True
    channel = channel_to("team@example.com", key="", kind=ChannelKind.EMAIL)
    row = sent(NoticeDeliveryFactory.create(channel=channel))
    assert row.state == DeliveryState.WAITING
    assert row.error


def test_somebody_who_left_the_team_is_told_nothing_more(
    receiver: HttpReceiver,
) -> None:
    ann = UserFactory.create()
    channel = channel_to(receiver.url, team=None, user=ann)
    row = NoticeDeliveryFactory.create(channel=channel, notice=NoticeFactory.create())
    assert sent(row).state == DeliveryState.DISCARDED
    assert receiver.posts == []


def test_addresses_are_in_no_log_no_entry_and_no_page(
    receiver: HttpReceiver, caplog: pytest.LogCaptureFixture
) -> None:
    team = TeamFactory.create()
    admin = member(team, "admin", TeamRole.ADMIN)
    secret = f"{receiver.url}/top-secret"
    receiver.answers = [(500, "")]
    with caplog.at_level(logging.DEBUG):
        row = add_channel(
            admin,
            team,
            kind=ChannelKind.WEBHOOK,
            name="ops",
            destination=Destination(secret, KEY),
            events=[NoticeKind.FAILED],
        )
        change_channel(
            admin,
            row,
            name="ops",
            events=[],
            destination=Destination(secret, KEY + "2"),
        )
        send_test(admin, row)
        delivery = sent(row.deliveries.get())
    assert "500" in delivery.error
    assert receiver.posts[0].path.endswith("/top-secret")
    told = json.dumps(
        [[entry.before, entry.after, entry.object_name] for entry in AuditEntry.objects.all()]
    )  # fmt: skip
    logged = [one for one in caplog.records if not one.name.startswith("urllib3")]
    for words in (told, *(one.getMessage() for one in logged), delivery.error):
        assert "top-secret" not in words
        assert KEY not in words
    assert "top-secret" not in NoticeChannel.objects.get().sealed


def test_a_month_later_only_what_waits_is_kept() -> None:
    done = NoticeDeliveryFactory.create(state=DeliveryState.DELIVERED)
    dead = NoticeDeliveryFactory.create(state=DeliveryState.DEAD)
    for row in (done, dead):
        row.notice.created_at = timezone.now() - timedelta(days=31)
        row.notice.save()
    fresh = NoticeDeliveryFactory.create(state=DeliveryState.DELIVERED)
    forget_deliveries()
    assert set(NoticeDelivery.objects.all()) == {dead, fresh}
