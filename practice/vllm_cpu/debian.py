"""Debian packages: what the image of vLLM stands on, fetched by apt-get and never installed here."""

import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

from practice.archive import RootArchive
from practice.vllm_cpu.install import HOME, InstallError

PACKAGES = (
    "base-files",
    "bash",
    "coreutils",
    "curl",
    "dash",
    "findutils",
    "g++",
    "grep",
    "libc-bin",
    "libnuma1",
    "mawk",
    "procps",
    "sed",
    "util-linux",
)
"""A shell, what a health check needs, and a compiler: torch.compile writes C++."""
FOLDER = HOME / "debian"
STAMP = ".fetched"
MERGED = {"bin": "usr/bin", "sbin": "usr/sbin", "lib": "usr/lib", "lib64": "usr/lib64"}
"""Directories that are links since Debian 12; packages may still name the old ones."""
UNREAD = ("usr/share/doc/", "usr/share/man/", "usr/share/locale/", "usr/share/info/")


def fetched() -> list[Path]:
    """Return the package files, fetched once into ``var/vllm-cpu/debian``.

    Raises:
        InstallError: this machine has no apt-get, or it failed; its words are on standard error.
    """
    stamp = FOLDER / STAMP
    wanted = "\n".join(PACKAGES)
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
        _fetch()
        stamp.write_text(wanted, encoding="utf-8")
    return sorted(FOLDER.glob("*.deb"))


def _fetch() -> None:
    for program in ("apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            raise InstallError(
                f"The image stands on Debian packages and needs {program}: build it on Debian or Ubuntu."
            )
    shutil.rmtree(FOLDER, ignore_errors=True)
    state, cache = FOLDER / "state", FOLDER / "cache"
    for folder in (state / "lists" / "partial", cache / "archives" / "partial"):
        folder.mkdir(parents=True)
    (state / "status").touch()  # as if nothing were installed: everything is fetched
    options = {
        "Dir::State": state,
        "Dir::State::status": state / "status",
        "Dir::Cache": cache,
        "APT::Install-Recommends": "false",
        "APT::Sandbox::User": "",
        "Debug::NoLocking": "true",
    }
    words = [
        word for key, value in options.items() for word in ("-o", f"{key}={value}")
    ]
    _run("apt-get", "--quiet=2", *words, "update")
    _run(
        "apt-get", "--quiet=2", *words, "--yes", "--download-only", "install", *PACKAGES
    )
    for package in (cache / "archives").glob("*.deb"):
        package.rename(FOLDER / package.name)
    for folder in (state, cache):
        shutil.rmtree(folder)


def _run(*command: str) -> None:
    done = subprocess.run(  # noqa: S603 - fixed programs
        command, check=False, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    )
    if done.returncode:
        raise InstallError(f"`{command[0]}` could not fetch the packages; see above.")


def unpack(packages: list[Path], archive: RootArchive) -> None:
    """Add what the packages hold, without running anything of theirs.

    Raises:
        InstallError: a package file is damaged.
    """
    for old, new in MERGED.items():
        archive.directory(new)
        archive.link(old, new)
    for package in packages:
        for entry, whole in _entries(package):
            content = whole.extractfile(entry) if entry.isreg() else None
            archive.member(entry, content)  # type: ignore[arg-type]


def _entries(package: Path) -> Iterator[tuple[tarfile.TarInfo, tarfile.TarFile]]:
    command = ("dpkg-deb", "--fsys-tarfile", str(package))
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE) as process,  # noqa: S603
        tarfile.open(fileobj=process.stdout, mode="r|") as whole,
    ):
        for entry in whole:
            entry.name = merged(entry.name)
            if entry.islnk():
                entry.linkname = merged(entry.linkname)
            if entry.name and not entry.name.startswith(UNREAD):
                yield entry, whole
    if process.returncode:
        raise InstallError(
            f"{package} cannot be unpacked; remove {FOLDER} and start again."
        )


def merged(name: str) -> str:
    """Write a name of a package as it lies in the image: ``./lib/x`` is ``usr/lib/x``."""
    name = name.removeprefix("./").strip("/")
    top, slash, rest = name.partition("/")
    if name == ".":
        return ""
    return f"{MERGED[top]}{slash}{rest}" if top in MERGED else name
