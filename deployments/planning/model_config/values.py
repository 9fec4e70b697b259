"""Typed looks into a config.json: a value of the wrong kind counts as not there."""

from collections.abc import Iterable
from dataclasses import dataclass

from deployments.planning.canonical import Json

MOST = 1 << 48
LONGEST_NAME = 120
TEXT_CONFIGS = ("text_config", "llm_config", "language_config", "thinker_config")


@dataclass(frozen=True, slots=True)
class Config:
    """One object of a config.json; ``place`` is its path, for people to look it up."""

    values: dict[str, Json]
    place: str = ""

    def path(self, key: str) -> str:
        """Where a key stands."""
        return f"{self.place}.{key}" if self.place else key

    def number(self, *keys: str) -> tuple[int, str] | None:
        """The first of these keys that holds a whole number from 0 on, and where it stands."""
        for key in keys:
            value = self.values.get(key)
            if isinstance(value, bool) or not isinstance(value, int):
                continue
            if 0 <= value <= MOST:
                return value, self.path(key)
        return None

    def count(self, *keys: str) -> int | None:
        """The number alone."""
        found = self.number(*keys)
        return found[0] if found else None

    def name(self, *keys: str) -> str | None:
        """The first of these keys that holds a short printable text."""
        for key in keys:
            value = self.values.get(key)
            if isinstance(value, str) and _plain(value):
                return value
        return None

    def names(self, key: str) -> tuple[str, ...]:
        """A list of short texts."""
        value = self.values.get(key)
        found = value if isinstance(value, list) else []
        return tuple(one for one in found if isinstance(one, str) and _plain(one))

    def inner(self, *keys: str) -> "Config | None":
        """The first of these keys that holds an object."""
        for key in keys:
            value = self.values.get(key)
            if isinstance(value, dict):
                return Config(value, self.path(key))
        return None

    def has(self, *keys: str) -> bool:
        """Whether one of these keys holds anything but null."""
        return any(self.values.get(key) is not None for key in keys)


def text_config(whole: Config) -> Config:
    """The part that describes the language model; of multimodal models it is nested."""
    found = whole
    for _level in range(2):
        inner = found.inner(*TEXT_CONFIGS)
        if inner is None or not inner.has("hidden_size", *TEXT_CONFIGS):
            break
        found = inner
    return found


def first_number(configs: Iterable[Config], *keys: str) -> tuple[int, str] | None:
    """The number of the first object that has one."""
    for config in configs:
        found = config.number(*keys)
        if found is not None:
            return found
    return None


def _plain(name: str) -> bool:
    return 0 < len(name) <= LONGEST_NAME and name.isprintable()
