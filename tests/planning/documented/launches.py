"""Commands that the tutorials of vllm-ascend v0.23.0 print, as flags and environment.

``launches.json`` names each flag with its value once (``flags``), each variable likewise
(``environment``); a launch is its document, line, model, and the numbers of both.
"""

import functools
import json
import shlex
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentedLaunch:
    """One printed command; ``True`` is a switch."""

    document: str
    line: int
    model: str
    flags: dict[str, str | bool]
    environment: dict[str, str]

    @property
    def place(self) -> str:
        """Where it stands."""
        return f"{self.document}:{self.line}"

    @property
    def words(self) -> tuple[str, ...]:
        """The argument vector, program first."""
        found = ["vllm", "serve", self.model]
        for flag, value in self.flags.items():
            found += [flag] if value is True else [flag, str(value)]
        return tuple(found)

    @property
    def script(self) -> str:
        """The command behind its variables, as a person would type it."""
        exports = [
            f"export {name}={shlex.quote(value)}"
            for name, value in self.environment.items()
        ]
        return "\n".join((*exports, shlex.join(self.words))) + "\n"


@functools.cache
def documented_launches() -> tuple[DocumentedLaunch, ...]:
    """Every launch of the fixture."""
    read = json.loads((HERE / "launches.json").read_text(encoding="utf-8"))
    return tuple(
        DocumentedLaunch(
            document=document,
            line=line,
            model=model,
            flags=dict(read["flags"][number] for number in flags),
            environment=dict(read["environment"][number] for number in variables),
        )
        for document, line, model, flags, variables in read["launches"]
    )
