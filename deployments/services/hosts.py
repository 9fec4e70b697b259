"""Add, change and remove hosts: what people know of them and their engines cannot tell."""

import uuid
from dataclasses import asdict, dataclass

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from deployments.models import (
    AuditAction,
    Booking,
    Cluster,
    Host,
    Platform,
    Reachability,
    Replica,
    ReplicaState,
    TeamRole,
    User,
)
from deployments.models.fleet import HostAccess
from deployments.planning.engine_address import EngineAddress
from deployments.planning.text import NOTHING
from deployments.services.access import require_role
from deployments.services.audit import record
from deployments.services.audit_subjects import subject_of
from deployments.services.errors import ConflictError
from deployments.services.host_credentials import HostCredentials
from deployments.services.secrets import seal
from deployments.services.waking import wake

TEST_CONNECTION = "deployments.test_connection"
MOST_HOSTS = 2000
"""For each cluster; pages and rounds are measured up to this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """Facts entered by hand; an empty text is unknown."""

    model_root: str
    address: str
    interface: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewHost:
    """What a host is added with."""

    name: str
    platform: Platform
    address: EngineAddress
    credentials: HostCredentials


def change_host_facts(user: User, host: Host, facts: HostFacts) -> None:
    """Keep the facts; plans made from others become stale by their snapshot digests.

    Raises:
        NotAllowedError: the person is no admin of the host's team.
    """
    require_role(user, host.cluster.team, TeamRole.ADMIN)
    new = asdict(facts)
    with transaction.atomic():
        old = Host.objects.filter(pk=host.pk).values(*new).get()
        Host.objects.filter(pk=host.pk).update(**new)
        record(AuditAction.HOST_CHANGED, user, host, before=old, after=new)


def access_owner(host_id: uuid.UUID) -> str:
    """To whom the credentials of a host are sealed."""
    return f"host:{host_id}"


def add_host(user: User, cluster: Cluster, new: NewHost) -> Host:
    """Add a host and ask for a test of the way to it.

    Raises:
        NotAllowedError: the person is no admin of the cluster's team.
        ConflictError: the cluster has a host of this name, or as many as it may have.
        SecretsError: the panel has no key for secrets.
    """
    require_role(user, cluster.team, TeamRole.ADMIN)
    if cluster.hosts.count() >= MOST_HOSTS:
        raise ConflictError(
            _(
                "%(cluster)s has %(count)s hosts, which is as many as a cluster may have."
            )
            % {"cluster": cluster.name, "count": MOST_HOSTS}
        )
    try:
        with transaction.atomic():
            host = Host.objects.create(
                cluster=cluster,
                name=new.name,
                platform=new.platform,
                docker_address=str(new.address),
            )
            access = HostAccess.objects.create(host=host)
            _keep(access, new.credentials)
            told = {"address": host.docker_address, "platform": host.platform}
            record(AuditAction.HOST_ADDED, user, host, after=told)
    except IntegrityError as error:
        raise ConflictError(
            _("%(cluster)s already has a host called %(name)s: choose another name.")
            % {"cluster": cluster.name, "name": new.name}
        ) from error
    ask_for_test(user, host)
    return host


def change_address(
    user: User, host: Host, address: EngineAddress, credentials: HostCredentials | None
) -> bool:
    """Reach the host elsewhere or with other credentials, then test the way; whether they were cleared.

    A new address clears what was kept for the old one, so that no secret is ever sent to a place that
    it was not entered for; also the confirmed host key of SSH.

    Raises:
        NotAllowedError: the person is no admin of the host's team.
        SecretsError: the panel has no key for secrets.
    """
    require_role(user, host.cluster.team, TeamRole.ADMIN)
    cleared = False
    with transaction.atomic():
        access = access_row(host)
        moved = host.docker_address != str(address)
        if moved:
            cleared = bool(access.sealed) and credentials is None
            access.sealed = access.public_key = ""
            access.host_key = access.offered_host_key = ""
            access.authority_expires_at = access.certificate_expires_at = None
            access.server_expires_at = None
            access.save()
            Host.objects.filter(pk=host.pk).update(
                docker_address=str(address),
                reachability=Reachability.UNKNOWN,
                unreachable_since=None,
                reason=NOTHING,
            )
        if credentials is not None:
            _keep(access, credentials)
            record(AuditAction.HOST_CREDENTIALS, user, host)
        if moved:
            old, new = {"address": host.docker_address}, {"address": str(address)}
            record(AuditAction.HOST_MOVED, user, host, before=old, after=new)
    ask_for_test(user, host)
    return cleared


def confirm_host_key(user: User, host: Host, offered: str) -> None:
    """Pin the SSH host key that the page showed, then test the way again.

    Raises:
        NotAllowedError: the person is no admin of the host's team.
        ConflictError: the host shows another key by now.
    """
    require_role(user, host.cluster.team, TeamRole.ADMIN)
    with transaction.atomic():
        done = HostAccess.objects.filter(host=host, offered_host_key=offered).update(
            host_key=offered, offered_host_key=""
        )
        if not offered or done != 1:
            raise ConflictError(
                _("The host shows another key by now. Compare the new fingerprint.")
            )
        record(AuditAction.HOST_KEY, user, host, after={"host_key": offered})
    ask_for_test(user, host)


def confirm_engine(user: User, host: Host, offered: str) -> None:
    """Take the other Docker Engine that answers for the host's from now on.

    Raises:
        NotAllowedError: the person is no admin of the host's team.
        ConflictError: another engine answers by now.
    """
    require_role(user, host.cluster.team, TeamRole.ADMIN)
    with transaction.atomic():
        done = HostAccess.objects.filter(host=host, offered_engine_id=offered).update(
            offered_engine_id=""
        )
        if not offered or done != 1:
            raise ConflictError(
                _("Another Docker Engine answers by now. Look at its id again.")
            )
        Host.objects.filter(pk=host.pk).update(
            docker_engine_id=offered, reachability=Reachability.UNKNOWN, reason=NOTHING
        )
        old, new = {"engine": host.docker_engine_id}, {"engine": offered}
        record(AuditAction.HOST_ENGINE, user, host, before=old, after=new)
    ask_for_test(user, host)


def remove_host(user: User, host: Host) -> None:
    """Forget a host and its credentials; nothing is changed on the machine.

    Raises:
        NotAllowedError: the person is no admin of the host's team.
        ConflictError: a container, a booking or the history of a release still names it.
    """
    require_role(user, host.cluster.team, TeamRole.ADMIN)
    held = Replica.objects.filter(host=host).exclude(state=ReplicaState.REMOVED)
    if held.exists() or Booking.objects.filter(host=host, released_at=None).exists():
        raise ConflictError(
            _(
                "Containers of the panel are still on %(host)s: stop and remove their releases first."
            )
            % {"host": host.name}
        )
    if Replica.objects.filter(host=host).exists():
        raise ConflictError(
            _(
                "Earlier releases ran on %(host)s and keep naming it. Change its address instead."
            )
            % {"host": host.name}
        )
    with transaction.atomic():
        removed = subject_of(host)
        told = {"address": host.docker_address}
        host.delete()
        record(AuditAction.HOST_REMOVED, user, removed, before=told)


def ask_for_test(user: User, host: Host) -> None:
    """Have a worker walk the way to the host step by step; the row is the truth, a message only wakes.

    Raises:
        NotAllowedError: the person is no admin of the host's team.
    """
    require_role(user, host.cluster.team, TeamRole.ADMIN)
    with transaction.atomic():
        access_row(host)
        HostAccess.objects.filter(host=host).update(
            test_asked_at=Now(), tested_at=None, steps=[]
        )
        transaction.on_commit(lambda: wake(TEST_CONNECTION, [host.pk]))


def access_row(host: Host) -> HostAccess:
    """The row that holds how the host is reached; the local host has none until it is needed."""
    row, _made = HostAccess.objects.get_or_create(host=host)
    return row


def _keep(access: HostAccess, credentials: HostCredentials) -> None:
    access.sealed = seal(credentials.document, owner=access_owner(access.host_id))
    access.authority_expires_at = credentials.authority_expires_at
    access.certificate_expires_at = credentials.certificate_expires_at
    access.public_key = credentials.public_key
    access.save()
