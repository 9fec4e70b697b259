"""PULL: find the image of a replica on its host, or get it there."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from deployments.docker_api.errors import PullCancelledError
from deployments.docker_api.images import (
    ImageFacts,
    PullProgress,
    find_image,
    pull_image,
)
from deployments.models import Replica
from deployments.planning.text import text
from deployments.services.rollout.claims import Claim, LeaseLostError
from deployments.services.rollout.journal import Act
from deployments.services.rollout.outcomes import Done, StepFailedError
from deployments.services.rollout.rollout import Member, Rollout
from deployments.services.rollout.weights_check import prove_weights_with

PROGRESS_EVERY_S = 2.0
HEARTBEAT_S = 10.0


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
            _refuse_unpullable(member)
            watch = _Watch(rollout, act)
            with _heartbeat(rollout.claim, watch):
                pull_image(
                    engine,
                    wanted.reference,
                    digest=wanted.digest,
                    on_progress=watch.take,
                )
            found = find_image(engine, wanted.reference, digest=wanted.digest)
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


def _refuse_unpullable(member: Member) -> None:
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
    return Done(
        text(
            "The image {image} is on {host}.",
            image=member.planned.container.image.reference,
            host=member.host.name,
        ),
        {"image_id": found.image_id},
    )


class _Watch:
    """Shows progress in the journal, and ends the pull when it is cancelled or taken over."""

    def __init__(self, rollout: Rollout, act: Act) -> None:
        self._rollout, self._act = rollout, act
        self._shown_at = 0.0
        self.stop = threading.Event()

    def take(self, progress: PullProgress) -> bool:
        """Keep the progress at most every two seconds; false ends the pull."""
        now = time.monotonic()
        if now - self._shown_at >= PROGRESS_EVERY_S:
            self._shown_at = now
            with self._rollout.claim.fenced():
                self._rollout.journal.note_progress(
                    self._act,
                    {
                        "current_bytes": progress.current_bytes,
                        "total_bytes": progress.total_bytes,
                        "layers_done": progress.layers_done,
                        "layers": progress.layers,
                    },
                )
        return not self.stop.is_set()


@contextmanager
def _heartbeat(claim: Claim, watch: _Watch) -> Iterator[None]:
    """Keep the lease while the registry is silent."""
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(HEARTBEAT_S):
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
