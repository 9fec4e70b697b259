"""The engine profiles that ship with the panel, and a profile as a document."""

import functools
import json
import re
from collections.abc import Iterable
from importlib import resources

from deployments.planning.canonical import Json
from deployments.planning.engines.definition import (
    ENGINES,
    VLLM,
    VLLM_ASCEND,
    EngineProfile,
)
from deployments.planning.engines.differences import unpack
from deployments.planning.engines.document import ProfileBuilder, profile_document
from deployments.planning.errors import PlanningError
from deployments.planning.reading import read_document
from deployments.planning.text import either, text
from deployments.planning.versions import Version, parse_version

__all__ = [
    "VLLM",
    "VLLM_ASCEND",
    "EngineProfile",
    "find_profile",
    "is_own_reference",
    "parse_engine_profile",
    "profile_document",
    "profiles_of",
    "shipped_profiles",
]

_REFERENCE = re.compile(r"(?P<engine>[a-z-]+)\s*==\s*(?P<version>\S+)")
_LOCAL_PART = re.compile(r"\+[a-z0-9]", re.IGNORECASE)


def parse_engine_profile(document: Json) -> EngineProfile:
    """Read a profile that is written out in full, as ``profile_engine`` writes it.

    Raises:
        PlanningError: the document is not one.
    """
    return read_document(EngineProfile, document, text("engine profile"))


@functools.cache
def shipped_profiles() -> tuple[EngineProfile, ...]:
    """Return the profiles that ship with the panel, oldest first; constant data of this package."""
    build = ProfileBuilder()
    vllm = unpack(_data(VLLM), {})
    under = {str(document["version"]): document for document in vllm}
    return tuple(
        sorted(
            (build(one) for one in (*vllm, *unpack(_data(VLLM_ASCEND), under))),
            key=lambda one: (one.engine, parse_version(one.version)),
        )
    )


def is_own_reference(reference: str) -> bool:
    """Whether an engine reference names a profile that people made: its version has a local part.

    ``0.11.0+`` has none: it says "0.11.0 or later".
    """
    return _LOCAL_PART.search(reference) is not None


def find_profile(reference: str, own: Iterable[EngineProfile] = ()) -> EngineProfile:
    """Return the profile of ``vllm==0.32.0``, or one of ``own`` by its name, ``vllm==0.32.0+acme``.

    Raises:
        PlanningError: the text is no engine reference, or no profile of that version ships.
    """
    match = _REFERENCE.fullmatch(reference.strip())
    if match is None:
        raise PlanningError(
            text(
                "{reference} does not name an engine; write vllm==0.32.0 or vllm-ascend==0.23.0.",
                reference=repr(reference),
            )
        )
    if is_own_reference(reference):
        return _own_profile(f"{match['engine']}=={match['version']}", own)
    wanted = (match["engine"], parse_version(match["version"]))
    found = _by_version().get(wanted)
    if found is not None:
        return found
    known = profiles_of(match["engine"])
    raise PlanningError(
        text(
            "No profile of {reference} ships with this panel; it knows {engine} {first} to {last}, "
            "the nearest is {nearest}.",
            reference=reference,
            engine=match["engine"],
            first=known[0].version,
            last=known[-1].version,
            nearest=_nearest(known, wanted[1]).version,
        )
    )


def _own_profile(name: str, own: Iterable[EngineProfile]) -> EngineProfile:
    for one in own:
        if one.name == name:
            return one
    raise PlanningError(
        text(
            "Nobody made a profile of {name} here; manage.py profile_engine makes one of its wheel "
            "or image.",
            name=name,
        )
    )


def _nearest(known: tuple[EngineProfile, ...], wanted: Version) -> EngineProfile:
    """The newest release that is not newer than the wanted one, else the oldest."""
    older = [one for one in known if parse_version(one.version) <= wanted]
    return older[-1] if older else known[0]


def profiles_of(engine: str) -> tuple[EngineProfile, ...]:
    """Return the shipped profiles of one engine, oldest first.

    Raises:
        PlanningError: there is no such engine.
    """
    found = tuple(one for one in shipped_profiles() if one.engine == engine)
    if not found:
        raise PlanningError(
            text(
                "{engine} is not an engine that this panel knows; use {known}.",
                engine=repr(engine),
                known=either(ENGINES),
            )
        )
    return found


@functools.cache
def _by_version() -> dict[tuple[str, Version], EngineProfile]:
    return {(one.engine, parse_version(one.version)): one for one in shipped_profiles()}


def _data(engine: str) -> dict[str, Json]:
    folder = resources.files("deployments.planning.engines") / "data"
    document = json.loads((folder / f"{engine}.json").read_text(encoding="utf-8"))
    return dict(document)
