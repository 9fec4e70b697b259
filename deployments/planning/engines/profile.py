"""EngineProfile: what one engine version accepts, read from the data files beside this module."""

import functools
import json
import re
from dataclasses import dataclass
from importlib import resources
from typing import ClassVar

from pydantic import ConfigDict

from deployments.planning.canonical import Json
from deployments.planning.errors import PlanningError
from deployments.planning.methods import FACTS, Method
from deployments.planning.reading import read_document
from deployments.planning.versions import Version, parse_version

VLLM = "vllm"
VLLM_ASCEND = "vllm-ascend"
_REFERENCE = re.compile(r"(?P<engine>[a-z-]+)\s*==\s*(?P<version>\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineProfile:
    """One version of an engine.

    ``vllm_version`` is the vLLM release underneath, the version itself for ``vllm``.
    ``max_tokens_per_step`` limits num_speculative_tokens + 1, ``None`` for no known limit.
    ``capture_limit_tokens`` is the largest graph that the engine captures unasked.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    engine: str
    version: str
    vllm_version: str
    source: str
    flags: tuple[str, ...]
    switches: tuple[str, ...]
    speculative_keys: tuple[str, ...]
    methods: tuple[Method, ...]
    capture_limit_tokens: int
    max_tokens_per_step: int | None = None
    draft_eager_effective: bool = True

    @property
    def name(self) -> str:
        """The way a revision names it: ``vllm==0.32.0``."""
        return f"{self.engine}=={self.version}"

    @property
    def vllm(self) -> Version:
        """The vLLM release underneath, to compare with."""
        return parse_version(self.vllm_version)

    def knows(self, flag: str) -> bool:
        """Whether the version accepts the flag, ``--no-`` forms of switches included."""
        return flag in self.flags or flag in self.switches or flag in self.negated

    @property
    def negated(self) -> tuple[str, ...]:
        """The ``--no-`` forms of the switches."""
        return tuple(f"--no-{switch.removeprefix('--')}" for switch in self.switches)

    def why_not(self, method: Method) -> str | None:
        """Say why this version does not run the method, ``None`` when it does."""
        if method in self.methods:
            return None
        facts = FACTS[method]
        until = facts.until
        if until is not None and self.vllm > until:
            return f"{self.engine} {self.version} no longer runs {facts.title}; {until} was the last vLLM release that did."
        return f"{self.engine} {self.version} does not run {facts.title} yet."


def parse_engine_profile(document: Json) -> EngineProfile:
    """Read a profile.

    Raises:
        PlanningError: the document is not one.
    """
    return read_document(EngineProfile, document, "engine profile")


@functools.cache
def shipped_profiles() -> tuple[EngineProfile, ...]:
    """Return the profiles that ship with the panel, oldest first; constant data of this package."""
    folder = resources.files("deployments.planning.engines") / "data"
    profiles = [
        parse_engine_profile(json.loads(item.read_text(encoding="utf-8")))
        for item in folder.iterdir()
        if item.name.endswith(".json")
    ]
    return tuple(
        sorted(profiles, key=lambda one: (one.engine, parse_version(one.version)))
    )


def find_profile(reference: str) -> EngineProfile:
    """Return the shipped profile of ``vllm==0.32.0``.

    Raises:
        PlanningError: the text is no engine reference, or no profile of that version ships.
    """
    match = _REFERENCE.fullmatch(reference.strip())
    if match is None:
        raise PlanningError(
            f"{reference!r} does not name an engine; write vllm==0.32.0 or vllm-ascend==0.23.0."
        )
    wanted = (match["engine"], parse_version(match["version"]))
    for profile in shipped_profiles():
        if (profile.engine, parse_version(profile.version)) == wanted:
            return profile
    known = ", ".join(profile.name for profile in shipped_profiles())
    raise PlanningError(
        f"No profile of {reference} ships with this panel; it knows {known}."
    )
