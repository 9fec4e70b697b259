"""``manage.py show_engine_profile`` and ``profile_engine`` with a file."""

import io
import json
import tarfile
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.planning.engines.sources import PLUGIN, VLLM


def _run(*words: str) -> str:
    output = io.StringIO()
    call_command(*words, stdout=output)
    return output.getvalue()


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "vllm-0.99.0.tar.gz"
    with tarfile.open(path, "w:gz") as file:
        for name, text in VLLM.items():
            entry = tarfile.TarInfo(f"vllm-0.99.0/{name}")
            entry.size = len(text.encode())
            file.addfile(entry, io.BytesIO(text.encode()))
    return path


def test_show_prints_one_object_with_the_keys_of_the_contract() -> None:
    answer = json.loads(_run("show_engine_profile", "vllm", "0.32.0", "--json"))
    assert (answer["engine"], answer["version"]) == ("vllm", "0.32.0")
    assert "--tensor-parallel-size" in answer["flags"]
    assert "-tp" in answer["flags"]
    assert "method" in answer["speculative_keys"]
    assert "mtp" in answer["methods"]
    assert "deepseek_mtp" in answer["deprecated_methods"]
    assert answer["refused_methods"] == ["mlp_speculator"]
    assert answer["unknown_keys"] == "error"
    assert answer["entrypoint"] == ["vllm", "serve"]
    assert (answer["fit"], answer["note"]) == ("exact", None)


def test_show_says_which_profile_stands_in() -> None:
    answer = json.loads(_run("show_engine_profile", "vllm", "0.50.0", "--json"))
    assert (answer["version"], answer["fit"]) == ("0.33.0", "newer")
    assert "is newer than all profiles" in answer["note"]


def test_show_is_readable() -> None:
    text = _run("show_engine_profile", "vllm-ascend", "v0.23.0rc1-a3")
    assert "vllm-ascend==0.23.0rc1 (vLLM 0.23.0)" in text
    assert "Entrypoint of the official image: none" in text
    assert "Metrics: vllm:" in text


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("vllm", "new"), "is not an engine version"),
        (("sglang", "0.5"), "is not an engine that this panel knows"),
        (("vllm", "0.32.0", "--file", "/nowhere"), "cannot be read"),
    ],
)
def test_show_ends_with_2_for_unusable_input(
    words: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(CommandError, match=sentence) as caught:
        _run("show_engine_profile", *words)
    assert caught.value.returncode == 2


def test_profile_of_an_archive_is_written_and_shown(
    archive: Path, tmp_path: Path
) -> None:
    output = tmp_path / "profile.json"
    text = _run("profile_engine", "--wheel", str(archive), "--output", str(output))
    assert "vllm==0.99.0 (vLLM 0.99.0) from vllm-0.99.0.tar.gz" in text
    assert "Compared with the shipped profile vllm==0.33.0:" in text
    assert "flags removed: " in text
    words = ("show_engine_profile", "vllm", "0.99.0", "--file", str(output), "--json")
    assert json.loads(_run(*words))["version"] == "0.99.0"


def test_profile_is_one_object(archive: Path) -> None:
    document = json.loads(_run("profile_engine", "--wheel", str(archive), "--json"))
    assert document["source"] == "vllm-0.99.0.tar.gz"


def test_profile_that_is_written_nowhere_is_one_sentence(archive: Path) -> None:
    with pytest.raises(CommandError, match="cannot be written") as caught:
        _run("profile_engine", "--wheel", str(archive), "--output", "/nowhere/x.json")
    assert caught.value.returncode == 2


def test_file_that_is_no_profile_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    path.write_text("no JSON")
    with pytest.raises(CommandError, match="holds no JSON"):
        _run("show_engine_profile", "vllm", "0.32.0", "--file", str(path))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "cannot be read: No such file"),
        (b"no archive", "is no whole wheel"),
        (b"", "is no whole wheel"),
    ],
)
def test_file_that_is_no_archive_is_one_sentence(
    tmp_path: Path, content: bytes | None, sentence: str
) -> None:
    path = tmp_path / "vllm.whl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CommandError, match=sentence) as caught:
        _run("profile_engine", "--wheel", str(path))
    assert caught.value.returncode == 2


def test_archive_of_something_else_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "other.tar.gz"
    with tarfile.open(path, "w:gz") as file:
        entry = tarfile.TarInfo("other-1.0/other/__init__.py")
        file.addfile(entry, io.BytesIO())
    with pytest.raises(CommandError, match="holds no files of vllm"):
        _run("profile_engine", "--wheel", str(path))


def test_archive_that_is_cut_off_is_one_sentence(archive: Path) -> None:
    whole = archive.read_bytes()
    archive.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CommandError, match="Download it again"):
        _run("profile_engine", "--wheel", str(archive))


def test_plugin_on_a_vllm_without_profile_takes_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "vllm_ascend-0.99.0rc1.tar.gz"
    with tarfile.open(path, "w:gz") as file:
        for name, text in PLUGIN.items():
            entry = tarfile.TarInfo(f"vllm_ascend-0.99.0rc1/{name}")
            entry.size = len(text.encode())
            file.addfile(entry, io.BytesIO(text.encode()))
    document = json.loads(_run("profile_engine", "--wheel", str(path), "--json"))
    assert document["vllm_version"] == "0.33.0"
