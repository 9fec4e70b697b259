"""Main: one practice server from its command line to its exit code."""

import os
import signal
import sys
import threading
import time
from collections.abc import Sequence

from practice.engine.arguments import (
    USAGE_EXIT_CODE,
    ServeArguments,
    UsageError,
    parse_command,
)
from practice.engine.benchmark import bench
from practice.engine.drafting import acceptance_by_position
from practice.engine.faults import Noise, show_out_of_memory, write_hostile_lines
from practice.engine.modes import ModeError, Modes, modes_from_environment
from practice.engine.output import Output
from practice.engine.server import Server
from practice.engine.speculation import (
    ConfigRefusedError,
    Speculation,
    refuse_missing_drafter,
    resolve,
)
from practice.engine.startup import Lines
from practice.engine.state import ServerState

TICK_S = 0.05


def main(argv: Sequence[str]) -> int:
    """Run ``vllm`` with these arguments and return the exit code."""
    output = Output(sys.stdout.buffer, sys.stderr.buffer)
    try:
        if list(argv[:1]) == ["bench"]:
            return bench(argv[1:], output)
        modes = modes_from_environment(os.environ)
        arguments = parse_command(argv)
    except (ModeError, UsageError) as error:
        output.err(str(error))
        return USAGE_EXIT_CODE
    return _Process(arguments, modes, output).run()


class _Stopped(Exception):  # noqa: N818 - the ordinary end, not an error
    """The process ends now, with this exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class _Process:
    def __init__(self, arguments: ServeArguments, modes: Modes, output: Output) -> None:
        self._arguments = arguments
        self._modes = modes
        self._output = output
        self._terminated = threading.Event()
        self._started = time.monotonic()
        self._lines = Lines(arguments, None)
        self._noise = Noise(modes.log_rate_per_s, output)

    def run(self) -> int:
        signal.signal(signal.SIGTERM, self._on_signal)
        signal.signal(signal.SIGINT, self._on_signal)
        try:
            self._serve()
        except _Stopped as stop:
            return stop.code
        return 0

    def _on_signal(self, number: int, frame: object) -> None:  # noqa: ARG002
        self._terminated.set()

    def _serve(self) -> None:
        self._lines.write(self._output, "banner")
        server = self._bind()
        speculation = self._configure()
        self._lines = Lines(self._arguments, speculation)
        self._lines.write(self._output, "accepted")
        self._start()
        state = self._new_state(speculation)
        if server is not None:
            server.open(state)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self._lines.write(self._output, "ready", address=server.address)
        self._run(state, headless=server is None)

    def _bind(self) -> Server | None:
        if self._arguments.given.get("headless"):
            return None
        try:
            return Server(self._arguments, self._modes, self._output)
        except OSError as error:
            self._output.err("Traceback (most recent call last):")
            self._output.err(
                '  File "/opt/venv/lib/python3.11/site-packages/vllm/entrypoints/'
                'launchers/api_server/entry.py", line 109, in setup_server'
            )
            self._output.err(f"OSError: {error}")
            raise _Stopped(1) from error

    def _configure(self) -> Speculation | None:
        given = self._speculation_given()
        if given is None:
            return None
        try:
            speculation = resolve(
                given,
                self._arguments.model,
                self._arguments.integer("tensor_parallel_size", 1),
            )
            if self._modes.check_paths:
                refuse_missing_drafter(speculation)
        except ConfigRefusedError as error:
            self._lines.write(self._output, "config_refused")
            for line in str(error).split("\n"):
                self._output.err(line)
            raise _Stopped(1) from error
        return None if self._modes.speculation_off else speculation

    def _speculation_given(self) -> object:
        given = self._arguments.given
        short = {
            "method": given.get("spec_method"),
            "model": given.get("spec_model"),
            "num_speculative_tokens": given.get("spec_tokens"),
        }
        short = {key: value for key, value in short.items() if value is not None}
        return given.get("speculative_config", short or None)

    def _start(self) -> None:
        """Write the start-up lines, spread over the time until ready."""
        took = f"{self._modes.ready_after_s:.2f}"
        count = len(list(self._lines.filled("startup", took=took)))
        lines = self._lines.filled("startup", took=took)
        pause = self._modes.ready_after_s / count
        for number, (text, to_stderr) in enumerate(lines):
            (self._output.err if to_stderr else self._output.out)(text)
            if number == count // 2:
                self._fail_under_way()
            self._wait(pause)

    def _fail_under_way(self) -> None:
        if self._modes.out_of_memory:
            show_out_of_memory(self._modes.out_of_memory, self._lines, self._output)
            raise _Stopped(1)
        while self._modes.hang:
            self._wait(1.0)

    def _new_state(self, speculation: Speculation | None) -> ServerState:
        rates: tuple[float, ...] = ()
        if speculation is not None:
            rates = acceptance_by_position(
                speculation.method, speculation.count, self._modes.acceptance
            )
        transfer = self._arguments.mapping("kv_transfer_config")
        return ServerState(
            self._modes,
            speculation,
            rates,
            engines=self._arguments.engine_count,
            prefill_only=transfer.get("kv_role") == "kv_producer",
        )

    def _run(self, state: ServerState, *, headless: bool) -> None:
        quiet = headless or bool(self._arguments.given.get("disable_log_stats"))
        next_print = time.monotonic() + self._modes.log_interval_s
        before = time.monotonic()
        while True:
            self._wait(TICK_S)
            now = time.monotonic()
            if not headless:
                state.add_synthetic_load(now - before)
            before = now
            if now >= next_print:
                next_print += self._modes.log_interval_s
                write_hostile_lines(self._modes, self._output)
                if not quiet:
                    state.print_interval(self._output)

    def _wait(self, seconds: float) -> None:
        """Wait, writing noise meanwhile; ends the process when its time has come."""
        end = time.monotonic() + seconds
        before = time.monotonic()
        while True:
            left = end - time.monotonic()
            if self._terminated.wait(max(0.0, min(left, TICK_S))):
                self._stop()
            self._die_on_time()
            now = time.monotonic()
            self._noise.write(now - before)
            before = now
            if now >= end:
                return

    def _die_on_time(self) -> None:
        after = self._modes.exit_after_s
        if after is not None and time.monotonic() - self._started >= after:
            self._lines.write(self._output, "engine_died")
            raise _Stopped(self._modes.exit_code)

    def _stop(self) -> None:
        time.sleep(self._modes.slow_stop_s)
        self._lines.write(self._output, "shutdown")
        raise _Stopped(0)
