"""Scanning: the few lines of a large log that say something, found without touching the rest."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from deployments.telemetry.logs.lines import (
    LONGEST_LINE_BYTES,
    LogLine,
    parse_line,
    without_inner_stamps,
)
from deployments.telemetry.logs.searching import Search

BLOCK_BYTES = 1024 * 1024
LARGE_BYTES = 256 * 1024
"""Below this the whole log is read line by line, which takes milliseconds."""

SLICE, CLOSER = 4096, 512
"""Bytes that are looked through at once: about forty lines, and where they hold something, five."""

FIRST_LINES = 500
"""Lines that are read one by one: any of them may tell whose log it is."""

LESSON, MOST_LESSONS = 64, 4
"""Lines that were looked at in vain which are a lesson, and how many of those a log gives."""

ORDINARY = """
(APIServer pid=1) INFO:     10.0.0.1:40000 - "POST /v1/chat/completions HTTP/1.1" 200 OK
"GET /health HTTP/1.1" 503 Service Unavailable, /metrics 400 Bad Request /v1/models /v1/embeddings
(APIServer pid=1) INFO 11-29 15:04:05 [loggers.py:259] Engine 000: Avg prompt throughput: 0.0
tokens/s, Avg generation throughput: 0.0 tokens/s, Running: 0 reqs, Waiting: 0 reqs, GPU KV cache
usage: 0.0%, Prefix cache hit rate: 0.0%
[metrics.py:101] SpecDecoding metrics: Mean acceptance length: 1.00, Accepted throughput: 0.00 tokens/s,
Drafted throughput: 0.00 tokens/s, Accepted: 0 tokens, Drafted: 0 tokens, Per-position acceptance rate:
0.000, Avg Draft acceptance rate: 0.0%
INFO 11-29 15:04:05 [logger.py:40] Received request cmpl-0-0: prompt: '', params: SamplingParams(n=1,
presence_penalty=0.0, frequency_penalty=0.0, repetition_penalty=1.0, temperature=0.0, top_p=1.0,
top_k=0, min_p=0.0, seed=None, stop=[], ignore_eos=False, max_tokens=1, min_tokens=0, logprobs=None,
prompt_logprobs=None, skip_special_tokens=True), prompt_token_ids: None, lora_request: None.
(EngineCore pid=129) WARNING [scheduler.py:77] Preempted request chatcmpl-0, num_cumulative_preemption=1
[async_llm.py:1] Added request, Aborted request(s), Finished request
(EngineCore pid=129) ERROR [core.py:710]   File "/usr/local/lib/python3.12/dist-packages/vllm/v1/core.py",
line 1, in run_busy_loop, Traceback (most recent call last):
Loading safetensors checkpoint shards: 100% Completed | 30/30 [00:00<00:00, 1.00s/it]
Capturing CUDA graphs (mixed prefill-decode, PIECEWISE): 100%
"""
"""What fills an engine's log: to look for pieces of these words would stop at nearly every line.

