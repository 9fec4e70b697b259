"""The argument vector of ``vllm serve``: ordered flags, compact JSON, nothing quoted."""

import json
from dataclasses import dataclass

from deployments.planning.canonical import Json

PROGRAM = ("vllm", "serve")


@dataclass(frozen=True, slots=True)
class Arguments:
    """A command that grows flag by flag; a later value of a flag replaces an earlier one in place."""

    model: str
    flags: tuple[tuple[str, str | None], ...] = ()

    def having(self, flag: str, value: Json) -> "Arguments":
        """Return the command with the flag: ``True`` is a switch, ``None`` and ``False`` leave it out."""
        if value is None or value is False:
            return self
        text = None if value is True else argument_text(value)
        if any(name == flag for name, _value in self.flags):
            kept = tuple(
                (name, text if name == flag else old) for name, old in self.flags
            )
            return Arguments(self.model, kept)
        return Arguments(self.model, (*self.flags, (flag, text)))

    @property
    def vector(self) -> tuple[str, ...]:
        """The whole argument vector, program first."""
        words = [*PROGRAM, self.model]
        for flag, value in self.flags:
            words.append(flag)
            if value is not None:
                words.append(value)
        return tuple(words)


def argument_text(value: Json) -> str:
    """Write one value as the engine reads it: text as it is, anything else as compact JSON with sorted keys."""
    if isinstance(value, str):
        return value
    if type(value) is int:
        return str(value)
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, sort_keys=True)


def flag_values(command: tuple[str, ...]) -> dict[str, str | None]:
    """Read a vector that Arguments made back into flags; switches map to ``None``."""
    found: dict[str, str | None] = {}
    words = list(command[len(PROGRAM) + 1 :])
    while words:
        flag = words.pop(0)
        has_value = bool(words) and not words[0].startswith("--")
        found[flag] = words.pop(0) if has_value else None
    return found
