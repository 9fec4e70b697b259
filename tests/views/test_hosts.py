"""Pages of adding a host and of the way to it; credentials are never shown again."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from deployments.models import Cluster, Host, Reachability
from deployments.models.fleet import HostAccess
from deployments.planning.text import text
from deployments.services.hosts import TEST_CONNECTION
from tests.docker_api.certificates import Authority
from tests.docker_api.ssh_server import new_key
from tests.factories import HostFactory, ReleaseFactory
from tests.views.pages import HTMX, parsed, queries_for, text_of


def tls_form(cluster: Cluster, authority: Authority, **changes: str) -> dict[str, str]:
    """What a person enters for a host behind TLS."""
    held = authority.client()
    return {
        "cluster": str(cluster.pk),
        "name": "gpu-07",
        "platform": "nvidia",
        "reached": "gpu-07.example",
        "port": "2376",
        "authority": authority.pem,
        "certificate": held.certificate,
        "key": held.key,
        **changes,
    }


@pytest.fixture
def remote(cluster: Cluster) -> Host:
    """A host behind SSH."""
    host = HostFactory.create(
        cluster=cluster, name="gpu-08", docker_address="ssh://docker@gpu-08:22"
    )
    HostAccess.objects.create(
        host=host, sealed="x", public_key=f"{new_key()[1]} draftboard"
    )
    return host


def test_a_host_is_added_and_tested_by_a_worker(
    as_dora: Client,
    cluster: Cluster,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    sent: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(
        "deployments.services.waking.current_app.send_task",
        lambda name, *, args, **_options: sent.append((name, args)),
    )
    with django_capture_on_commit_callbacks(execute=True):
        answer = as_dora.post("/fleet/hosts/add/", tls_form(cluster, Authority("a")))
    host = Host.objects.get(name="gpu-07")
    assert answer.status_code == 302
    assert answer.headers["Location"] == f"/fleet/hosts/{host.pk}/connection/"
    assert host.docker_address == "tcp://gpu-07.example:2376"
    assert sent == [(TEST_CONNECTION, [str(host.pk)])]
    page = parsed(as_dora.get(answer.headers["Location"]))
    assert "A worker is testing the way" in page.get_text()
    assert page.select_one("#host-steps[hx-get]") is not None


def test_what_is_wrong_stands_at_its_field_and_the_key_is_not_repeated(
    as_dora: Client, cluster: Cluster
) -> None:
    form = tls_form(cluster, Authority("a"), reached="127.1", port="0", key="PRIVATE")
    answer = as_dora.post("/fleet/hosts/add/", form)
    assert answer.status_code == 422
    errors = text_of(answer, ".error-summary")
    assert "127.1 is neither a host name nor an IP address" in errors
    assert "0 is no port" in errors
    assert "This is no private key" in errors
    assert text_of(answer, "#id_key") == ""
    assert "BEGIN CERTIFICATE" in text_of(answer, "#id_authority")
    assert not Host.objects.filter(name="gpu-07").exists()


def test_somebody_who_administers_nothing_is_told_whom_to_ask(
    as_alice: Client, cluster: Cluster
) -> None:
    assert "ask one of them" in text_of(as_alice.get("/fleet/hosts/add/"))
    answer = as_alice.post("/fleet/hosts/add/", tls_form(cluster, Authority("a")))
    assert answer.status_code == 422
    assert not Host.objects.filter(name="gpu-07").exists()


def test_steps_are_read_with_their_sentences(as_alice: Client, remote: Host) -> None:
    said = text("Nobody has confirmed the SSH host key of {host} yet.", host="gpu-08")
    HostAccess.objects.filter(host=remote).update(
        tested_at=timezone.now(),
        test_asked_at=timezone.now() - timedelta(seconds=1),
        steps=[
            {"step": "name", "state": "passed", "sentence": None},
            {"step": "host_key", "state": "failed", "sentence": said.document},
            {"step": "api", "state": "not_reached", "sentence": None},
        ],
        offered_host_key=new_key()[1],
    )
    page = parsed(as_alice.get(f"/fleet/hosts/{remote.pk}/connection/"))
    rows = [
        " ".join(row.get_text(" ").split()) for row in page.select("#host-steps li")
    ]
    assert rows[0].startswith("Name Passed")
    assert "SSH host key Failed" in rows[1]
    assert "Nobody has confirmed" in rows[1]
    assert "Docker API Not reached" in rows[2]
    assert page.select_one("form[action$='/key/']") is None, "a viewer confirms nothing"


def test_an_admin_confirms_exactly_the_key_that_was_shown(
    as_dora: Client, remote: Host
) -> None:
    shown = new_key()[1]
    HostAccess.objects.filter(host=remote).update(offered_host_key=shown)
    page = parsed(as_dora.get(f"/fleet/hosts/{remote.pk}/connection/"))
    form = page.select_one("form[action$='/key/']")
    assert form is not None
    assert f'value="{shown}"' in str(form)
    changed = as_dora.post(f"/fleet/hosts/{remote.pk}/key/", {"shown": new_key()[1]})
    assert changed.status_code == 409
    done = as_dora.post(f"/fleet/hosts/{remote.pk}/key/", {"shown": shown})
    assert done.status_code == 302
    assert HostAccess.objects.get(host=remote).host_key == shown


def test_another_engine_is_confirmed_by_its_id(as_dora: Client, remote: Host) -> None:
    Host.objects.filter(pk=remote.pk).update(
        reachability=Reachability.DIFFERENT_ENGINE, docker_engine_id="OLD"
    )
    HostAccess.objects.filter(host=remote).update(offered_engine_id="NEW")
    page = text_of(as_dora.get(f"/fleet/hosts/{remote.pk}/connection/"))
    assert "OLD" in page
    assert "NEW" in page
    as_dora.post(f"/fleet/hosts/{remote.pk}/engine/", {"shown": "NEW"})
    remote.refresh_from_db()
    assert remote.docker_engine_id == "NEW"


def test_credentials_are_never_on_a_page(as_dora: Client, cluster: Cluster) -> None:
    as_dora.post("/fleet/hosts/add/", tls_form(cluster, Authority("a")))
    host = Host.objects.get(name="gpu-07")
    sealed = HostAccess.objects.get(host=host).sealed
    for path in ("", "connection/", "edit/"):
        page = as_dora.get(f"/fleet/hosts/{host.pk}/{path}").content.decode()
        assert sealed not in page
        assert "PRIVATE KEY" not in page


def test_the_address_changes_and_old_credentials_are_not_sent_there(
    as_dora: Client, cluster: Cluster
) -> None:
    authority = Authority("a")
    as_dora.post("/fleet/hosts/add/", tls_form(cluster, authority))
    host = Host.objects.get(name="gpu-07")
    moved = {"reached": "gpu-99", "port": "2376"}
    answer = as_dora.post(f"/fleet/hosts/{host.pk}/edit/", moved)
    assert answer.status_code == 422
    assert "never sent to a new address" in text_of(answer)
    whole = {**tls_form(cluster, authority), **moved}
    assert as_dora.post(f"/fleet/hosts/{host.pk}/edit/", whole).status_code == 302
    host.refresh_from_db()
    assert host.docker_address == "tcp://gpu-99:2376"


def test_the_same_address_keeps_its_credentials(
    as_dora: Client, cluster: Cluster
) -> None:
    as_dora.post("/fleet/hosts/add/", tls_form(cluster, Authority("a")))
    host = Host.objects.get(name="gpu-07")
    before = HostAccess.objects.get(host=host).sealed
    same = {"reached": "gpu-07.example", "port": "2376"}
    assert as_dora.post(f"/fleet/hosts/{host.pk}/edit/", same).status_code == 302
    assert HostAccess.objects.get(host=host).sealed == before


def test_a_move_to_ssh_makes_a_key(as_dora: Client, cluster: Cluster) -> None:
    as_dora.post("/fleet/hosts/add/", tls_form(cluster, Authority("a")))
    host = Host.objects.get(name="gpu-07")
    form = {
        "reached": "gpu-07",
        "port": "22",
        "user": "docker",
        "socket": "/var/run/docker.sock",
    }
    path = f"/fleet/hosts/{host.pk}/edit/?way=ssh"
    assert as_dora.post(path, form).status_code == 302
    row = HostAccess.objects.get(host=host)
    assert row.public_key.startswith("ssh-ed25519 ")
    assert row.certificate_expires_at is None


def test_certificates_say_how_long_they_hold(as_alice: Client, remote: Host) -> None:
    now = timezone.now()
    HostAccess.objects.filter(host=remote).update(
        certificate_expires_at=now + timedelta(days=3, hours=1),
        authority_expires_at=now + timedelta(days=400),
        server_expires_at=now - timedelta(days=1),
    )
    page = text_of(as_alice.get(f"/fleet/hosts/{remote.pk}/connection/"))
    assert "3 days left" in page
    assert "expired" in page


def test_the_polled_part_is_the_test_alone(as_alice: Client, remote: Host) -> None:
    HostAccess.objects.filter(host=remote).update(test_asked_at=timezone.now())
    path = f"/fleet/hosts/{remote.pk}/connection/"
    page = parsed(as_alice.get(path))
    part = page.select_one("#host-steps")
    assert part is not None
    polled = str(part["hx-get"])
    assert as_alice.get(polled, headers=HTMX).status_code == 204
    HostAccess.objects.filter(host=remote).update(tested_at=timezone.now())
    done = as_alice.get(polled, headers=HTMX)
    assert done.status_code == 200
    assert "<html" not in done.content.decode()
    assert parsed(done).select_one("[hx-get]") is None


def test_pages_of_a_host_need_few_queries(as_dora: Client, remote: Host) -> None:
    for path in (
        "/fleet/hosts/add/",
        f"/fleet/hosts/{remote.pk}/connection/",
        f"/fleet/hosts/{remote.pk}/edit/",
    ):
        assert queries_for(as_dora, path) <= 12


def test_a_host_is_removed(as_dora: Client, remote: Host) -> None:
    assert as_dora.post(f"/fleet/hosts/{remote.pk}/remove/").status_code == 302
    assert not Host.objects.filter(pk=remote.pk).exists()


def test_the_overview_asks_for_new_certificates_before_the_way_closes(
    as_alice: Client, cluster: Cluster, remote: Host
) -> None:
    ReleaseFactory.create(deployment__cluster=cluster)
    quiet = text_of(as_alice.get("/"))
    assert "holds until" not in quiet
    ends = timezone.now() + timedelta(days=20)
    HostAccess.objects.filter(host=remote).update(server_expires_at=ends)
    said = text_of(as_alice.get("/"), ".calls")
    assert "gpu-08" in said
    assert f"holds until {ends:%Y-%m-%d}" in said
