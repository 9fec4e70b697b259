"""The log file of a deployment: named by operators, checked, and shown with how far it was read."""

import pytest
from django.test import Client

from deployments.models import (
    AuditAction,
    AuditEntry,
    Cluster,
    Deployment,
    FileLog,
    User,
)
from deployments.models.file_log import path_in
from tests.factories import DeploymentFactory, ReplicaFactory
from tests.metric_rows import FileLogCursorFactory
from tests.views.pages import parsed, queries_for, text_of

PATH = "/workspace/logs/decode_rank0.log"


@pytest.fixture
def chat(cluster: Cluster, alice: User) -> Deployment:
    return DeploymentFactory.create(cluster=cluster, name="chat", created_by=alice)


def name_it(client: Client, row: Deployment, path: str = PATH) -> int:
    return client.post(f"/deployments/{row.pk}/logs/file/", {"path": path}).status_code


def test_an_operator_names_it_and_takes_it_back(
    as_alice: Client, chat: Deployment
) -> None:
    assert "no: it writes to standard output" in text_of(
        as_alice.get(f"/deployments/{chat.pk}/logs/file/")
    )
    assert name_it(as_alice, chat, "/workspace//logs/./decode_rank0.log") == 302
    assert name_it(as_alice, chat) == 302
    assert list(FileLog.objects.values_list("path", flat=True)) == [PATH]
    page = parsed(as_alice.get(f"/deployments/{chat.pk}/logs/file/"))
    assert page.select_one("#log-file input[name=path]")["value"] == PATH  # type: ignore[index]
    assert name_it(as_alice, chat, " ") == 302
    assert not FileLog.objects.exists()
    entries = AuditEntry.objects.filter(action=AuditAction.FILE_LOG_CHANGED)
    assert [(entry.before, entry.after) for entry in entries.order_by("sequence")] == [
        ({"path": ""}, {"path": PATH}),
        ({"path": PATH}, {"path": ""}),
    ]


def test_each_replica_may_have_a_path_of_its_own(
    as_alice: Client, chat: Deployment
) -> None:
    assert name_it(as_alice, chat, "/logs/{role}_rank{rank}.log") == 302
    (written,) = FileLog.objects.values_list("path", flat=True)
    assert path_in(written, "decode", 11) == "/logs/decode_rank11.log"
    replica = ReplicaFactory.create(release__deployment=chat, role="decode", rank=1)
    FileLogCursorFactory.create(replica=replica, path="/logs/decode_rank1.log")
    page = as_alice.get(f"/deployments/{chat.pk}/logs/file/")
    said = text_of(page)
    assert "decode-1: /logs/decode_rank1.log" in said.replace(" :", ":")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("logs/a.log", "begins with a slash"),
        ("/logs/", "begins with a slash"),
        ("/logs/../etc/shadow", "no “..”"),
        ("/logs/a\x1b.log", "no control characters"),
        ("//proc/self/environ", "Nothing below /proc"),
        ("/" + "a" * 300, "at most 300 characters"),
        ("/logs/{pod}.log", "only {role} and {rank} are put in"),
        ("/" + "a" * 292 + "{role}", "only {role} and {rank} are put in"),
    ],
)
def test_what_is_no_path_of_a_file_is_refused(
    as_alice: Client, chat: Deployment, path: str, said: str
) -> None:
    answer = as_alice.post(f"/deployments/{chat.pk}/logs/file/", {"path": path})
    assert answer.status_code == 422
    assert said in text_of(answer)
    assert not FileLog.objects.exists()


def test_only_operators_of_the_team_may(
    client: Client,
    as_bob: Client,
    as_charlie: Client,
    as_alice: Client,
    chat: Deployment,
) -> None:
    assert name_it(client, chat) == 302
    assert name_it(as_bob, chat) == 403
    assert name_it(as_charlie, chat) == 404
    assert as_alice.put(f"/deployments/{chat.pk}/logs/file/").status_code == 405
    assert not FileLog.objects.exists()
    assert (
        parsed(as_bob.get(f"/deployments/{chat.pk}/logs/file/")).select(
            "#log-file form"
        )
        == []
    )


def test_how_far_it_was_read_is_said_for_each_replica(
    as_alice: Client, chat: Deployment
) -> None:
    name_it(as_alice, chat)
    replica = ReplicaFactory.create(release__deployment=chat, role="decode", rank=0)
    row = FileLogCursorFactory.create(replica=replica, offset=2048, lines_read=12)
    page = f"/deployments/{chat.pk}/logs/file/"
    assert "decode-0: read 2 KiB, 12 lines" in text_of(as_alice.get(page)).replace(
        "\N{NO-BREAK SPACE}", " "
    )
    assert queries_for(as_alice, page) <= 12
    for problem, said in (("missing", "no such file"), ("no_log_file", "plain file")):
        row.problem = problem
        row.save()
        assert said in text_of(as_alice.get(page))
