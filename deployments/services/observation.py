"""What is on a host: engine, images, ports, and the containers of our replicas."""

import logging
from dataclasses import dataclass

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from deployments.docker_api.client import Engine
from deployments.docker_api.containers import ListedContainer, list_containers
from deployments.docker_api.engine import EngineFacts, engine_facts
from deployments.docker_api.errors import DockerApiError
from deployments.docker_api.images import ImageFacts, list_images
from deployments.models import Host, Reachability
from deployments.models.fleet import HostAccess
from deployments.planning.text import (
    NOTHING,
    Text,
    listed,
    said_by,
    sentences,
    text,
)
from deployments.selectors.fleet import CLOCK_WARNING_MS

logger = logging.getLogger(__name__)

MOST_IMAGES = 500
SLOW_MS = 2000
"""The first answer of an idle engine takes some ten; a degraded host is well again below half of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One look at a host; ``clock_offset_ms`` is its clock less the panel's.

    ``answer_ms`` is how long its first answer took.
    """

    engine: EngineFacts
    images: tuple[ImageFacts, ...]
    containers: tuple[ListedContainer, ...]
    clock_offset_ms: int | None
    answer_ms: int = 0


def look_at(engine: Engine) -> Observation:
    """Ask an engine for everything that planning and the pages need to know.

    Raises:
        DockerApiError: the engine does not answer or answers an error.
    """
    before = timezone.now()
    facts = engine_facts(engine)
    took = timezone.now() - before
    middle = before + took / 2
    offset = facts.system_time - middle if facts.system_time is not None else None
    return Observation(
        engine=facts,
        images=list_images(engine),
        containers=list_containers(engine),
        clock_offset_ms=None
        if offset is None
        else round(offset.total_seconds() * 1000),
        answer_ms=round(took.total_seconds() * 1000),
    )


def store_observation(host: Host, seen: Observation) -> bool:
    """Keep what was seen; ``False`` if another engine answers than the one that was registered.

    The first engine that answers is the registered one.
    """
    Host.objects.filter(pk=host.pk, docker_engine_id="").update(
        docker_engine_id=seen.engine.engine_id
    )
    trouble = _degradation(host, seen)
    same = Host.objects.filter(
        pk=host.pk, docker_engine_id=seen.engine.engine_id
    ).update(
        reachability=Reachability.DEGRADED if trouble else Reachability.REACHABLE,
        reason=trouble,
        seen_at=Now(),
        unreachable_since=None,
        docker_version=seen.engine.version[:40],
        architecture=seen.engine.architecture[:16],
        clock_offset_ms=seen.clock_offset_ms,
        images=_image_rows(seen.images),
        used_ports=_used_ports(seen.containers),
    )
    if same != 1:
        HostAccess.objects.update_or_create(
            host=host, defaults={"offered_engine_id": seen.engine.engine_id[:128]}
        )
        Host.objects.filter(pk=host.pk).update(
            reachability=Reachability.DIFFERENT_ENGINE,
            seen_at=Now(),
            unreachable_since=None,
            reason=text(
                "Another Docker Engine ({id}) answers at this address than the one that was "
                "registered. Nothing is changed there until a team admin confirms it.",
                id=seen.engine.engine_id,
            ),
        )
    host.refresh_from_db()
    return same == 1


def store_faulty(host: Host, error: DockerApiError) -> None:
    """Keep that the host answers, but with an error instead of what was asked."""
    Host.objects.filter(pk=host.pk).update(
        reachability=Reachability.DEGRADED,
        unreachable_since=None,
        reason=said_by(error),
    )
    host.refresh_from_db()


def _degradation(host: Host, seen: Observation) -> Text:
    """What is wrong with a host that answers; nothing stops for it, and people are told."""
    slow_already = host.reachability == Reachability.DEGRADED
    limit_ms = SLOW_MS // 2 if slow_already else SLOW_MS
    told: list[Text] = []
    if seen.answer_ms > limit_ms:
        told.append(
            text(
                "It took {ms} ms to answer: it is busy, or the way to it loses packets.",
                ms=seen.answer_ms,
            )
        )
    offset_ms = seen.clock_offset_ms or 0
    if abs(offset_ms) > CLOCK_WARNING_MS:
        told.append(
            text(
                "Its clock differs by {ms} ms, so times of samples mislead: start chrony or "
                "systemd-timesyncd there.",
                ms=offset_ms,
            )
        )
    ill = host.devices.filter(healthy=False).values_list("number", flat=True)
    if ill:
        told.append(
            text(
                "Devices {numbers} are not healthy: look at them with the accelerator's own tool.",
                numbers=listed(map(str, ill)),
            )
        )
    return sentences(*told) if told else NOTHING


def store_unreachable(host: Host, error: DockerApiError) -> None:
    """Keep that the host did not answer, and since when."""
    with transaction.atomic():
        Host.objects.filter(pk=host.pk).exclude(
            reachability=Reachability.UNREACHABLE
        ).update(reachability=Reachability.UNREACHABLE, unreachable_since=Now())
        Host.objects.filter(pk=host.pk).update(reason=said_by(error))
    host.refresh_from_db()


def _image_rows(images: tuple[ImageFacts, ...]) -> list[dict[str, str | None]]:
    """One row per name, as ``selectors.planning_inputs`` reads them."""
    rows = [
        {
            "reference": reference,
            "image_id": image.image_id,
            "digest": _digest_of(image, reference),
        }
        for image in images
        for reference in image.references
    ]
    return sorted(rows, key=lambda row: str(row["reference"]))[:MOST_IMAGES]


def _digest_of(image: ImageFacts, reference: str) -> str | None:
    """The repository digest under this name; an imported image has none."""
    repository = reference.rpartition(":")[0]
    for one in image.repository_digests:
        name, _at, digest = one.partition("@")
        if name == repository:
            return digest
    return None


def _used_ports(containers: tuple[ListedContainer, ...]) -> list[int]:
    return sorted(
        {port for one in containers if one.running for port in one.host_ports}
    )
