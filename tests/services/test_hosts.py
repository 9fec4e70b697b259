"""Hosts of other machines: added, reached, confirmed, changed and removed by team admins only."""

import json
from pathlib import Path

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from deployments.docker_api.way_errors import DifferentEngineError
from deployments.models import Cluster, Host, Platform, Reachability, Team, TeamRole
from deployments.models.fleet import HostAccess
from deployments.planning.engine_address import read_address
from deployments.services.connection_test import hosts_to_test, run_connection_test
from deployments.services.errors import ConflictError, NotAllowedError
from deployments.services.host_access import (
    access_for,
    note_certificate,
    open_host,
    prove_same_engine,
)
from deployments.services.host_credentials import (
    CredentialsError,
    HostCredentials,
    ssh_credentials,
    tls_credentials,
)
from deployments.services.hosts import (
    NewHost,
    add_host,
    ask_for_test,
    change_address,
    confirm_engine,
    confirm_host_key,
    remove_host,
)
from deployments.services.secrets import reseal_all
from panel.lab.processes import free_port
from tests.docker_api.certificates import DAY, EXPIRED, Authority
from tests.docker_api.ssh_server import SshServer
from tests.docker_api.test_tls import answer, response, tls_server
from tests.factories import ClusterFactory, HostFactory, ReplicaFactory, member

pytestmark = pytest.mark.django_db
VERSION = b'{"ApiVersion": "1.41"}'


@pytest.fixture
def cluster() -> Cluster:
    """A cluster of a team."""
    return ClusterFactory.create()


@pytest.fixture
def team(cluster: Cluster) -> Team:
    """Its team."""
    return cluster.team


@pytest.fixture(autouse=True)
def near(settings: Settings) -> None:
    """The tests' own servers are on this machine."""
    settings.HOST_NETWORKS_ALLOWED = ["127.0.0.0/8"]


def new(address: str, credentials: HostCredentials, name: str = "gpu-01") -> NewHost:
    return NewHost(
        name=name,
        platform=Platform.NVIDIA,
        address=read_address(address),
        credentials=credentials,
    )


def tls(authority: Authority) -> HostCredentials:
    held = authority.client()
    return tls_credentials(authority.pem, held.certificate, held.key)


def states(host: Host) -> list[tuple[str, str]]:
    """The steps of the last test and what came of them."""
    rows = HostAccess.objects.get(host=host).steps
    return [(row["step"], row["state"]) for row in rows]


def test_only_admins_of_the_team_add_hosts(cluster: Cluster, team: Team) -> None:
    operator = member(team, "olga", TeamRole.OPERATOR, TeamRole.APPROVER)
    with pytest.raises(NotAllowedError):
        add_host(operator, cluster, new("ssh://root@gpu-01", ssh_credentials("")))
    assert not cluster.hosts.exists()


def test_credentials_are_kept_where_only_a_key_opens_them(
    cluster: Cluster, team: Team
) -> None:
    admin = member(team, "ada", TeamRole.ADMIN)
    authority = Authority("fleet")
    credentials = tls(authority)
    host = add_host(admin, cluster, new("tcp://gpu-01:2376", credentials))
    with connection.cursor() as cursor:
        cursor.execute("SELECT sealed FROM deployments_hostaccess")
        stored = cursor.fetchone()[0]
    assert "PRIVATE KEY" not in stored
    assert "PRIVATE KEY" not in repr(credentials)
    opened = access_for(host)
    assert opened.tls is not None
    assert opened.tls.key == json.loads(credentials.document)["key"]
    row = HostAccess.objects.get(host=host)
    assert row.certificate_expires_at == credentials.certificate_expires_at
    assert hosts_to_test() == [host.pk]
    assert reseal_all() == 1
    assert access_for(host) == opened


def test_a_name_is_taken_once_in_a_cluster(cluster: Cluster, team: Team) -> None:
    admin = member(team, "ada", TeamRole.ADMIN)
    add_host(admin, cluster, new("ssh://root@gpu-01", ssh_credentials("")))
    with pytest.raises(ConflictError, match="already has a host called gpu-01"):
        add_host(admin, cluster, new("ssh://root@gpu-02", ssh_credentials("")))


