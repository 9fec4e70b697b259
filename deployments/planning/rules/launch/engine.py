"""Which engine version a launch is judged by: named, read from an image tag, or every one."""

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass

from deployments.planning.engines.profile import (
    VLLM,
    VLLM_ASCEND,
    EngineProfile,
    shipped_profiles,
)
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Severity
from deployments.planning.versions import Version, parse_version

_READABLE = re.compile(
    r"v?(?P<number>\d+(?:\.\d+){1,3}|\d+\.\d+\.x)(?P<candidate>\.?rc\d+)?(?P<rest>.*)"
)
_TAG = re.compile(r"v?\d+\.\d+(?:\.\d+)*(?:\.?rc\d+|\.post\d+)?(?:-.*)?")
FIRST_PROFILED = Version((0, 8, 5))
MOST = 0.5
"""A version that is not named is warned of when more than this share of the profiles refuses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedEngine:
    """The engine of a launch. ``version`` is ``None`` when nobody names one.

    ``written`` is how it was named. ``old`` is true before the first profile, or where old flags
    say so. ``readable`` is false when a version was given that nobody can read. ``own`` is the
    profile that somebody made of exactly this version.
    """

    name: str
    version: Version | None
    written: str | None = None
    old: bool = False
    readable: bool = True
    own: EngineProfile | None = None

    @property
    def profiles(self) -> tuple[EngineProfile, ...]:
        """Every profile of the engine, oldest first; somebody's own one behind those that ship."""
        shipped = _profiles(self.name)
        return shipped if self.own is None else (*shipped, self.own)

    @property
    def profile(self) -> EngineProfile | None:
        """The profile that the named version is judged by: its own, else the one before."""
        if self.own is not None or self.version is None:
            return self.own
        fitting = [
            one for one in self.profiles if parse_version(one.version) <= self.version
        ]
        return fitting[-1] if fitting else None

    @property
    def newest(self) -> EngineProfile:
        """The newest profile."""
        return self.profiles[-1]

    @property
    def vllm(self) -> Version | None:
        """The vLLM release underneath, ``None`` when no version is named."""
        if self.version is None:
            return None
        if self.name == VLLM:
            return self.version
        profile = self.profile
        return profile.vllm if profile else Version(self.version.release)

    def refusal(self, refuses: Callable[[EngineProfile], bool]) -> Severity | None:
        """How bad it is that some versions refuse: by the named one, else by all.

        Without a named version: an error when all refuse or the newest does, a warning when only
        the newer half accepts.
        """
        if self.old:
            return None
        if self.version is not None:
            profile = self.profile
            return Severity.ERROR if profile and refuses(profile) else None
        refused = [refuses(one) for one in self.profiles]
        if refused[-1]:
            return Severity.ERROR
        return Severity.WARNING if sum(refused) > MOST * len(refused) else None


@functools.cache
def _profiles(name: str) -> tuple[EngineProfile, ...]:
    return tuple(one for one in shipped_profiles() if one.engine == name)


def read_version(text: str) -> Version | None:
    """Read ``0.11.0+``, ``0.20.x``, ``0.12``, ``v0.23.0rc1-a3``; ``None`` for what has no number."""
    match = _READABLE.match(text.strip())
    if match is None:
        return None
    number = match["number"]
    candidate = (match["candidate"] or "").removeprefix(".")
    if re.match(r"\.x", match["rest"]):
        return _newest_of(number)
    post = re.match(r"\.post\d+", match["rest"])
    try:
        return parse_version(
            number.removesuffix(".x") + candidate + (post[0] if post else "")
        )
    except PlanningError:
        return None


def _newest_of(number: str) -> Version | None:
    release = tuple(int(part) for part in number.split("."))
    found = [
        one.vllm
        for one in _profiles(VLLM)
        if one.vllm.release[: len(release)] == release
    ]
    if found:
        return found[-1]
    return Version((*release, 0)) if len(release) == 2 else Version(release)


def engine_of_image(image: str | None) -> tuple[str | None, str | None, Version | None]:
    """Return engine, tag and version of an image reference, ``None`` for what it does not say."""
    if image is None:
        return None, None, None
    path, _, tag = image.partition("@")[0].rpartition(":")
    if "/" in tag or not path:
        path, tag = image, ""
    engine = VLLM_ASCEND if "vllm-ascend" in path else VLLM if "vllm" in path else None
    if engine is None or not _TAG.fullmatch(tag):
        return engine, tag or None, None
    return engine, tag, read_version(tag)