What else fills a log, such as one error a thousand times, is learnt while it is read.
"""

FIGURES = -1
"""The place of a line that holds figures only, so that the line before it does not matter."""

_WRAPPED = re.compile(rb'\x1b|\bstd(?:out|err) [FP] |^\{"log": ?"', re.MULTILINE)


class LineReader(Protocol):
    """Takes the lines that matter, in order.

    ``figures`` stand in the lines that come again and again. ``may_speak`` tells whether bytes may
    hold another word that matters, ``matters`` whether they hold one or the other for sure; what
    they look for gets less with what was read. ``vain`` are ends of lines, from their place on, that
    came often and say nothing new. ``is_open``: the next line may belong to the last.
    """

    figures: Sequence[bytes]
    has_figures: Search
    may_speak: Search
    matters: Search
    vain: Sequence[bytes]
    is_open: bool

    def may_go_on(self, line: bytes) -> bool:
        """Whether the reader may be open after this line."""

    def read_figures(self, line: bytes, number: int) -> bool:
        """Take a line with figures and without other words that matter, if its form is usual."""

    def learn(self, lines: Sequence[bytes]) -> None:
        """Be told of lines that ``may_speak`` stopped at though they do not matter."""

    def read(self, line: LogLine) -> None:
        """Take one line."""

    def skipped(self, message: str) -> None:
        """Be told the line before the next one."""


def is_plain(head: bytes) -> bool:
    """Whether words stand in the raw lines as they are: no colours, no pieces to join, no JSON."""
    return not _WRAPPED.search(head[:BLOCK_BYTES])


def blocks_of(data: bytes) -> Iterator[bytes]:
    """The data in pieces, as a file that is read in pieces would come."""
    for start in range(0, len(data), BLOCK_BYTES):
        yield data[start : start + BLOCK_BYTES]


def scan(reader: LineReader, blocks: Iterable[bytes]) -> None:
    """Give the reader the lines that matter; memory does not grow with the log."""
    scanner, rest = _Scanner(reader), b""
    for block in blocks:
        begin = block.find(b"\n") + 1
        if not begin:
            rest = (rest + block)[: 2 * BLOCK_BYTES]
            continue
        if rest:
            # Only the first line is joined, since a block is large.
            scanner.scan(rest + block[:begin])
        scanner.scan(block[begin if rest else 0 : block.rfind(b"\n") + 1])
        rest = block[block.rfind(b"\n") + 1 :]
    if rest:
        scanner.scan(rest + b"\n")


class _Scanner:
    """Finds lines in a block, then has them read: one thing at a time is what a processor does fast."""

    def __init__(self, reader: LineReader) -> None:
        self._reader = reader
        self._number = 1
        self._found: list[tuple[int, bytes, int]] = []
        self._last = b""
        self._vain: list[bytes] = []
        self._lessons = 0

    def scan(self, block: bytes) -> None:
        """Look through whole lines slice by slice."""
        reader, start, end = self._reader, 0, len(block)
        plain = block.isascii()
        while start < end:
            cut = block.find(b"\n", start + SLICE, end) + 1 or end
            part = block[start:cut]
            if not plain and not _is_valid(part):
                # The search knows valid text only.
                self._end(block[:start])
                return self.scan(block[start:].decode("utf-8", "replace").encode())
            if self._must_read() or (reader.may_speak(part) and self._speaks(part)):
                self._closer(block, start, cut)
            elif reader.has_figures(part):
                self._figures(block, start, cut)
            else:
                self._number += part.count(b"\n")
            start = cut
        return self._end(block)

    def _end(self, block: bytes) -> None:
        self._read(block)
        self._last = _line_before(block, len(block)) or self._last

    def _must_read(self) -> bool:
        return self._number <= FIRST_LINES or self._reader.is_open

    def _speaks(self, part: bytes) -> bool:
        """Whether a slice that may hold a word holds one elsewhere than in lines that come often."""
        left = part
        for said in self._reader.vain:
            left = left.replace(said, b"\n")
        return len(left) == len(part) or self._reader.may_speak(left)

    def _figures(self, block: bytes, start: int, end: int) -> None:
        """Find the lines with figures of a slice that holds nothing else."""
        for place in _places(self._reader.figures, block, start, end):
            if place >= start:
                begin = block.rfind(b"\n", start, place) + 1 or start
                self._number += block.count(b"\n", start, begin)
                start = block.index(b"\n", place) + 1
                self._find(block, FIGURES, block[begin : start - 1])
                if self._reader.is_open:
                    return self._closer(block, start, end)
        self._number += block.count(b"\n", start, end)
        return None

    def _closer(self, block: bytes, start: int, end: int) -> None:
        """Look through a slice in smaller ones, and those line by line."""
        reader = self._reader
        while start < end:
            cut = block.find(b"\n", start + CLOSER, end) + 1 or end
            part = block[start:cut]
            if self._must_read() or reader.has_figures(part) or reader.may_speak(part):
                for line in part[:-1].split(b"\n"):
                    if self._must_read() or reader.matters(line):
                        self._find(block, start, line)
                    else:
                        self._number += 1
                        if self._lessons < MOST_LESSONS and reader.may_speak(line):
                            self._learn(line)
                    start += len(line) + 1
            else:
                self._number += part.count(b"\n")
            start = cut

    def _learn(self, line: bytes) -> None:
        """Remember a line that was looked at in vain; enough of them are a lesson."""
        self._vain.append(line[:LONGEST_LINE_BYTES])
        if len(self._vain) == LESSON:
            self._lessons += 1
            self._reader.learn(self._vain)
            self._vain.clear()

    def _find(self, block: bytes, start: int, line: bytes) -> None:
        """Remember a line; read at once where that decides about the lines after it."""
        self._found.append((start, line, self._number))
        self._number += 1
        if self._must_read() or self._reader.may_go_on(line):
            self._read(block)

    def _read(self, block: bytes) -> None:
        """Have the lines read that were found in the block."""
        reader = self._reader
        for start, line, number in self._found:
            if start == FIGURES and reader.read_figures(line, number):
                continue
            if start != FIGURES:
                before = _line_before(block, start) if start else self._last
                reader.skipped(before[:LONGEST_LINE_BYTES].decode("utf-8", "replace"))
            whole = without_inner_stamps(line)
            text = whole[:LONGEST_LINE_BYTES].decode("utf-8", "replace")
            for piece in text.split("\r"):
                if piece:
                    reader.read(parse_line(piece, number))
        self._found.clear()


def _line_before(block: bytes, start: int) -> bytes:
    return block[block.rfind(b"\n", 0, max(0, start - 1)) + 1 : max(0, start - 1)]


def _is_valid(part: bytes) -> bool:
    if part.isascii():
        return True
    try:
        part.decode()
    except UnicodeDecodeError:
        return False
    return True


def _places(words: Iterable[bytes], block: bytes, start: int, end: int) -> list[int]:
    """Where one of the words begins, in order."""
    places = []
    for word in words:
        place = block.find(word, start, end)
        while place >= 0:
            places.append(place)
            place = block.find(word, place + 1, end)
    return sorted(places)
