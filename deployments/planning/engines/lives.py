"""The releases between which an engine runs a method: the profiles say, nothing is kept twice."""

import functools
from dataclasses import dataclass

from deployments.planning.engines.definition import EngineProfile
from deployments.planning.engines.profile import profiles_of
from deployments.planning.methods import FACTS, Method
from deployments.planning.text import Text, text
from deployments.planning.versions import parse_version


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """Releases that run a method one after another; ``last`` is ``None`` while the newest does."""

    first: str
    last: str | None


@functools.cache
def method_lives(engine: str, method: Method) -> tuple[Life, ...]:
    """Return every run of releases of an engine that run the method, oldest first.

    Raises:
        PlanningError: there is no such engine.
    """
    lives: list[Life] = []
    first: str | None = None
    before = ""
    for profile in profiles_of(engine):
        runs = method in profile.methods
        if runs and first is None:
            first = profile.version
        elif not runs and first is not None:
            lives.append(Life(first=first, last=before))
            first = None
        before = profile.version
    if first is not None:
        lives.append(Life(first=first, last=None))
    return tuple(lives)


def why_unsupported(profile: EngineProfile, method: Method) -> Text | None:
    """Say why an engine version does not run a method, ``None`` when it does."""
    if method in profile.methods:
        return None
    engine, version = profile.engine, profile.version
    title = FACTS[method].title
    here = parse_version(version)
    lives = method_lives(engine, method)
    over = [one for one in lives if one.last and parse_version(one.last) < here]
    ahead = [one for one in lives if parse_version(one.first) > here]
    if over and ahead:
        return text(
            "{engine} {version} does not run {method}: {last} was the last release that did, and "
            "from {first} on it runs again.",
            last=over[-1].last or "",
            first=ahead[0].first,
            engine=engine,
            version=version,
            method=title,
        )
    if over and over[-1] is lives[-1]:
        return text(
            "{engine} {version} no longer runs {method}; {last} was the last release that did.",
            last=over[-1].last or "",
            engine=engine,
            version=version,
            method=title,
        )
    if ahead:
        return text(
            "{engine} {version} does not run {method} yet; {first} is the first release that does.",
            first=ahead[0].first,
            engine=engine,
            version=version,
            method=title,
        )
    if lives:
        return text(
            "This build of {engine} {version} does not run {method}, although the release does.",
            engine=engine,
            version=version,
            method=title,
        )
    return text("No release of {engine} runs {method}.", engine=engine, method=title)
