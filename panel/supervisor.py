"""``make run``: prepares the data, starts every part, and stops all of them together."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType

from panel.lab.defaults import LAB_DIRECTORY, lab_environment
from panel.lab.parts import fresh_log, parts
from panel.lab.prepare import PASSWORD_PREFIX
from panel.lab.processes import Child, LabError, port_is_free, wait_until
from panel.lab.redis_server import (
    OwnRedis,
    find_program,
    install_package,
    own_redis,
    require_answer,
)

DEFAULT_PORT = 8000
START_TIMEOUT_S = 90.0
LARGEST_PORT = 65535
RESTARTS_PER_MINUTE = 5
OWN_KEYS = ("SECRET_KEY", "CREDENTIALS_KEY")


class Stop:
    """Remembers that somebody asked to stop."""

    def __init__(self) -> None:
        self.event = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._ask)

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self.event.set()


def main() -> int:
    """Run the panel until it is told to stop; return the exit status."""
    stop = Stop()
    try:
        run(LAB_DIRECTORY, chosen_port(os.environ.get("PORT", "")), stop)
    except LabError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def run(directory: Path, port: int, stop: Stop) -> None:
    """Start everything, say where it is, and wait.

    Raises:
        LabError: the folder cannot be used, the port is taken, or a part cannot start or keeps
            ending.
    """
    try:
        settings = lab_environment(directory)
    except OSError as error:
        raise LabError(
            f"The folder {directory} cannot hold the panel's data ({error.strerror}): "
            "name another one with LAB_DIRECTORY=."
        ) from error
    with ExitStack() as running:
        running.enter_context(only_one(directory))
        require_free(port)
        environment = {
            **{key: value for key, value in os.environ.items() if key not in OWN_KEYS},
            **settings,
            "PYTHONUNBUFFERED": "1",
        }
        if given := os.environ.get("REDIS_URL"):
            environment["REDIS_URL"] = given
        redis = broker(directory)
        if redis is not None:
            running.callback(redis.child.stop)
            redis.start()
            environment["REDIS_URL"] = redis.url
        password = prepare(environment)
        children = parts(port, directory / "log", environment)
        for child in children:
            running.callback(child.stop)
        running.callback(stop_together, children)
        for child in children:
            child.start()
        wait_for_health(port, children, stop)
        if not stop.event.is_set():
            announce(port, password, directory)
        watch([redis.child, *children] if redis else children, stop)
        say("Stopping ...")


def chosen_port(text: str) -> int:
    """Return the port of the web server.

    Raises:
        LabError: not a port number.
    """
    if not text:
        return DEFAULT_PORT
    if not text.isdecimal() or not 0 < int(text) <= LARGEST_PORT:
        raise LabError(
            f"PORT is {text!r}, but must be a number from 1 to {LARGEST_PORT}."
        )
    return int(text)


def require_free(port: int) -> None:
    """Refuse a port that somebody else listens on.

    Raises:
        LabError: it is taken.
    """
    if not port_is_free(port):
        raise LabError(
            f"Port {port} is taken: choose another one with PORT=, for example "
            f"`make run PORT={port + 1}`."
        )


@contextmanager
def only_one(directory: Path) -> Iterator[None]:
    """Hold the lab's directory alone.

    Raises:
        LabError: another supervisor holds it.
    """
    with (directory / "supervisor.lock").open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.seek(0)
            raise LabError(
                f"Draftboard already runs from this folder (process {file.read().strip()}): "
                "stop it first."
            ) from error
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def broker(directory: Path) -> OwnRedis | None:
    """Return a Redis of our own, not yet started; None where REDIS_URL names another.

    Raises:
        LabError: there is no Redis to be had on this machine, or the one named is not there.
    """
    if given := os.environ.get("REDIS_URL"):
        require_answer(given)
        return None
    program = find_program() or install_package()
    log = fresh_log(directory / "log" / "redis.log")
    return own_redis(directory / "redis", program, log)


def prepare(environment: dict[str, str]) -> str | None:
    """Bring the data up to date; return the one-time password if there is a new one.

    Raises:
        LabError: a step failed.
    """
    done = subprocess.run(
        [sys.executable, "-m", "panel.lab.prepare"],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    password = None
    for line in done.stdout.splitlines():
        if line.startswith(PASSWORD_PREFIX):
            password = json.loads(line.removeprefix(PASSWORD_PREFIX))["password"]
        else:
            say(line)
    if done.returncode:
        raise LabError("Preparing the data failed; the lines above say why.")
    return password


def wait_for_health(port: int, children: list[Child], stop: Stop) -> None:
    """Wait until the health page says that database and broker answer.

    Raises:
        LabError: a part ended, or it took too long.
    """

    def settled() -> bool:
        ended = any(not child.running() for child in children)
        return ended or stop.event.is_set() or healthy(port)

    in_time = wait_until(settled, timeout_s=START_TIMEOUT_S, interval_s=0.2)
    if stop.event.is_set():
        return
    for child in children:
        if not child.running():
            raise LabError(f"The part {child.name} ended:\n{child.last_words()}")
    if not in_time:
        raise LabError(
            f"The panel did not answer within {START_TIMEOUT_S:.0f} seconds."
        )


def healthy(port: int) -> bool:
    """Whether the health page answers, with database and broker."""
    try:
        with urllib.request.urlopen(
            f"http://127.0.0.1:{port}/healthz", timeout=2
        ) as answer:
            body = json.load(answer)
    except (OSError, ValueError):
        return False
    return bool(body["database"] and body["broker"])


def watch(children: list[Child], stop: Stop) -> None:
    """Start again what ends by itself, until told to stop.

    Raises:
        LabError: a part ends again and again.
    """
    restarts: list[float] = []
    while not stop.event.wait(0.5):
        for child in children:
            if child.running():
                continue
            child.stop()
            now = time.monotonic()
            restarts = [*(then for then in restarts if now - then < 60), now]
            if len(restarts) > RESTARTS_PER_MINUTE:
                raise LabError(
                    f"The part {child.name} ends again and again:\n{child.last_words()}"
                )
            say(f"The part {child.name} ended; starting it again.")
            child.start()


def stop_together(children: list[Child]) -> None:
    """Ask all parts to end before waiting for the first one."""
    for child in children:
        child.send(signal.SIGTERM)


def announce(port: int, password: str | None, directory: Path) -> None:
    """Say where the panel is, and how to get in."""
    say("")
    say(f"Draftboard is ready: http://127.0.0.1:{port}/")
    if password:
        say(f"Log in as admin with the one-time password {password}")
        say("(It is shown this once; `make password` makes a new one.)")
    say("Lab mode: whoever can log in can use the Docker Engine of this machine.")
    say(f"Data and logs: {directory}. Ctrl-C stops everything.")


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
