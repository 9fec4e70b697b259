"""PULL: find the image of a replica on its host, or get it there."""

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection

from deployments.docker_api.client import Engine
from deployments.docker_api.errors import (
    DockerApiError,
    ImageMissingError,
    PullCancelledError,
)
from deployments.docker_api.images import (
    ImageFacts,
    PullProgress,
    find_image,
    pull_image,
    registry_digest,
)
from deployments.models import PreflightCheck, ReleaseState, Replica
from deployments.planning.container import ImageReference
from deployments.planning.text import Text, text
from deployments.services.rollout.checklist import Checklist
from deployments.services.rollout.claims import Claim, LeaseLostError
from deployments.services.rollout.disk_check import prove_disk
from deployments.services.rollout.journal import Act
from deployments.services.rollout.outcomes import Done, StepFailedError
from deployments.services.rollout.rollout import Layout, Member, Rollout
from deployments.services.rollout.weights_check import prove_weights_with

PROGRESS_EVERY_S = 2.0
RATE_OVER = 6
"""Looks at the progress over which its rate is taken."""


def pull(rollout: Rollout, act: Act, member: Member) -> Done:
    """Find the image, or pull it, and keep the id of exactly what was found.

    Raises:
        StepFailedError: the image can only come onto the host by hand, or the weights are not whole.
        PullCancelledError: a person cancelled the release.
        DockerApiError: the host or the registry refuses or does not answer.
    """
    wanted = member.planned.container.image
    with rollout.engine(member.host) as engine:
        found = find_image(
            engine, wanted.reference, digest=wanted.digest, image_id=wanted.image_id
        )
        if found is None:
            found = _pull_noting(rollout, act, member, engine)
            if found is not None:
                prove_weights_with(rollout, engine, member, found)
    if found is None:
        raise StepFailedError(
            "image_missing",
            text(
                "the image {image} is not there after a pull that reported success",
                image=wanted.reference,
            ),
            text("Check the image's name and tag."),
        )
    return _keep(rollout, member, found)


def _pull_noting(
    rollout: Rollout, act: Act, member: Member, engine: Engine
) -> ImageFacts | None:
    wanted = member.planned.container.image
    noted = Checklist(rollout.release.request_id, trial=False)
    try:
        prove_disk(rollout, noted, engine, member.host)
        with noted.checking(
            PreflightCheck.IMAGE, member.host, image=wanted.reference
        ) as told:
            _refuse_unpullable(member, engine)
            watch = _Watch(rollout, act)
            with _heartbeat(rollout.claim, watch), _tag_told(engine, wanted):
                pull_image(
                    engine,
                    wanted.reference,
                    digest=wanted.digest,
                    on_progress=watch.take,
                )
            told.sentence = is_there(member)
    finally:
        noted.store()
    return find_image(engine, wanted.reference, digest=wanted.digest)


def prove_pullable(layout: Layout, found: Checklist) -> None:
    """Find every image on its host, or in its registry, and keep the ids of those that are there.

    Raises:
        StepFailedError: an image can only come onto the host by hand.
        DockerApiError: the host or the registry refuses or does not answer.
    """
    for host in layout.hosts:
        wanted: dict[ImageReference, list[Member]] = {}
        for member in layout.members_on(host):
            wanted.setdefault(member.planned.container.image, []).append(member)
        for image, members in wanted.items():
            with (
                found.checking(
                    PreflightCheck.IMAGE, host, image=image.reference
                ) as told,
                layout.engine(host) as engine,
            ):
                told.sentence = _look_for(engine, members)


def _look_for(engine: Engine, members: list[Member]) -> Text:
    wanted = members[0].planned.container.image
    there = find_image(
        engine, wanted.reference, digest=wanted.digest, image_id=wanted.image_id
    )
    for member in members:
        member.row.image_id = there.image_id if there else ""
    if there is not None:
        return is_there(members[0])
    _refuse_unpullable(members[0], engine)
    with _tag_told(engine, wanted):
        offered = registry_digest(engine, wanted.reference, digest=wanted.digest)
    return text(
        "The image {image} is not on {host} yet; its registry offers {digest}.",
        image=wanted.reference,
        host=members[0].host.name,
        digest=offered,
    )


