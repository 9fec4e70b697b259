"""Look at the model directories of a host, for people who asked for it, and keep what is there."""

import json
import logging
import uuid
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from pathlib import Path

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from deployments.docker_api.client import Engine
from deployments.docker_api.errors import (
    DockerApiError,
    MountMissingError,
    NoEntrypointError,
)
from deployments.docker_api.images import ImageFacts, list_images
from deployments.models import Host
from deployments.models.model_directory import (
    MOST_DIRECTORIES,
    ModelDirectory,
    ModelListing,
    day,
)
from deployments.planning.canonical import Json
from deployments.planning.container import Mount
from deployments.planning.documents import to_document
from deployments.planning.errors import PlanningError
from deployments.planning.model_config.reading import ModelReading
from deployments.planning.model_directory import (
    DirectoryState,
    FoundDirectory,
    Listing,
    judge,
    read_listing,
    reading_of,
)
from deployments.planning.sizing.read_weights import weight_sizes_of
from deployments.planning.text import NOTHING, Text, said_by, text
from deployments.services.host_access import open_host, prove_same_engine
from deployments.services.throwaway import (
    Program,
    ProgramError,
    Rights,
    remove_leftovers,
    run_program,
)
from practice.image import PRACTICE_IMAGE

logger = logging.getLogger(__name__)
SCRIPT = Path(__file__).with_name("directory_script.py")
MOUNTED_AT = "/models"
BEGIN, END = "LOOK-BEGIN", "LOOK-END"
LONGEST_LOOK_S = 60
MOST_ROOTS = 8
MOST_IMAGES_TRIED = 4
ABANDONED_AFTER = timedelta(minutes=10)
READ_TOGETHER = (
    "odd", "state", "problem", "fix", "has_config", "architecture", "file_count",
    "weight_bytes", "index_digest", "sizes", "reading", "digest", "since", "seen_at",
)  # fmt: skip


def hosts_to_list() -> list[uuid.UUID]:
    """Hosts whose look was asked for and has no result yet."""
    rows = ModelListing.objects.filter(ModelListing.waiting())
    return list(rows.values_list("host_id", flat=True))


def model_roots(host: Host) -> tuple[str, ...]:
    """The directories that plans mount models from: the host's own, and those of its cluster."""
    roots = [host.model_root, *map(str, host.cluster.model_roots)]
    return tuple(dict.fromkeys(root.rstrip("/") for root in roots if root))[:MOST_ROOTS]


def absent_by_listing(host: Host, paths: Iterable[str]) -> tuple[str, ...]:
    """Those of the directories that the last look at the host did not find; none without a whole look."""
    listing = ModelListing.objects.filter(host=host, read_at__isnull=False, cut="")
    row = listing.first()
    if row is None or row.problem:
        return ()
    wanted = {path for path in paths if path.rpartition("/")[0] in model_roots(host)}
    there = ModelDirectory.objects.filter(host=host, path__in=wanted)
    return tuple(sorted(wanted - set(there.values_list("path", flat=True))))


def list_models(host_id: uuid.UUID) -> None:
    """Look at the host's model directories and keep what is there; safe to repeat."""
    host = Host.objects.filter(pk=host_id).select_related("cluster").first()
    if host is None or not _claimed(host):
        return
    problem, cut, others = NOTHING, "", 0
    try:
        prove_same_engine(host)
        with open_host(host) as engine:
            remove_leftovers(engine, str(host.pk))
            roots = model_roots(host)
            problem = NOTHING if roots else _no_root(host)
            for root in roots:
                try:
                    found = look(engine, host, root)
                except MountMissingError:
                    problem = text(
                        "{host} has no directory {path}.", host=host.name, path=root
                    )
                    continue
                problem = problem or _unreadable(found, root)
                cut, others = cut or str(found.cut or ""), others + found.others
                _keep(host, root, found)
            _forget_other_roots(host, roots)
    except (DockerApiError, ProgramError, PlanningError) as error:
        problem = said_by(error)
        logger.info("model listing failed", extra={"host": host.name})
    ModelListing.objects.filter(host=host).update(
        started_at=None, read_at=Now(), problem=problem, cut=cut, others=others
    )


def look(engine: Engine, host: Host, root: str) -> Listing:
    """Look at one root with the first image of the host that has Python.

    Raises:
        ProgramError: no image can do it, or it took too long.
        PlanningError: the answer is none.
        DockerApiError: the directory is not there, or the engine refuses or does not answer.
    """
    # Plans of no other platform let the engine read what is not its own.
    ascend = host.platform.startswith("ascend")
    program = look_program(
        owner=str(host.pk),
        source=root,
        mounts=(Mount(source=root, target=MOUNTED_AT),),
        rights=Rights(cap_add=("DAC_OVERRIDE",) if ascend else ()),
    )
    return first_answer(engine, images_with_python(engine), program)


