"""Feature switches: what a model can do besides writing text, and the flags that turn it on."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from pydantic import ConfigDict

from deployments.planning.canonical import Json
from deployments.planning.errors import PlanningError
from deployments.planning.serving import ServingProfile
from deployments.planning.text import listed, text


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """One switch of a model: ``flags`` turn it on; ``default`` says whether it is on unasked.

    Empty ``platforms`` mean all; a later entry with the same key replaces an earlier one that
    also fits the platform.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    key: str
    flags: dict[str, Json]
    source: str
    platforms: tuple[str, ...] = ()
    default: bool = True


def features_for(features: Iterable[Feature], platform: str) -> dict[str, Feature]:
    """The switches of a model on a platform, by key."""
    return {
        one.key: one
        for one in features
        if not one.platforms or platform in one.platforms
    }


def with_features(
    serving: ServingProfile,
    known: dict[str, Feature],
    chosen: Iterable[tuple[str, bool]],
) -> ServingProfile:
    """Add the flags of every feature that is on and take those away that only an off one needs.

    Raises:
        PlanningError: a chosen feature is none of the model's.
    """
    wanted = dict(chosen)
    for key in wanted:
        if key not in known:
            raise PlanningError(
                text(
                    "The model has no feature {key} on this platform; it has: {known}.",
                    key=repr(key),
                    known=listed(sorted(known)) or text("none"),
                )
            )
    on = {key: wanted.get(key, one.default) for key, one in known.items()}
    needed = dict(_flags(known, on, state=True))
    dropped = {flag for flag, _value in _flags(known, on, state=False)} - set(needed)
    flags = {
        flag: value for flag, value in serving.flags.items() if flag not in dropped
    }
    return replace(serving, flags={**flags, **needed})


def _flags(
    known: dict[str, Feature], on: dict[str, bool], *, state: bool
) -> Iterator[tuple[str, Json]]:
    for key, one in known.items():
        if on[key] is state:
            yield from one.flags.items()