def test_a_new_address_clears_what_was_kept_for_the_old_one(
    cluster: Cluster, team: Team
) -> None:
    admin = member(team, "ada", TeamRole.ADMIN)
    host = add_host(admin, cluster, new("ssh://root@gpu-01", ssh_credentials("")))
    HostAccess.objects.filter(host=host).update(host_key="ssh-ed25519 AAAA")
    assert change_address(admin, host, read_address("ssh://root@gpu-02"), None)
    row = HostAccess.objects.get(host=host)
    assert (row.sealed, row.public_key, row.host_key) == ("", "", "")
    host.refresh_from_db()
    assert host.docker_address == "ssh://root@gpu-02:22"
    opened = access_for(host)
    assert opened.ssh is not None
    assert opened.ssh.key == ""


def test_the_same_address_keeps_what_is_not_replaced(
    cluster: Cluster, team: Team
) -> None:
    admin = member(team, "ada", TeamRole.ADMIN)
    host = add_host(admin, cluster, new("ssh://root@gpu-01", ssh_credentials("")))
    before = HostAccess.objects.get(host=host).sealed
    assert not change_address(admin, host, read_address("ssh://root@gpu-01"), None)
    assert HostAccess.objects.get(host=host).sealed == before
    change_address(admin, host, read_address("ssh://root@gpu-01"), ssh_credentials(""))
    assert HostAccess.objects.get(host=host).sealed != before


def test_a_failed_step_says_why_and_the_rest_is_not_reached(
    cluster: Cluster, team: Team
) -> None:
    admin = member(team, "ada", TeamRole.ADMIN)
    address = f"tcp://127.0.0.1:{free_port()}"
    host = add_host(admin, cluster, new(address, tls(Authority("fleet"))))
    run_connection_test(host.pk)
    assert states(host) == [
        ("name", "passed"),
        ("route", "failed"),
        ("certificate", "not_reached"),
        ("api", "not_reached"),
        ("rights", "not_reached"),
        ("identity", "not_reached"),
        ("clock", "not_reached"),
    ]
    host.refresh_from_db()
    assert host.reachability == Reachability.UNREACHABLE
    assert "nothing listens there" in host.reason
    assert hosts_to_test() == []


@pytest.mark.docker
def test_over_ssh_a_person_confirms_the_key_and_then_the_engine_is_known(
    cluster: Cluster, team: Team, docker_host: str, tmp_path: Path
) -> None:
    """The whole way with a real sshd and a real engine, and another engine later."""
    admin = member(team, "ada", TeamRole.ADMIN)
    server = SshServer(tmp_path)
    path = docker_host.removeprefix("unix://")
    host = add_host(
        admin,
        cluster,
        new(f"ssh://root@127.0.0.1:{server.port}{path}", ssh_credentials("")),
    )
    row = HostAccess.objects.get(host=host)
    server.authorized.write_text(f"{row.public_key}\n", "ascii")
    with server.running():
        run_connection_test(host.pk)
        assert states(host)[2] == ("host_key", "failed")
        row.refresh_from_db()
        assert row.offered_host_key == server.host_key
        with pytest.raises(ConflictError):
            confirm_host_key(admin, host, "ssh-ed25519 OTHER")
        confirm_host_key(admin, host, server.host_key)
        run_connection_test(host.pk)
        assert {state for _step, state in states(host)} == {"passed"}
        host.refresh_from_db()
        assert host.reachability == Reachability.REACHABLE
        assert host.docker_engine_id
        assert host.clock_offset_ms is not None

        Host.objects.filter(pk=host.pk).update(docker_engine_id="BEFORE")
        run_connection_test(host.pk)
        assert ("identity", "failed") in states(host)
        host.refresh_from_db()
        assert host.reachability == Reachability.DIFFERENT_ENGINE
        row.refresh_from_db()
        with pytest.raises(ConflictError):
            confirm_engine(admin, host, "THIRD")
        confirm_engine(admin, host, row.offered_engine_id)
        run_connection_test(host.pk)
        host.refresh_from_db()
        assert host.reachability == Reachability.REACHABLE


