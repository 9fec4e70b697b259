"""What the image of vLLM is packed of: Debian's packages at the places of a merged /usr."""

import io
import tarfile
from pathlib import Path

import pytest

from practice.archive import RootArchive
from practice.vllm_cpu import debian, image
from practice.vllm_cpu.install import InstallError


@pytest.mark.parametrize(
    ("packed", "place"),
    [
        ("./bin/dash", "usr/bin/dash"),
        ("./lib/x86_64-linux-gnu/libc.so.6", "usr/lib/x86_64-linux-gnu/libc.so.6"),
        ("./lib64/ld-linux-x86-64.so.2", "usr/lib64/ld-linux-x86-64.so.2"),
        ("./etc/.pwd.lock", "etc/.pwd.lock"),
        ("./lib", "usr/lib"),
        (".", ""),
    ],
)
def test_old_directories_are_those_below_usr(packed: str, place: str) -> None:
    assert debian.merged(packed) == place


def test_an_entry_of_a_package_keeps_its_mode_and_comes_once() -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as whole:
        archive = RootArchive(whole)
        for content in (b"first", b"second"):
            entry = tarfile.TarInfo("usr/bin/tool")
            entry.mode, entry.size = 0o4755, len(content)
            archive.member(entry, io.BytesIO(content))
    packed.seek(0)
    with tarfile.open(fileobj=packed) as whole:
        names = whole.getnames()
        tool = whole.extractfile("usr/bin/tool")
        assert tool is not None
        assert tool.read() == b"first"
        assert whole.getmember("usr/bin/tool").mode == 0o4755
    assert names == ["usr", "usr/bin", "usr/bin/tool"]


def test_without_an_installation_the_command_for_it_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(image, "STAMP", tmp_path / "none")
    with pytest.raises(InstallError, match="make vllm-cpu"):
        image.recipe()
