"""The Python files of the engine in an image, read by a container without network that is removed."""

import json
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from django.utils.translation import gettext as _

from deployments.docker_api.client import Engine
from deployments.docker_api.containers import (
    ContainerFacts,
    create_container,
    start_container,
)
from deployments.docker_api.images import ImageFacts
from deployments.docker_api.logs import read_head, read_tail
from deployments.docker_api.policy import ContainerPolicy
from deployments.docker_api.reading import as_object, texts
from deployments.planning.container import ContainerSpec, ImageReference, NetworkMode
from deployments.planning.engines.reading.reader import WANTED
from deployments.selectors.texts import say_error
from deployments.services.errors import UseCaseError
from deployments.services.throwaway import (
    ProgramError,
    remove_for_good,
    unpacked,
    wait_ended,
)

LONGEST_RUN_S = 180
MOST_LINES = 20_000
LARGEST_FILES_BYTES = 256 * 1024 * 1024
BEGIN, END = "PROFILE-BEGIN", "PROFILE-END"
PURPOSE = ("draftboard.purpose", "engine-profile")
SCRIPT = f"""
import base64, hashlib, importlib.metadata as metadata, importlib.util as util
import json, os, sys, zlib
sys.path = [place for place in sys.path if place]
wanted, files = tuple(json.loads(sys.argv[1])), {{}}
owners = metadata.packages_distributions()
for package in ("vllm", "vllm_ascend"):
    spec = util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        continue
    top = os.path.dirname(list(spec.submodule_search_locations)[0])
    for folder, _, names in os.walk(os.path.join(top, package)):
        for name in names:
            inner = os.path.relpath(os.path.join(folder, name), top)
            if name.endswith(".py") and inner.startswith(wanted):
                place = os.path.join(top, inner)
                with open(place, encoding="utf-8", errors="replace") as file:
                    files[inner] = file.read()
    for owner in owners.get(package, [package]):
        try:
            version = metadata.version(owner)
        except metadata.PackageNotFoundError:
            continue
        files[package + "-0.dist-info/METADATA"] = "Version: " + version
data = zlib.compress(json.dumps(files).encode(), 9)
text = base64.b64encode(data).decode()
print("{BEGIN}", hashlib.sha256(data).hexdigest())
for start in range(0, len(text), 8000):
    print(text[start:start + 8000])
print("{END}")
"""
"""Packs the wanted Python files as text; imports no package of the engine."""


class EngineImageError(UseCaseError):
    """The image shows no engine; the message says why."""

    code = "engine_image"


def image_files(engine: Engine, image: ImageFacts) -> dict[str, str]:
    """Read the files that a profile needs, by path from the top of the package.

    Raises:
        EngineImageError: the image has no Python, no vLLM, or the reading took too long.
        DockerApiError: the Docker Engine refuses or does not answer.
    """
    with _container(engine, image) as container_id:
        start_container(engine, container_id)
        ended = _ended(engine, container_id)
        lines = [
            line.text for line in read_head(engine, container_id, most_lines=MOST_LINES)
        ]
        if ended.exit_code != 0:
            last = [line.text for line in read_tail(engine, container_id, lines=1)]
            raise EngineImageError(
                _("The image cannot be read: its Python ended with %(code)s: %(line)s")
                % {"code": ended.exit_code, "line": (last or [ended.error])[0]}
            )
    files = _unpacked(lines)
    if not any(name.startswith("vllm/") for name in files):
        raise EngineImageError(
            _("The image holds no Python package vllm. Name an image of vLLM.")
        )
    return files


def image_entrypoint(engine: Engine, image: ImageFacts) -> tuple[str, ...]:
    """The entrypoint of the image itself.

    Raises:
        DockerApiError: the Docker Engine does not answer or answers an error.
    """
    row = engine.call("GET", f"/images/{image.image_id}/json", act="describe the image")
    return texts(as_object(as_object(row).get("Config")), "Entrypoint")


@contextmanager
def _container(engine: Engine, image: ImageFacts) -> Iterator[str]:
    spec = ContainerSpec(
        name=f"draftboard-profile-{uuid.uuid4().hex[:12]}",
        image=ImageReference(reference=image.image_id, image_id=image.image_id),
        command=("python3", "-B", "-c", SCRIPT, json.dumps(WANTED)),
        network_mode=NetworkMode.NONE,
        shm_size_bytes=64 << 20,
        pids_limit=64,
    )
    container_id = create_container(
        engine,
        spec,
        image_id=image.image_id,
        labels=dict([PURPOSE]),
        policy=ContainerPolicy(),
    )
    try:
        yield container_id
    finally:
        remove_for_good(engine, container_id)


def _ended(engine: Engine, container_id: str) -> ContainerFacts:
    facts = wait_ended(engine, container_id, LONGEST_RUN_S)
    if facts is None:
        raise EngineImageError(
            _("Reading the image did not end within %(seconds)s s. Try again later.")
            % {"seconds": LONGEST_RUN_S}
        )
    return facts


def _unpacked(lines: Iterable[str]) -> dict[str, str]:
    """The files that the script printed."""
    try:
        content = unpacked(lines, BEGIN, END, LARGEST_FILES_BYTES)
    except ProgramError as error:
        raise EngineImageError(say_error(error)) from error
    found = json.loads(content)
    return {str(name): str(content) for name, content in found.items()}