def test_a_host_is_removed_only_when_nothing_names_it(
    cluster: Cluster, team: Team
) -> None:
    admin = member(team, "ada", TeamRole.ADMIN)
    used = HostFactory.create(cluster=cluster)
    ReplicaFactory.create(host=used, release__deployment__cluster=cluster)
    with pytest.raises(ConflictError):
        remove_host(admin, used)
    host = add_host(admin, cluster, new("ssh://root@gpu-09", ssh_credentials("")))
    remove_host(admin, host)
    assert not Host.objects.filter(name="gpu-01").exists()
    assert not HostAccess.objects.exists()


def test_nothing_is_changed_where_an_unconfirmed_engine_answers(
    cluster: Cluster,
) -> None:
    host = HostFactory.create(cluster=cluster)
    prove_same_engine(host)
    Host.objects.filter(pk=host.pk).update(reachability=Reachability.DIFFERENT_ENGINE)
    with pytest.raises(DifferentEngineError) as caught:
        prove_same_engine(host)
    assert not caught.value.retryable
    assert not caught.value.outcome_unknown


def test_a_renewed_certificate_ends_its_warning_at_the_next_look(
    cluster: Cluster, team: Team
) -> None:
    admin = member(team, "ada", TeamRole.ADMIN)
    authority = Authority("fleet")
    served = authority.server("127.0.0.1", time=(-1 * DAY, 90 * DAY))
    with tls_server(served, answer(response("200 OK", VERSION))) as port:
        address = f"tcp://127.0.0.1:{port}"
        host = add_host(admin, cluster, new(address, tls(authority)))
        row = HostAccess.objects.get(host=host)
        for known in (None, timezone.now() + 3 * DAY):
            HostAccess.objects.filter(pk=row.pk).update(server_expires_at=known)
            with open_host(host) as engine:
                note_certificate(host, engine)
            row.refresh_from_db()
            assert row.server_expires_at is not None
            assert 89 <= (row.server_expires_at - timezone.now()).days <= 90


def test_the_local_host_is_tested_too(
    cluster: Cluster, team: Team, tmp_path: Path
) -> None:
    admin = member(team, "ada", TeamRole.ADMIN)
    host = HostFactory.create(
        cluster=cluster, docker_address=f"unix://{tmp_path / 'no.sock'}"
    )
    ask_for_test(admin, host)
    run_connection_test(host.pk)
    assert states(host)[0] == ("api", "failed")


def broken(authority: Authority) -> list[tuple[str, str, str, str]]:
    held, other = authority.client(), authority.client()
    late = authority.client(time=EXPIRED)
    return [
        ("authority", "nothing", held.certificate, held.key),
        ("authority", held.certificate, held.certificate, held.key),
        ("certificate", authority.pem, "nothing", held.key),
        ("certificate", authority.pem, late.certificate, late.key),
        ("key", authority.pem, held.certificate, "nothing"),
        ("key", authority.pem, held.certificate, other.key),
    ]


@pytest.mark.parametrize("number", range(6))
def test_certificates_that_do_not_fit_are_refused_where_they_were_entered(
    number: int,
) -> None:
    field, authority, certificate, key = broken(Authority("fleet"))[number]
    with pytest.raises(CredentialsError) as caught:
        tls_credentials(authority, certificate, key)
    assert caught.value.field == field


def test_an_empty_ssh_key_is_made() -> None:
    first, second = ssh_credentials(""), ssh_credentials("")
    assert first.public_key.startswith("ssh-ed25519 ")
    assert first.public_key != second.public_key
    again = ssh_credentials(json.loads(first.document)["key"])
    assert again.public_key == first.public_key


def test_words_are_no_ssh_key() -> None:
    with pytest.raises(CredentialsError, match="no private key"):
        ssh_credentials("hello")
