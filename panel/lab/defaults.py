"""Settings of the one-machine lab, used where nobody has configured the panel."""

import base64
import os
import secrets
from pathlib import Path

__all__ = ["LAB_DIRECTORY", "REDIS_ADDRESS", "apply_lab_defaults", "lab_environment"]

_VAR = Path(__file__).resolve().parent.parent.parent / "var"
LAB_DIRECTORY = Path(os.environ.get("LAB_DIRECTORY") or _VAR).resolve()
REDIS_ADDRESS = "address"
_CONFIGURED_BY = ("SECRET_KEY", "SECRET_KEY_FILE", "DATABASE_URL", "DEBUG")


def apply_lab_defaults() -> None:
    """Fill in the lab's settings, unless the environment configures the panel itself."""
    if any(os.environ.get(name) for name in _CONFIGURED_BY):
        return
    for name, value in lab_environment(LAB_DIRECTORY).items():
        os.environ.setdefault(name, value)


def lab_environment(directory: Path) -> dict[str, str]:
    """Return the variables of a lab that keeps everything in ``directory``.

    Makes the directory and keys of its own on first use.
    """
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    key = directory / "secret-key"
    if not key.exists():
        _write_secret(key, secrets.token_urlsafe(64))
    credentials = directory / "credentials-key"
    if not credentials.exists():
        words = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
        _write_secret(credentials, words)
    return {
        "SECRET_KEY_FILE": str(key),
        "CREDENTIALS_KEY_FILE": str(credentials),
        "DATABASE_URL": f"sqlite:///{directory / 'draftboard.sqlite3'}",
        "ALLOWED_HOSTS": "127.0.0.1,localhost,[::1]",
        "REDIS_URL": _redis_address(directory / "redis"),
        "LAB_MODE": "1",
        "DEBUG": "0",
        "SERVED_OVER_HTTPS": "0",
    }


def _redis_address(directory: Path) -> str:
    """Return where the lab's Redis listens, or will once it runs."""
    try:
        return (directory / REDIS_ADDRESS).read_text(encoding="utf-8").strip()
    except OSError:
        return f"unix://{directory / 'redis.sock'}"


def _write_secret(path: Path, words: str) -> None:
    """Write a new key, readable by its owner only; another process may win the race."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(f"{words}\n")
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
