"""Drift: how a container differs from what its release says of it, in words; nothing is changed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models.functions import Now

from deployments.docker_api.containers import (
    ContainerFacts,
    ListedContainer,
    changeable_settings,
)
from deployments.docker_api.reading import as_object
from deployments.models import DriftKind, Host, Release, ReleaseState, Replica
from deployments.models.release import CHANGING_STATES
from deployments.planning.container import ContainerSpec, NetworkMode
from deployments.planning.launch.engine_api import create_body
from deployments.planning.text import NOTHING, Text, listed, sentences, text
from deployments.services.rollout.journal import OBSERVED, note
from deployments.services.rollout.rollout import INSTANCE_LABEL, RELEASE_LABEL

MOST_STRANGERS = 50
RESTORE = text("“Restore” releases the same approved plan again.")
RESTORE_OR_ALLOW = text(
    "Undo it on the host, or use “Restore”: it releases the same approved plan again."
)
FREE_THE_NAME = text(
    "Rename or remove that container on the host, then use “Restore”: it releases the same "
    "approved plan again."
)
STOP_IT = text("Stop it here or on the host: nothing is booked for it any more.")


@dataclass(frozen=True, slots=True)
class Drift:
    """One difference: what kind, what is seen in a sentence, and what a person does about it."""

    kind: DriftKind
    said: Text
    action: Text


def drift_of(
    replica: Replica,
    planned: ContainerSpec,
    facts: ContainerFacts | None,
    containers: Iterable[ListedContainer],
) -> Drift | None:
    """Compare what the engine says with a release that should run; ``None`` if nothing differs.

    ``facts`` are of the container's id, ``containers`` all that the engine has.
    """
    what = {"name": replica.container_name, "host": replica.host.name}
    holder = _holder_of_name(replica, containers)
    if facts is None:
        return _gone(what, holder)
    if not facts.running:
        return Drift(
            DriftKind.STOPPED, text("{name} on {host} does not run.", **what), RESTORE
        )
    if facts.state == "paused":
        return Drift(
            DriftKind.PAUSED,
            text("{name} on {host} was paused outside the panel.", **what),
            RESTORE_OR_ALLOW,
        )
    if facts.name != replica.container_name:
        return _renamed(what, facts.name, holder)
    changes = _changes(planned, facts)
    if changes:
        return Drift(
            DriftKind.CHANGED,
            text(
                "{name} on {host} was changed outside the panel: {changes}.",
                changes=listed(changes),
                **what,
            ),
            RESTORE_OR_ALLOW,
        )
    return None


def started_again(replica: Replica, why: Text = NOTHING) -> Drift:
    """A container that runs although its release has ended."""
    said = text(
        "{name} on {host} was started outside the panel; the release has ended.",
        name=replica.container_name,
        host=replica.host.name,
    )
    return Drift(DriftKind.STARTED, sentences(said, why), STOP_IT)


def store_drift(replica: Replica, drift: Drift | None) -> None:
    """Keep what differs now; a new kind of difference, and its end, are noted in the journal."""
    kind = drift.kind if drift else ""
    said = drift.said if drift else NOTHING
    action = drift.action if drift else NOTHING
    rows = Replica.objects.filter(pk=replica.pk)
    since = Now() if drift else None
    changed = rows.exclude(drift=kind).update(
        drift=kind, drift_text=said, drift_action=action, drift_since=since
    )
    if not changed:
        if drift and said != replica.drift_text:
            rows.update(drift_text=said, drift_action=action)
        return
    over = text(
        "{name} on {host} is again as the release says.",
        name=replica.container_name,
        host=replica.host.name,
    )
    newest = replica.release.events.order_by("-sequence").first()
    if drift is None or newest is None or newest.message != said:
        note(replica.release, OBSERVED, said or over, {"drift": str(kind)})


def strangers_among(
    host: Host, containers: Iterable[ListedContainer]
) -> list[dict[str, str]]:
    """Containers with this panel's label that no record knows; they are shown and left alone.

    Those of a release that is being changed may not be recorded yet.
    """
    ours = [one for one in containers if one.labels.get(INSTANCE_LABEL) == str(host.pk)]
    if not ours:
        return []
    known = set(
        Replica.objects.filter(host=host).values_list("container_id", flat=True)
    )
    changing = {
        str(pk)
        for pk in Release.objects.filter(
            state__in=CHANGING_STATES, replicas__host=host
        ).values_list("pk", flat=True)
    }
    found = [
        {"name": one.name, "state": one.state}
        for one in ours
        if one.container_id not in known
        and one.labels.get(RELEASE_LABEL) not in changing
    ]
    return sorted(found, key=lambda one: one["name"])[:MOST_STRANGERS]


def should_run(release: Release) -> bool:
    """Whether the panel's records say that this release serves, or did until it was lost."""
    if release.state == ReleaseState.LIVE:
        return True
    lost = release.state == ReleaseState.FAILED and release.live_at is not None
    return (
        lost
        and not release.deployment.releases.filter(number__gt=release.number).exists()
    )


def _holder_of_name(
    replica: Replica, containers: Iterable[ListedContainer]
) -> ListedContainer | None:
    return next(
        (
            one
            for one in containers
            if one.name == replica.container_name
            and one.container_id != replica.container_id
        ),
        None,
    )


def _gone(what: Mapping[str, str], holder: ListedContainer | None) -> Drift:
    if holder is None:
        return Drift(
            DriftKind.REMOVED,
            text("{name} on {host} was removed outside the panel.", **what),
            RESTORE,
        )
    return Drift(
        DriftKind.REPLACED,
        text(
            "{name} on {host} was removed outside the panel, and another container has its name; "
            "that one is left alone.",
            **what,
        ),
        FREE_THE_NAME,
    )


def _renamed(
    what: Mapping[str, str], now: str, holder: ListedContainer | None
) -> Drift:
    said = text(
        "{name} on {host} was renamed to {now} outside the panel.", now=now, **what
    )
    if holder is None:
        return Drift(DriftKind.RENAMED, said, RESTORE_OR_ALLOW)
    taken = text("Another container has its name; that one is left alone.")
    return Drift(DriftKind.RENAMED, sentences(said, taken), FREE_THE_NAME)


def _changes(planned: ContainerSpec, facts: ContainerFacts) -> list[str]:
    """The settings that differ, each as one clause."""
    wanted = dict(
        changeable_settings(as_object(create_body(planned).get("HostConfig")))
    )
    seen = dict(facts.settings)
    changes: list[str] = []
    for name in sorted(wanted.keys() | seen.keys()):
        before, now = wanted.get(name), seen.get(name)
        if before == now:
            continue
        if before is None:
            said = text("{setting} is {now}", setting=name, now=str(now))
        elif now is None:
            said = text("{setting} is no longer {before}", setting=name, before=before)
        else:
            said = text(
                "{setting} is {now} instead of {before}",
                setting=name,
                now=now,
                before=before,
            )
        changes.append(said)
    mode = planned.network_mode
    if mode is not NetworkMode.NONE and mode.value not in facts.networks:
        changes.append(
            text("it is no longer in the network {network}", network=mode.value)
        )
    return changes