def look_program(
    *,
    owner: str,
    mounts: tuple[Mount, ...],
    rights: Rights,
    source: str = "",
    only: tuple[str, ...] = (),
) -> Program:
    """The program that looks at what is mounted below ``MOUNTED_AT``, of the host's ``source``."""
    asked = {
        "root": MOUNTED_AT,
        "source": source,
        "only": list(only),
        "seconds": LONGEST_LOOK_S * 0.8,
        "begin": BEGIN,
        "end": END,
    }
    return Program(
        purpose="models",
        owner=owner,
        source=SCRIPT.read_text(encoding="utf-8"),
        arguments=(json.dumps(asked),),
        begin=BEGIN,
        end=END,
        mounts=mounts,
        rights=rights,
        longest_s=LONGEST_LOOK_S,
    )


def first_answer(
    engine: Engine,
    images: Iterable[ImageFacts],
    program: Program,
    on_wait: Callable[[], None] = lambda: None,
) -> Listing:
    """What the first of these images answers that has Python.

    Raises:
        ProgramError: no image can do it, or it took too long.
        PlanningError: the answer is no listing.
        DockerApiError: a directory is not there, or the engine refuses or does not answer.
    """
    refused: ProgramError | None = None
    for image in images:
        try:
            return _listing_of(run_program(engine, image, program, on_wait))
        except NoEntrypointError:
            continue
        except ProgramError as error:
            refused = refused or error
    raise refused or ProgramError(
        text(
            "No image on {host} has the Python that looking needs. Pull the engine's image there, "
            "or build the practice image.",
            host=engine.host,
        )
    )


def images_with_python(engine: Engine) -> list[ImageFacts]:
    """Images of the host that most likely have Python, the small ones first.

    Raises:
        DockerApiError: the engine does not answer or answers an error.
    """

    def order(image: ImageFacts) -> tuple[bool, bool, int]:
        names = " ".join(image.references)
        return PRACTICE_IMAGE not in names, "vllm" not in names, image.size_bytes

    return sorted(list_images(engine), key=order)[:MOST_IMAGES_TRIED]


def _listing_of(content: bytes) -> Listing:
    try:
        return read_listing(json.loads(content))
    except (ValueError, RecursionError) as error:
        raise PlanningError(
            text("The answer of the container is no listing.")
        ) from error


def _claimed(host: Host) -> bool:
    """Whether this worker may look: nobody else is at it, or was lost at it."""
    free = Q(started_at=None) | Q(started_at__lt=timezone.now() - ABANDONED_AFTER)
    rows = ModelListing.objects.filter(ModelListing.waiting() & free, host=host)
    return rows.update(started_at=Now()) == 1


def _no_root(host: Host) -> Text:
    return text(
        "No model directory is set for {host}: enter one on its page, or let a team admin add it to "
        "the cluster.",
        host=host.name,
    )


def _unreadable(found: Listing, root: str) -> Text:
    if not found.problem:
        return NOTHING
    return text(
        "{path} may not be read by the user of the containers: chmod a+rx {path} on the host.",
        path=root,
    )


def _keep(host: Host, root: str, found: Listing) -> None:
    """Store what was found below a root; what is no longer there goes, unless the look was cut."""
    now = timezone.now()
    known = {row.path: row for row in ModelDirectory.objects.filter(host=host)}
    rows = [_row(host, root, one, known, now) for one in found.directories]
    rows = list({row.path: row for row in rows}.values())[:MOST_DIRECTORIES]
    with transaction.atomic():
        ModelDirectory.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["host", "path"],
            update_fields=READ_TOGETHER,
        )
        if found.cut is None and not found.problem:
            here = {row.path for row in rows}
            gone = [
                row.pk
                for path, row in known.items()
                if path.startswith(f"{root}/") and path not in here
            ]
            ModelDirectory.objects.filter(pk__in=gone).delete()


def _forget_other_roots(host: Host, roots: tuple[str, ...]) -> None:
    """Directories of a root that is no longer the host's tell nothing any more."""
    rows = ModelDirectory.objects.filter(host=host)
    for root in roots:
        rows = rows.exclude(path__startswith=f"{root}/")
    rows.delete()


def _row(
    host: Host,
    root: str,
    found: FoundDirectory,
    known: dict[str, ModelDirectory],
    now: datetime,
) -> ModelDirectory:
    path = f"{root}/{found.name}"
    before = known.get(path)
    same = before is not None and before.digest == found.digest
    since = before.since if before is not None and same else now
    judged = judge(found, path)
    reading = reading_of(found, f"files on {host.name}, {day(since)}")
    whole = judged.state is DirectoryState.COMPLETE
    return ModelDirectory(
        host=host,
        path=path,
        odd=found.odd or "/" in found.name,
        state=judged.state.value,
        problem=judged.problem,
        fix=judged.fix,
        has_config=found.config is not None,
        architecture=(reading.architecture if reading else None) or "",
        file_count=len(found.files),
        weight_bytes=found.weight_bytes,
        index_digest=found.index.sha256[:64] if found.index else "",
        sizes=_sizes(found, reading) if whole else None,
        reading=None if reading is None else to_document(reading),
        digest=found.digest,
        since=since,
        seen_at=now,
    )


def _sizes(found: FoundDirectory, reading: ModelReading | None) -> Json:
    if found.tensors is None:
        return None
    layers = reading.layers if reading is not None else None
    return to_document(weight_sizes_of(found.tensors, layers))
