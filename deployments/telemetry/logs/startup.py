"""Startup: what an engine says about its own speculation while it starts."""

import re
from dataclasses import dataclass, replace

from deployments.telemetry.logs.lines import LONGEST_LINE_BYTES, LogLine, parse_line

_ENGINE = re.compile(
    r"Initializing an? (?:V[01] )?LLM engine \(v(?P<version>[^)\s]{1,64})\)"
)
_BANNER = re.compile(r"\bversion (?P<version>\d+\.\d+\.\d+[\w.+-]{0,40})(?:\s|$)")
_TARGET = re.compile(
    r"with config: model=(?P<quote>['\"])(?P<model>.{1,4096}?)(?P=quote)"
)
_CONFIG = re.compile(
    r"speculative_config=(?:None|SpeculativeConfig\((?P<inside>[^)]{1,8192})\))"
)
_METHOD = re.compile(r"\bmethod='(?P<value>[\w\[\]-]{1,64})'")
_DRAFTER = re.compile(r"\b(?:draft_)?model='(?P<value>[^']{1,4096})'")
_COUNT = re.compile(r"\bnum_spec(?:ulative)?_tokens=(?P<value>\d{1,6})")
_SEED = re.compile(
    r"Enabling speculative decoding with method (?P<method>[\w-]{1,64}), "
    r"num_speculative_tokens=(?P<count>\d{1,6})"
)
_ANCHORS = ("LLM engine (v", "speculative decoding with method", "version ")


@dataclass(frozen=True, slots=True, kw_only=True)
class StartupFacts:
    """What the start-up lines say.

    ``speculation`` is ``None`` until the engine has spoken. ``method`` is the engine's own
    spelling. ``drafter`` is ``None`` for methods without one and for a drafter inside the target
    checkpoint (MTP). ``line`` is the line of the engine's configuration, from 1.
    """

    speculation: bool | None = None
    method: str | None = None
    num_speculative_tokens: int | None = None
    drafter: str | None = None
    engine_version: str | None = None
    line: int | None = None


class StartupReader:
    """Reads a log as it grows; text may end anywhere, the rest of a line comes with the next."""

    def __init__(self) -> None:
        self.facts = StartupFacts()
        self._number = 0
        self._rest = ""

    def feed(self, text: str) -> StartupFacts:
        """Read more of the log and return what is known now."""
        *lines, self._rest = (self._rest + text).split("\n")
        self._rest = self._rest[:LONGEST_LINE_BYTES]
        for line in lines:
            self._number += 1
            if any(anchor in line for anchor in _ANCHORS):
                self.read(parse_line(line, self._number))
        return self.facts

    def read(self, line: LogLine) -> None:
        """Read one line; the last configuration of a log with several starts is what counts."""
        if not any(anchor in line.message for anchor in _ANCHORS):
            return
        engine = _ENGINE.search(line.message)
        if engine:
            self.facts = _engine_facts(line, engine["version"])
            return
        seed = _SEED.search(line.message)
        if seed:
            self.facts = StartupFacts(
                speculation=True,
                method=seed["method"],
                num_speculative_tokens=int(seed["count"]),
                engine_version=self.facts.engine_version,
                line=line.number,
            )
            return
        banner = _BANNER.search(line.message)
        if banner and self.facts.engine_version is None and line.has_header:
            self.facts = replace(self.facts, engine_version=banner["version"])


def _engine_facts(line: LogLine, version: str) -> StartupFacts:
    config = _CONFIG.search(line.message)
    facts = StartupFacts(engine_version=version, line=line.number)
    if config is None:
        return facts
    inside = config["inside"]
    if inside is None:
        return replace(facts, speculation=False)
    target = _TARGET.search(line.message)
    drafter = _value(_DRAFTER, inside)
    count = _value(_COUNT, inside)
    return replace(
        facts,
        speculation=True,
        method=_value(_METHOD, inside),
        num_speculative_tokens=int(count) if count else None,
        drafter=None if target and target["model"] == drafter else drafter,
    )


def _value(pattern: re.Pattern[str], text: str) -> str | None:
    match = pattern.search(text)
    return match["value"] if match else None
