"""A private Docker Engine: own data, socket, bridge and cgroup, beside any other one."""

import ipaddress
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import closing, suppress
from pathlib import Path

import docker
from docker.errors import APIError, DockerException
from requests import RequestException

from panel.lab.processes import Child, LabError, wait_until

__all__ = ["PrivateEngine"]

START_TIMEOUT_S = 40.0
STATE = "engine.json"
CGROUPS = Path("/sys/fs/cgroup")


class PrivateEngine:
    """One ``dockerd`` in one folder; ``url`` is its address.

    Containers get addresses from a network of ours and reach each other, and
    published ports answer on this machine. Nothing is routed to the outside: it leaves the
    packet filter to others, but for one rule that is taken away at the end. ``within`` is a program
    that prepares the daemon's surroundings and then becomes it.
    """

    def __init__(
        self,
        folder: Path,
        *,
        options: tuple[str, ...] = (),
        within: tuple[str, ...] = (),
    ) -> None:
        self.folder = folder
        self.url = f"unix://{folder / 'docker.sock'}"
        self.name = f"dbt{os.getpid() % 10**6}-{abs(hash(str(folder))) % 1000}"
        self.network = ipaddress.IPv4Network("10.255.255.0/24")
        self.options = options
        self.within = within
        self.child: Child | None = None

    def start(self) -> None:
        """Start it and wait until it answers.

        Raises:
            LabError: not root, no bridge to be had, or it did not answer in time.
        """
        if os.geteuid() != 0:
            raise LabError("A private Docker Engine needs root: run `sudo make test`.")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.network = _free_network()
        (self.folder / "daemon.json").write_text("{}", encoding="utf-8")
        state = json.dumps({"name": self.name, "network": str(self.network)})
        (self.folder / STATE).write_text(state, encoding="utf-8")
        self._make_bridge()
        self.launch()

    @classmethod
    def left_in(cls, folder: Path) -> "PrivateEngine | None":
        """Return the engine whose owner was killed before it could stop it."""
        try:
            state = json.loads((folder / STATE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        engine = cls(folder)
        engine.name = state["name"]
        engine.network = ipaddress.IPv4Network(state["network"])
        return engine

    def launch(self) -> None:
        """Start the daemon, for the first time or again after ``kill``.

        Raises:
            LabError: it did not answer in time.
        """
        self._forget_containerd()
        self.child = Child(
            name="dockerd",
            command=self._command(),
            log=self.folder / "dockerd.log",
            patience_s=20,
        )
        self.child.start()
        child = self.child
        settled = wait_until(
            lambda: self.answers() or not child.running(), timeout_s=START_TIMEOUT_S
        )
        if not settled or not child.running():
            words = child.last_words(12)
            raise LabError(f"The Docker Engine did not start; its log ends:\n{words}")

    def _forget_containerd(self) -> None:
        """Let a killed engine start again though its containerd died with it.

        Until somebody collects the dead process its number looks alive, and the engine waits for it.
        """
        known = self.folder / "exec" / "containerd" / "containerd.pid"
        with suppress(OSError):
            number = int(known.read_text(encoding="ascii"))
            state = Path(f"/proc/{number}/stat").read_text(encoding="ascii")
            if state.rpartition(")")[2].split()[0] == "Z":
                known.unlink()

    def answers(self) -> bool:
        """Whether it answers now."""
        try:
            # The SDK leaves a socket open that nobody listens to.
            with socket.socket(socket.AF_UNIX) as plain:
                plain.connect(self.url.removeprefix("unix://"))
            with closing(_client(self.url)) as client:
                return bool(client.ping())
        except (OSError, DockerException, RequestException):
            return False

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        """Send the daemon alone a signal, as a crash would end it."""
        if self.child and self.child.process:
            self.child.process.send_signal(number)
            if number in {signal.SIGSTOP, signal.SIGCONT}:
                return
            self.child.process.wait()
            (self.folder / "docker.pid").unlink(missing_ok=True)

    def stop(self) -> None:
        """Remove what it holds, end it, and take its traces from the machine."""
        if self.child and self.child.running():
            self.child.send(signal.SIGCONT)
            self._empty()
        if self.child:
            self.child.stop()
        self._kill_containers()
        self._unmount()
        self._remove_links()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _command(self) -> list[str]:
        folder = self.folder
        return [
            *self.within,
            "dockerd",
            f"--config-file={folder / 'daemon.json'}",
            f"--data-root={folder / 'data'}",
            f"--exec-root={folder / 'exec'}",
            f"--pidfile={folder / 'docker.pid'}",
            f"--host={self.url}",
            f"--bridge={self.name}",
            f"--default-address-pool=base={self._pool()},size=24",
            f"--cgroup-parent=/{self.name}",
            "--exec-opt=native.cgroupdriver=cgroupfs",
            f"--containerd-namespace={self.name}",
            f"--containerd-plugins-namespace={self.name}-plugins",
            "--iptables=false",
            "--ip6tables=false",
            "--ip-masq=false",
            "--ip-forward=false",
            "--userland-proxy=true",
            "--shutdown-timeout=5",
            "--log-level=warn",
            *self.options,
        ]

    def _pool(self) -> str:
        return str(list(self.network.subnets(prefixlen_diff=1))[1])

    def _make_bridge(self) -> None:
        gateway = next(self.network.hosts())
        _run("ip", "link", "add", "name", self.name, "type", "bridge")
        _run("ip", "address", "add", f"{gateway}/24", "dev", self.name)
        _run("ip", "link", "set", self.name, "up")
        # Another engine on this machine may drop what is forwarded between containers.
        _run(*self._rule("-I"), check=False)

    def _rule(self, action: str) -> list[str]:
        net = str(self.network)
        rule = ["FORWARD", "-s", net, "-d", net, "-j", "ACCEPT"]
        return ["iptables", "-w", action, *rule]

    def _empty(self) -> None:
        with (
            suppress(DockerException, RequestException),
            closing(_client(self.url)) as client,
        ):
            for container in client.containers.list(all=True):
                with suppress(APIError):
                    container.remove(force=True, v=True)
            client.networks.prune()

    def _kill_containers(self) -> None:
        """End what an engine left behind that was killed, by its cgroup."""
        groups = [*CGROUPS.glob(f"*/{self.name}"), *CGROUPS.glob(self.name)]
        for _ in range(20):
            left = {pid for group in groups for pid in _members(group)}
            left |= _processes_with(str(self.folder))
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if not left:
                break
            time.sleep(0.1)
        for group in groups:
            for folder in sorted(group.rglob("*"), reverse=True):
                if folder.is_dir():
                    with suppress(OSError):
                        folder.rmdir()
            with suppress(OSError):
                group.rmdir()

    def _unmount(self) -> None:
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
        points = [line.split(" ")[1] for line in mounts]
        for point in reversed(points):
            if point.startswith(f"{self.folder}/"):
                _run("umount", "--lazy", point, check=False)

    def _remove_links(self) -> None:
        _run(*self._rule("-D"), check=False)
        answer = subprocess.run(
            ["ip", "-json", "address"],  # noqa: S607
            capture_output=True,
            check=False,
        )
        for link in json.loads(answer.stdout or b"[]"):
            addresses = [info.get("local", "") for info in link.get("addr_info", [])]
            if any(_inside(address, self.network) for address in addresses):
                _run("ip", "link", "delete", link["ifname"], check=False)


def _client(url: str) -> docker.DockerClient:
    return docker.DockerClient(base_url=url, timeout=10)


def _run(*command: str, check: bool = True) -> None:
    done = subprocess.run(command, capture_output=True, check=False)
    if check and done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise LabError(
            f"`{' '.join(command)}` failed ({said}): the tests need the right to make "
            "network bridges."
        )


def _free_network() -> ipaddress.IPv4Network:
    """Return a private network that no route of this machine leads to."""
    lines = Path("/proc/net/route").read_text(encoding="utf-8").splitlines()[1:]
    routes = [bytes.fromhex(line.split()[1])[::-1] for line in lines]
    taken = {route[1] for route in routes if route[0] == 10}
    for second in range(os.getpid() % 100 + 100, 255):
        if second not in taken:
            return ipaddress.IPv4Network(f"10.{second}.0.0/16")
    raise LabError("All private networks up to 10.254.0.0 are in use here.")


def _inside(address: str, network: ipaddress.IPv4Network) -> bool:
    try:
        return ipaddress.ip_address(address) in network
    except ValueError:
        return False


def _members(group: Path) -> set[int]:
    pids: set[int] = set()
    for file in group.rglob("cgroup.procs"):
        with suppress(OSError):
            pids |= {int(pid) for pid in file.read_text(encoding="utf-8").split()}
    return pids


def _processes_with(text: str) -> set[int]:
    """Return the daemons and shims whose arguments name our folder."""
    pids: set[int] = set()
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if f"{text}/exec" in file.read_text(encoding="utf-8", errors="replace"):
                pids.add(int(file.parent.name))
    return pids
