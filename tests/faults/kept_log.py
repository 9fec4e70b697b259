"""Everything that an engine ever wrote into the log of a container, also what it threw away since."""

import json
import os
import re
import threading
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from deployments.docker_api.client import Engine
from deployments.docker_api.frames import timestamp_ns
from deployments.docker_api.reading import as_object, string

LOOK_S = 0.5
_NUMBER = re.compile(r"Accepted: (\d+) tokens")


class KeptLog:
    """Holds each of the engine's files open from its first second on, so that it stays readable."""

    def __init__(self, engine: Engine, container_id: str) -> None:
        info = as_object(engine.call("GET", "/info", act="find its files"))
        root = Path(string(info, "DockerRootDir"))
        self._folder = root / "containers" / container_id
        self._files: dict[int, BinaryIO] = {}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopped.set()
        self._thread.join()
        self._hold()

    def written(self) -> list[tuple[int, int]]:
        """The numbers of the generator's windows, each with its time stamp in nanoseconds; asked once."""
        found = []
        for file in self._files.values():
            with file:
                file.seek(0)
                for line in file:
                    entry = json.loads(line)
                    number = _NUMBER.search(entry["log"])
                    if number is not None:
                        found.append((int(number[1]), timestamp_ns(entry["time"]) or 0))
        self._files.clear()
        return sorted(found)

    def _look(self) -> None:
        while not self._stopped.wait(LOOK_S):
            self._hold()

    def _hold(self) -> None:
        for path in self._folder.glob("*-json.log*"):
            try:
                file = path.open("rb")
            except FileNotFoundError:  # it was rotated away just now
                continue
            inode = os.fstat(file.fileno()).st_ino
            if inode in self._files:
                file.close()
            else:
                self._files[inode] = file
