"""Images of an engine: what is there, getting what is missing, and importing the practice image."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import BinaryIO
from urllib.parse import quote

import requests
from pydantic import JsonValue as Json

from deployments.docker_api.client import Engine
from deployments.docker_api.errors import (
    DockerApiError,
    EngineTimeoutError,
    ImageMissingError,
    NotFoundError,
    PullCancelledError,
    PullStalledError,
)
from deployments.docker_api.reading import as_object, objects, string, text_map, texts
from deployments.docker_api.translation import from_answer, message_of, translated
from deployments.planning.text import Text, said_by, text

IMPORT_TIMEOUT_S = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class PullLimits:
    """How long a pull may take in all, and how long without a byte, in seconds."""

    total_s: float = 3600
    stall_s: float = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFacts:
    """An image on a host: local id, its names, and its repository digests (``name@sha256:...``)."""

    image_id: str
    references: tuple[str, ...]
    repository_digests: tuple[str, ...]
    size_bytes: int
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PullProgress:
    """How far a pull is, in bytes of the layers that the engine has spoken of so far."""

    current_bytes: int
    total_bytes: int
    layers_done: int
    layers: int


def list_images(engine: Engine) -> tuple[ImageFacts, ...]:
    """All named images of the host, by id.

    Raises:
        DockerApiError: the engine does not answer or answers an error.
    """
    rows = engine.call("GET", "/images/json", act=text("list its images"))
    facts = (_facts(row) for row in objects(rows))
    return tuple(sorted(facts, key=lambda image: image.image_id))


def find_image(
    engine: Engine,
    reference: str,
    *,
    digest: str | None = None,
    image_id: str | None = None,
) -> ImageFacts | None:
    """The image on the host: by local id, else by repository digest, else by its name.

    Raises:
        DockerApiError: the engine does not answer or answers an error.
    """
    asked = image_id or (
        f"{repository_of(reference)}@{digest}" if digest else reference
    )
    path = f"/images/{quote(asked, safe='/:@')}/json"
    try:
        row = engine.call(
            "GET", path, act=text("look for the image {image}", image=asked)
        )
    except NotFoundError:
        return None
    return _facts(as_object(row))


def environment_of(engine: Engine, image: ImageFacts) -> dict[str, str]:
    """The variables that the image itself sets.

    Raises:
        DockerApiError: the engine does not answer or answers an error.
    """
    act = text("describe the image {image}", image=image.image_id)
    row = engine.call("GET", f"/images/{image.image_id}/json", act=act)
    found = texts(as_object(as_object(row).get("Config")), "Env")
    pairs = (line.partition("=") for line in found)
    return {name: value for name, _equals, value in pairs}


def repository_of(reference: str) -> str:
    """The reference without tag and digest: ``registry:5000/a/b:tag`` -> ``registry:5000/a/b``."""
    name = reference.partition("@")[0]
    head, colon, tail = name.rpartition(":")
    return head if colon and "/" not in tail else name


def registry_digest(
    engine: Engine, reference: str, *, digest: str | None = None
) -> str:
    """The digest that the image has in its registry, asked by the host; nothing is pulled.

    Raises:
        ImageMissingError, RegistryDeniedError, RegistryUnavailableError: as named.
        DockerApiError: the engine does not answer or answers another error.
    """
    asked = f"{repository_of(reference)}@{digest}" if digest else reference
    act = text("find the image {image} in its registry", image=asked)
    path = f"/distribution/{quote(asked, safe='/:@')}/json"
    try:
        answer = as_object(engine.call("GET", path, act=act))
    except NotFoundError as error:
        raise ImageMissingError(said_by(error)) from error
    return str(as_object(answer.get("Descriptor")).get("digest") or "")


def pull_image(
    engine: Engine,
    reference: str,
    *,
    digest: str | None = None,
    on_progress: Callable[[PullProgress], bool],
    limits: PullLimits = PullLimits(),
) -> None:
    """Pull by digest where one is given, else by name; ends when ``on_progress`` answers false.

    Raises:
        ImageMissingError, RegistryDeniedError, RegistryUnavailableError, DiskFullError: as named.
        PullStalledError: no byte came for too long, or all took too long (``limits``).
        PullCancelledError: ``on_progress`` asked to end it.
        DockerApiError: the engine does not answer or answers another error.
    """
    repository = repository_of(reference)
    tag = digest or reference.removeprefix(repository).lstrip(":").partition("@")[0]
    act = text("pull {repository}:{tag}", repository=repository, tag=tag or "latest")
    watch = _PullWatch(engine.host, act, limits)
    try:
        with (
            translated(engine.host, act),
            engine.api.post(
                engine.url("/images/create"),
                params={"fromImage": repository, "tag": tag or "latest"},
                stream=True,
                timeout=(engine.api.timeout, limits.stall_s),
            ) as answer,
        ):
            if answer.status_code >= HTTPStatus.BAD_REQUEST:
                words = message_of(answer.content)
                raise from_answer(engine.host, act, answer.status_code, words)
            for message in _messages(answer):
                if not on_progress(watch.take(message)):
                    raise PullCancelledError(
                        text(
                            "The pull of {reference} was cancelled.",
                            reference=reference,
                        )
                    )
    except EngineTimeoutError as error:
        raise watch.stalled() from error


class _PullWatch:
    """Adds up the progress of a pull and knows when it is too long ago."""

    def __init__(self, host: str, act: Text | str, limits: PullLimits) -> None:
        self._host, self._act = host, act
        self._limits = limits
        self._began = self._moved = time.monotonic()
        self._layers: dict[str, tuple[int, int]] = {}
        self._done: set[str] = set()
        self._best = -1

    def take(self, message: dict[str, object]) -> PullProgress:
        """Note one message of the engine.

        Raises:
            DockerApiError: the message is an error, or a limit has passed.
        """
        if "error" in message:
            raise from_answer(self._host, self._act, None, str(message["error"]))
        self._note_layer(message)
        progress = PullProgress(
            current_bytes=sum(current for current, _total in self._layers.values()),
            total_bytes=sum(total for _current, total in self._layers.values()),
            layers_done=len(self._done),
            layers=len(self._layers),
        )
        score = progress.current_bytes + len(self._done) + len(self._layers)
        now = time.monotonic()
        if score != self._best:
            self._best, self._moved = score, now
        if (
            now - self._moved > self._limits.stall_s
            or now - self._began > self._limits.total_s
        ):
            raise self.stalled()
        return progress

    def stalled(self) -> PullStalledError:
        """The error for a pull that takes too long."""
        return PullStalledError(
            text(
                "The Docker Engine of {host} could not {act}: no progress for {stall_s} s, or more "
                "than {total_s} s in all. Look at the way to the registry, then start again: "
                "finished layers are kept.",
                host=self._host,
                act=self._act,
                stall_s=f"{self._limits.stall_s:.0f}",
                total_s=f"{self._limits.total_s:.0f}",
            )
        )

    def _limits_passed(self, now: float) -> bool:
        stalled = now - self._moved > self._limits.stall_s
        return stalled or now - self._began > self._limits.total_s

    def _note_layer(self, message: dict[str, object]) -> None:
        layer, status = str(message.get("id") or ""), str(message.get("status") or "")
        if not layer or status.startswith("Pulling from"):
            return
        detail = message.get("progressDetail")
        current, total = self._layers.get(layer, (0, 0))
        if isinstance(detail, dict) and "current" in detail:
            current, total = int(detail["current"]), int(detail.get("total") or total)
        self._layers[layer] = (current, total)
        if status in {"Pull complete", "Already exists"}:
            self._done.add(layer)


def _messages(answer: requests.Response) -> Iterator[dict[str, object]]:
    for line in answer.iter_lines(chunk_size=4096):
        if line:
            message = json.loads(line)
            if isinstance(message, dict):
                yield message


def import_image(
    engine: Engine,
    archive: BinaryIO,
    *,
    repository: str,
    tag: str,
    changes: tuple[str, ...],
) -> str:
    """Make an image of a tar archive of a root file system; returns its id.

    ``changes`` are Dockerfile instructions (``ENV``, ``CMD``, ``LABEL`` ...).

    Raises:
        DockerApiError: the engine does not answer or answers an error.
    """
    act = text("import the image {repository}:{tag}", repository=repository, tag=tag)
    with translated(engine.host, act):
        answer = engine.api.post(
            engine.url("/images/create"),
            params={
                "fromSrc": "-",
                "repo": repository,
                "tag": tag,
                "changes": list(changes),
            },
            data=archive,
            headers={"Content-Type": "application/x-tar"},
            timeout=(engine.api.timeout, IMPORT_TIMEOUT_S),
        )
        if answer.status_code >= HTTPStatus.BAD_REQUEST:
            raise from_answer(
                engine.host, act, answer.status_code, message_of(answer.content)
            )
        for message in _messages(answer):
            if "error" in message:
                raise from_answer(engine.host, act, None, str(message["error"]))
    found = find_image(engine, f"{repository}:{tag}")
    if found is None:
        raise DockerApiError(
            text(
                "The Docker Engine of {host} lost {repository}:{tag}.",
                host=engine.host,
                repository=repository,
                tag=tag,
            )
        )
    return found.image_id


def _facts(row: Mapping[str, Json]) -> ImageFacts:
    size = row.get("Size")
    return ImageFacts(
        image_id=string(row, "Id"),
        references=_names(row, "RepoTags"),
        repository_digests=_names(row, "RepoDigests"),
        size_bytes=size if isinstance(size, int) else 0,
        # A listing has the labels beside the id, an inspection in the configuration.
        labels=text_map(row, "Labels")
        or text_map(as_object(row.get("Config")), "Labels"),
    )


def _names(row: Mapping[str, Json], key: str) -> tuple[str, ...]:
    """Names without the engine's placeholder for "none"."""
    return tuple(sorted(name for name in texts(row, key) if "<none>" not in name))
