"""Datasets: what a benchmark sends, what it says about speculation, and the prompts that are shipped."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources

from deployments.planning.canonical import Json
from deployments.planning.errors import PlanningError
from deployments.planning.text import Text, text

MOST_OWN_PROMPTS = 5000
MOST_OWN_BYTES = 8 << 20
MOST_OUTPUT_TOKENS = 8192
USUAL_OUTPUT_TOKENS = 256
"""What ``vllm bench serve`` asks for with its dataset ``custom`` when nobody says (0.9.2 to 0.33.0)."""


class Dataset(StrEnum):
    """What is sent; the last three come from the team or from nowhere."""

    CHAT = "chat"
    CODE = "code"
    MATHEMATICS = "mathematics"
    SUMMARISATION = "summarisation"
    EXTRACTION = "extraction"
    CHINESE = "chinese"
    OWN = "own"
    SHAREGPT = "sharegpt"
    RANDOM = "random"

    @property
    def shipped(self) -> bool:
        """Whether the panel brings the prompts."""
        return self not in {Dataset.OWN, Dataset.SHAREGPT, Dataset.RANDOM}

    @property
    def judges(self) -> bool:
        """Whether a verdict on speculation may rest on it.

        Random tokens are nothing that a drafter was trained for: acceptance on them is far below
        that of text, and an n-gram drafter finds repeats that nobody writes.
        """
        return self is not Dataset.RANDOM


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One request: its text, and how many tokens the answer may have, ``None`` if nobody said."""

    prompt: str
    output_tokens: int | None = None

    @property
    def line(self) -> str:
        """The JSON line that ``vllm bench serve`` reads."""
        document: dict[str, Json] = {"prompt": self.prompt}
        if self.output_tokens is not None:
            document["output_tokens"] = self.output_tokens
        return json.dumps(document, ensure_ascii=False)


@cache
def shipped_prompts(dataset: Dataset) -> tuple[Prompt, ...]:
    """The prompts of a shipped dataset, in a fixed order.

    Raises:
        PlanningError: the panel ships no such prompts.
    """
    if not dataset.shipped:
        raise PlanningError(
            text("The panel ships no prompts for {dataset}.", dataset=dataset.value)
        )
    folder = resources.files("deployments.planning.bench") / "prompts"
    source = (folder / f"{dataset.value}.jsonl").read_text(encoding="utf-8")
    return tuple(_read(source))


def own_prompts(source: str) -> tuple[Prompt, ...]:
    """Read a team's JSON lines: an object a line with ``prompt`` and perhaps ``output_tokens``.

    Raises:
        PlanningError: a line is no such object, or there are none or too many; names the line.
    """
    if len(source.encode()) > MOST_OWN_BYTES:
        raise PlanningError(
            text(
                "The prompts take more than {limit} MiB: send fewer or shorter ones.",
                limit=MOST_OWN_BYTES >> 20,
            )
        )
    found = tuple(_read(source))
    if not found:
        raise PlanningError(
            text(
                "There is no prompt in the file: write one JSON object a line, such as {example}.",
                example='{"prompt": "…", "output_tokens": 200}',
            )
        )
    if len(found) > MOST_OWN_PROMPTS:
        raise PlanningError(
            text(
                "The file holds {count} prompts; at most {limit} are read: leave some out.",
                count=len(found),
                limit=MOST_OWN_PROMPTS,
            )
        )
    return found


def jsonl(prompts: Iterable[Prompt]) -> bytes:
    """Prompts as the file that is put into the container."""
    return "".join(f"{one.line}\n" for one in prompts).encode()


def with_length(prompts: Iterable[Prompt]) -> tuple[Prompt, ...]:
    """The prompts with a length of the answer each: vLLM takes it from every line or from none."""
    return tuple(
        Prompt(
            prompt=one.prompt, output_tokens=one.output_tokens or USUAL_OUTPUT_TOKENS
        )
        for one in prompts
    )


def _read(source: str) -> Iterator[Prompt]:
    for number, line in enumerate(source.split("\n"), start=1):
        if line.strip():
            yield _prompt(line, number)


def _prompt(line: str, number: int) -> Prompt:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _odd(number, text("it is no JSON")) from error
    if not isinstance(found, dict):
        raise _odd(number, text("it is no JSON object"))
    prompt, tokens = found.get("prompt"), found.get("output_tokens")
    if not isinstance(prompt, str) or not prompt.strip():
        raise _odd(number, text("its prompt is missing or empty"))
    if tokens is not None and (
        isinstance(tokens, bool)
        or not isinstance(tokens, int)
        or not 1 <= tokens <= MOST_OUTPUT_TOKENS
    ):
        reason = text(
            "its output_tokens is no whole number from 1 to {limit}",
            limit=MOST_OUTPUT_TOKENS,
        )
        raise _odd(number, reason)
    return Prompt(prompt=prompt, output_tokens=tokens)


def _odd(number: int, reason: Text) -> PlanningError:
    return PlanningError(
        text(
            "Line {number} of the prompts cannot be used, {reason}: write it as {example}.",
            number=number,
            reason=reason,
            example='{"prompt": "…", "output_tokens": 200}',
        )
    )