@contextmanager
def _tag_told(engine: Engine, wanted: ImageReference) -> Iterator[None]:
    """Say so where the registry lacks the approved image because its tag leads to another one now.

    Raises:
        StepFailedError: it does; never is another image taken than the one that was approved.
        ImageMissingError: the registry lacks both.
    """
    try:
        yield
    except ImageMissingError as error:
        if wanted.digest is None:
            raise
        try:
            now = registry_digest(engine, wanted.reference)
        except DockerApiError:
            raise error from None
        if now in {"", wanted.digest}:
            raise
        raise StepFailedError(
            "tag_moved",
            text(
                "the tag {image} was moved: its registry now offers {now} and no longer {digest}, which "
                "the plan names",
                image=wanted.reference,
                now=now,
                digest=wanted.digest,
            ),
            text(
                "Plan the revision again for the new image, or put the approved one back into the registry."
            ),
            final=ReleaseState.BLOCKED,
        ) from error


def is_there(member: Member) -> Text:
    """What is said of an image that is on its host."""
    return text(
        "The image {image} is on {host}.",
        image=member.planned.container.image.reference,
        host=member.host.name,
    )


def _refuse_unpullable(member: Member, engine: Engine) -> None:
    wanted = member.planned.container.image
    if member.planned.practice:
        raise StepFailedError(
            "image_missing",
            text(
                "the practice image {image} is not on {host}",
                image=wanted.reference,
                host=member.host.name,
            ),
            text("Run `make practice-image`, then release again."),
        )
    if wanted.image_id is not None and wanted.digest is None:
        named = find_image(engine, wanted.reference)
        if named is not None:
            raise StepFailedError(
                "tag_moved",
                text(
                    "the tag {image} was moved on {host}: it now names the image {now}, and {id}, which the "
                    "plan names, is gone",
                    image=wanted.reference,
                    host=member.host.name,
                    now=named.image_id[7:19],
                    id=wanted.image_id[7:19],
                ),
                text(
                    "Plan the revision again for the new image, or import the approved one again."
                ),
                final=ReleaseState.BLOCKED,
            )
        raise StepFailedError(
            "image_missing",
            text(
                "the plan names the local image {id} of {image}, which is no longer on {host}",
                id=wanted.image_id[7:19],
                image=wanted.reference,
                host=member.host.name,
            ),
            text("Import the same image again, or plan again with what is there now."),
        )


def _keep(rollout: Rollout, member: Member, found: ImageFacts) -> Done:
    with rollout.claim.fenced():
        Replica.objects.filter(pk=member.row.pk).update(image_id=found.image_id)
    member.row.image_id = found.image_id
    return Done(is_there(member), {"image_id": found.image_id})


class _Watch:
    """Shows progress in the journal, and ends the pull when it is cancelled or taken over."""

    def __init__(self, rollout: Rollout, act: Act) -> None:
        self._rollout, self._act = rollout, act
        self._shown_at = 0.0
        self._lately: deque[tuple[float, int]] = deque(maxlen=RATE_OVER)
        self.stop = threading.Event()

    def take(self, progress: PullProgress) -> bool:
        """Keep the progress at most every two seconds; false ends the pull."""
        now = time.monotonic()
        if now - self._shown_at >= PROGRESS_EVERY_S:
            self._shown_at = now
            self._lately.append((now, progress.current_bytes))
            with self._rollout.claim.fenced():
                self._rollout.journal.note_progress(
                    self._act,
                    {
                        "current_bytes": progress.current_bytes,
                        "total_bytes": progress.total_bytes,
                        "layers_done": progress.layers_done,
                        "layers": progress.layers,
                        "bytes_per_s": self._rate(),
                    },
                )
        return not self.stop.is_set()

    def _rate(self) -> int | None:
        """Bytes a second over the last looks; ``None`` at the first."""
        (first_at, first), (last_at, last) = self._lately[0], self._lately[-1]
        if last_at <= first_at:
            return None
        return max(0, round((last - first) / (last_at - first_at)))


@contextmanager
def _heartbeat(claim: Claim, watch: _Watch) -> Iterator[None]:
    """Keep the lease while the registry is silent."""
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(settings.COMMAND_HEARTBEAT_SECONDS):
            try:
                claim.renew()
            except LeaseLostError:
                watch.stop.set()
                break
            if claim.cancel_requested():
                watch.stop.set()
        connection.close()

    thread = threading.Thread(target=beat, name="lease", daemon=True)
    thread.start()
    try:
        yield
    except PullCancelledError:
        claim.renew()
        raise
    finally:
        ended.set()
        thread.join()
