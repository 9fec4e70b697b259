"""A package of a later Debian release: from the same mirror, without touching the machine's sources.

Debian 12 has Compose v1 only, and the files that the panel exports are for Compose v2.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

from panel.lab.processes import LabError

__all__ = ["install_from", "is_older_than"]

RELEASES = ("bullseye", "bookworm", "trixie", "forky")
KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
OS_RELEASE = Path("/etc/os-release")
Run = Callable[[list[str]], str]


def is_older_than(release: str, os_release: Path = OS_RELEASE) -> bool:
    """Whether this machine runs an older Debian than the one named; false on any other system."""
    try:
        lines = os_release.read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    values = dict(line.partition("=")[::2] for line in lines)
    codename = values.get("VERSION_CODENAME", "").strip('"')
    if values.get("ID", "").strip('"') != "debian" or codename not in RELEASES:
        return False
    return RELEASES.index(codename) < RELEASES.index(release)


def install_from(release: str, name: str, *, run: Run) -> None:
    """Install one package of a later release whose dependencies this release satisfies.

    The lists of that release are kept apart in a temporary folder, so that nothing else is ever
    upgraded from it. Signatures are checked as for any other package.

    Raises:
        LabError: no Debian mirror is configured, or a step failed.
    """
    with tempfile.TemporaryDirectory(prefix="later-release-") as made:
        folder = Path(made)
        folder.chmod(0o755)  # apt fetches as a user of its own
        parts = folder / "sources"
        for needed in (parts, folder / "lists/partial", folder / "cache/archives"):
            needed.mkdir(parents=True)
        source = (
            f"Types: deb\nURIs: {_mirror(run)}\nSuites: {release}\n"
            f"Components: main\nSigned-By: {KEYS}\n"
        )
        (parts / f"{release}.sources").write_text(source, encoding="utf-8")
        only = [
            *("-o", "Dir::Etc::SourceList=/dev/null"),
            *("-o", f"Dir::Etc::SourceParts={parts}"),
            *("-o", f"Dir::State::Lists={folder / 'lists'}"),
            *("-o", f"Dir::Cache={folder / 'cache'}"),
            *("-o", "APT::Sandbox::User=root"),
        ]
        run(["apt-get", *only, "update", "-q"])
        # It writes where it stands.
        run(["env", "-C", made, "apt-get", *only, "download", "-q", name])
        packages = [str(path) for path in folder.glob("*.deb")]
        run(["dpkg", "--install", *packages])


def _mirror(run: Run) -> str:
    """Return the mirror that the machine's own packages come from."""
    targets = run(
        [
            *(
                "apt-get",
                "indextargets",
                "--format",
                "$(REPO_URI) $(LABEL) $(COMPONENT)",
            ),
            "Created-By: Packages",
        ]
    )
    for line in targets.splitlines():
        uri, _, rest = line.partition(" ")
        if rest == "Debian main":
            return uri
    raise LabError(
        "No Debian mirror is among the sources of apt: see `man sources.list`."
    )
