"""A private PostgreSQL cluster on a Unix socket."""

import os
import shutil
import signal
import subprocess
from pathlib import Path
from urllib.parse import quote

from panel.lab.processes import Child, LabError, wait_until
from tests.environment.packages import find_program

__all__ = ["PrivatePostgres"]

DATABASE = "draftboard"
# The data is thrown away, so nothing waits for the disk.
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "60",
}


class PrivatePostgres:
    """One cluster in one folder; ``url`` is the address of its database."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.user = "postgres" if os.geteuid() == 0 else None
        host = quote(str(folder), safe="")
        self.url = f"postgresql://postgres@{host}/{DATABASE}"
        self.child: Child | None = None
        self._ready: list[str] = []

    def start(self) -> None:
        """Make the cluster, start it, and make the database.

        Raises:
            LabError: the programs are missing, or the server did not answer in time.
        """
        server = find_program("/usr/lib/postgresql/*/bin/postgres", "postgres")
        if server is None:
            raise LabError("PostgreSQL is missing: install the package postgresql.")
        self.folder.mkdir(mode=0o700, parents=True)
        if self.user:
            shutil.chown(self.folder, self.user, self.user)
        data = self.folder / "data"
        initdb = [str(server.with_name("initdb")), f"--pgdata={data}", "--auth=trust"]
        self._run([*initdb, "--username=postgres", "--encoding=UTF8", "--no-sync"])
        options = [f"-c{key}={value}" for key, value in SETTINGS.items()]
        self.child = Child(
            name="postgres",
            command=[str(server), "-D", str(data), "-k", str(self.folder), *options],
            log=self.folder.parent / "postgres.log",
            user=self.user,
            # A smart shutdown would wait for clients; SIGINT makes it a fast one.
            signals=(signal.SIGINT, signal.SIGQUIT),
            patience_s=15,
        )
        self._ready = [
            str(server.with_name("pg_isready")),
            "-q",
            "-h",
            str(self.folder),
        ]
        self._launch(self.child)
        create = [str(server.with_name("createdb")), "-h", str(self.folder)]
        self._run([*create, "-U", "postgres", DATABASE])

    def stop(self) -> None:
        """End the server; the folder goes with the environment's."""
        if self.child:
            self.child.stop()

    def crash(self) -> None:
        """End it at once, as a crash would, and start it again.

        Raises:
            LabError: it did not answer in time.
        """
        if self.child is None or self.child.process is None:
            raise LabError("PostgreSQL does not run.")
        self.child.send(signal.SIGQUIT)
        self.child.process.wait(20)
        self._launch(self.child)

    def _launch(self, child: Child) -> None:
        child.start()
        if not wait_until(lambda: self._succeeds(self._ready), timeout_s=20):
            words = child.last_words()
            raise LabError(f"PostgreSQL did not answer; its log ends:\n{words}")

    def _run(self, command: list[str]) -> None:
        done = self._popen(command)
        if done.returncode:
            said = done.stderr.decode(errors="replace")
            raise LabError(f"{Path(command[0]).name} failed:\n{said}")

    def _succeeds(self, command: list[str]) -> bool:
        return self._popen(command).returncode == 0

    def _popen(self, command: list[str]) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            command,
            capture_output=True,
            check=False,
            cwd="/",
            user=self.user,
            group=self.user,
            extra_groups=[] if self.user else None,
        )
