"""Answers: canned completions in the shape of vLLM's OpenAI-compatible API."""

import json
import time
import uuid
from collections.abc import Iterator
from http import HTTPStatus

from practice.engine.arguments import VERSION

CANNED = "This is practice text : no model was asked and nothing here means anything ."
LONGEST_ANSWER = 4096
DEFAULT_COMPLETION_TOKENS = 16
DEFAULT_CHAT_TOKENS = 64
LAST_EVENT = b"data: [DONE]\n\n"


class BadRequestError(Exception):
    """A request that is refused: HTTP status, vLLM's error type and the message."""

    def __init__(self, status: HTTPStatus, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


class Answer:
    """The JSON values of one completion, whole or in parts."""

    def __init__(self, model: str, prompt: int, tokens: int, *, chat: bool) -> None:
        self._chat = chat
        self._usage = {
            "prompt_tokens": prompt,
            "total_tokens": prompt + tokens,
            "completion_tokens": tokens,
        }
        self._frame: dict[str, object] = {
            "id": f"{'chatcmpl' if chat else 'cmpl'}-{uuid.uuid4().hex[:16]}",
            "object": "chat.completion" if chat else "text_completion",
            "created": int(time.time()),
            "model": model,
            "system_fingerprint": f"vllm-{VERSION}-practice",
        }

    def whole(self, text: str) -> dict[str, object]:
        """Return the answer to a request without streaming."""
        content: dict[str, object] = {"text": text}
        if self._chat:
            content = {"message": {"role": "assistant", "content": text}}
        choice = {"index": 0, **content, "logprobs": None, "finish_reason": "length"}
        return {**self._frame, "choices": [choice], "usage": self._usage}

    def part(self, text: str) -> dict[str, object]:
        """Return what one decoding step adds."""
        return self._part({"content": text} if self._chat else text, None)

    def last(self) -> dict[str, object]:
        """Return the closing part, with the usage."""
        part = self._part({} if self._chat else "", "length")
        return {**part, "usage": self._usage}

    def _part(self, content: object, reason: str | None) -> dict[str, object]:
        name = "delta" if self._chat else "text"
        frame = dict(self._frame)
        if self._chat:
            frame["object"] = "chat.completion.chunk"
        choice = {"index": 0, name: content, "finish_reason": reason}
        return {**frame, "choices": [choice]}


def event(value: dict[str, object]) -> bytes:
    """Return one server-sent event."""
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def pieces(steps: Iterator[int], step_time_s: float) -> Iterator[str]:
    """Yield canned words, as many per step as it puts out tokens, at the pace of the engine."""
    words, position = CANNED.split(), 0
    for emitted in steps:
        time.sleep(step_time_s)
        taken = [words[(position + index) % len(words)] for index in range(emitted)]
        position += emitted
        yield "".join(f"{word} " for word in taken)


def wanted_tokens(body: dict[str, object], default: int) -> int:
    """Return how many tokens a request asks for.

    Raises:
        BadRequestError: not a whole number of 1 or more.
    """
    wanted = body.get("max_completion_tokens", body.get("max_tokens"))
    if wanted is None:
        return default
    if not isinstance(wanted, int) or wanted < 1:
        raise BadRequestError(
            HTTPStatus.BAD_REQUEST,
            "BadRequestError",
            f"max_tokens must be at least 1, got {wanted}.",
        )
    return min(wanted, LONGEST_ANSWER)
