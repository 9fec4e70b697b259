"""Faults: the failures that the practice engine can be told to show."""

import mmap
import pathlib

from practice.engine.modes import HUGE_LINE_BYTES, SHORT_LINE_BYTES, Modes
from practice.engine.output import Output
from practice.engine.startup import Lines

MEMORY_LIMIT_FILES = (
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
)
LARGEST_REAL_ALLOCATION = 1 << 40
ALLOCATION_STEP = 16 << 20

OUT_OF_MEMORY_TEXT = {
    "cuda": (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has "
        "a total capacity of 79.11 GiB of which 1.20 GiB is free. Including non-PyTorch "
        "memory, this process has 77.90 GiB memory in use. Of the allocated memory 76.21 "
        "GiB is allocated by PyTorch, and 512.00 MiB is reserved by PyTorch but "
        "unallocated. If reserved but unallocated memory is large try setting "
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation."
    ),
    "npu": (
        "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.97 GiB "
        "total capacity; 58.31 GiB already allocated; 58.31 GiB current active; 1.02 GiB "
        "free; 58.62 GiB reserved in total by PyTorch) If reserved memory is >> allocated "
        "memory try setting max_split_size_mb to avoid fragmentation."
    ),
    "shm": (
        "RuntimeError: Insufficient space in /dev/shm for shared-memory allocation: 160 "
        "MiB required, 64 MiB free. Increase /dev/shm (e.g. --shm-size or --ipc=host)."
    ),
    "kv": (
        "RuntimeError: Worker failed with error 'Available memory on node 0 (20.15/23.54 "
        "GiB) on kv cache allocation is less than requested memory for kv (64.0 GiB). "
        "Decrease --kv-cache-memory-bytes, VLLM_CPU_KVCACHE_SPACE, or reduce CPU memory "
        "used by other processes.', please check the stack trace above for the root cause"
    ),
}


def show_out_of_memory(kind: str, lines: Lines, output: Output) -> None:
    """Fail at start for want of memory.

    ``allocate`` really fills the memory of the container until the kernel ends the process;
    without a memory limit it only prints, so that no machine is harmed.
    """
    if kind == "allocate":
        limit = memory_limit()
        if limit is not None:
            _fill_memory(limit)
        kind = "cuda"
    lines.write(output, "engine_failed", cause=OUT_OF_MEMORY_TEXT[kind])


def memory_limit() -> int | None:
    """Return the memory limit of this container in bytes, ``None`` when it has none."""
    for name in MEMORY_LIMIT_FILES:
        path = pathlib.Path(name)
        text = path.read_text().strip() if path.is_file() else ""
        if text.isdigit() and int(text) < LARGEST_REAL_ALLOCATION:
            return int(text)
    return None


def _fill_memory(limit: int) -> None:
    held: list[mmap.mmap] = []
    for _ in range(2 * limit // ALLOCATION_STEP + 1):
        block = mmap.mmap(-1, ALLOCATION_STEP)
        for offset in range(0, ALLOCATION_STEP, mmap.PAGESIZE):
            block[offset] = 1
        held.append(block)


def write_hostile_lines(modes: Modes, output: Output) -> None:
    """Write the lines that readers of logs trip over, as the modes ask for."""
    if modes.bad_bytes:
        output.raw(
            b"\xff\xfe invalid \xc3( utf-8 \x00 nul \x1b[31mred\x1b[0m \xed\xa0\x80\n"
        )
        output.raw(b"\rprogress  10%\rprogress  90%\rprogress 100%\r\n")
        output.raw(b'<script>alert("practice")</script> \x1b]0;title\x07\n')
    if "40k" in modes.long_lines:
        output.log("practice.py:2", "long " + "a" * SHORT_LINE_BYTES)
    if "1m" in modes.long_lines:
        output.log("practice.py:2", "long " + "b" * HUGE_LINE_BYTES)


class Noise:
    """Serial-numbered lines at a steady rate: gaps and repeats show up in the numbers."""

    def __init__(self, rate_per_s: float, output: Output) -> None:
        self._rate = rate_per_s
        self._output = output
        self._owed = 0.0
        self._serial = 0

    def write(self, seconds: float) -> None:
        """Write the lines that fall into ``seconds``."""
        self._owed += self._rate * seconds
        while self._owed >= 1:
            self._owed -= 1
            self._serial += 1
            self._output.log("practice.py:3", f"noise serial={self._serial:010d}")
