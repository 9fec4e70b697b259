"""A private engine for measurements: small containers are started on it, watched for and taken away.

Everything has a deadline, and an interrupted measurement leaves nothing behind: an engine that hangs is
killed with what it started.
"""

import signal
import sys
import tarfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from shutil import which

import docker
from docker.errors import APIError, DockerException
from requests import RequestException

from tests.environment.docker_engine import PrivateEngine

IMAGE = "draftboard-benchmark:small"
CALL_S = 60
REMOVALS_AT_ONCE = 4
"""Docker 20.10 has hung on removing a hundred containers with twice as many calls."""
REMOVAL_S = 90.0
REMOVAL_TRIES = 3


class SmallEngine:
    """One engine with one image; ``image_id`` is it. All of its containers belong to the measurement."""

    def __init__(self, engine: PrivateEngine) -> None:
        self._engine, self.address = engine, engine.url
        self.image_id = _import(self.client())

    def client(self, timeout_s: int = CALL_S) -> docker.DockerClient:
        """A client of its own for each thread."""
        return docker.DockerClient(base_url=self.address, timeout=timeout_s)

    @contextmanager
    def until_started(self, count: int, longest_s: float) -> "Iterator[Started]":
        """Take the time from the beginning of the block to the start of so many containers.

        Raises:
            TimeoutError: the last one had not started after ``longest_s``.
        """
        started = Started(self.client(timeout_s=int(longest_s) + CALL_S), count)
        started.begin()
        try:
            yield started
            started.wait(longest_s)
        finally:
            started.end()

    def clean(self) -> None:
        """Remove every container and network; an engine that hangs is killed and started again.

        Raises:
            TimeoutError: something is left all the same.
        """
        for _try in range(REMOVAL_TRIES):
            with suppress(DockerException, RequestException):
                if self._removed():
                    return
            sys.stderr.write("The engine hangs on removing; it is started again.\n")
            self._engine.kill()
            self._engine.launch()
        raise TimeoutError("containers could not be removed")

    def _removed(self) -> bool:
        names = [str(one.id) for one in self.client().containers.list(all=True)]
        pool = ThreadPoolExecutor(REMOVALS_AT_ONCE, "removals")
        try:
            going = [pool.submit(self._remove, name) for name in names]
            left = wait(going, REMOVAL_S).not_done
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        client = self.client()
        if left or client.containers.list(all=True):
            return False
        client.networks.prune()
        return True

    def _remove(self, name: str) -> None:
        with suppress(APIError, RequestException):
            self.client().api.remove_container(name, v=True, force=True)


class Started:
    """Listens to the engine until so many containers have started; ``seconds`` is the last one's time."""

    def __init__(self, client: docker.DockerClient, count: int) -> None:
        self._client = client
        self._count, self._done = count, threading.Event()
        self._begun = self.seconds = 0.0
        self._events = client.events(
            decode=True, filters={"type": "container", "event": "start"}
        )

    def begin(self) -> None:
        """Listen, and take the time from now."""
        threading.Thread(target=self._listen, daemon=True).start()
        self._begun = time.monotonic()

    def is_set(self) -> bool:
        """Whether all have started."""
        return self._done.is_set()

    def wait(self, longest_s: float) -> None:
        """Wait for the last one.

        Raises:
            TimeoutError: it did not come.
        """
        if not self._done.wait(longest_s):
            raise TimeoutError(
                f"not all of {self._count} started within {longest_s:g} s"
            )

    def end(self) -> None:
        """Listen no more."""
        self._events.close()
        self._client.close()

    def _listen(self) -> None:
        for number, _event in enumerate(self._events, 1):
            if number == self._count:
                self.seconds = time.monotonic() - self._begun
                self._done.set()
                return


@contextmanager
def small_engine(folder: Path) -> Iterator[SmallEngine]:
    """An engine while the block lasts; an end by a signal takes it away like any other."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    engine = PrivateEngine(folder)
    try:
        engine.start()
        yield SmallEngine(engine)
    except BaseException:
        engine.kill()
        raise
    finally:
        engine.stop()


def _import(client: docker.DockerClient) -> str:
    program = which("busybox")
    if program is None:
        raise SystemExit("busybox is missing: apt-get install busybox-static")
    content = BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        archive.add(program, "busybox")
    repository, _colon, tag = IMAGE.partition(":")
    client.api.import_image_from_data(
        content.getvalue(), repository=repository, tag=tag
    )
    return str(client.images.get(IMAGE).id)
