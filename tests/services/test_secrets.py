"""Secrets in rows: readable with a key only, for their own row only, and movable to another key."""

import pytest
from cryptography.fernet import Fernet
from pytest_django import Settings

from deployments.services.secrets import SecretsError, reseal, seal, unseal


def test_a_secret_comes_back_for_its_owner_only() -> None:
    sealed = seal("the value", owner="host:1")
    assert "the value" not in sealed
    assert unseal(sealed, owner="host:1") == "the value"
    with pytest.raises(SecretsError, match="another row"):
        unseal(sealed, owner="host:2")


def test_the_same_secret_never_looks_the_same() -> None:
    assert seal("value", owner="a") != seal("value", owner="a")


def test_a_new_key_in_front_reads_old_secrets_and_then_stands_alone(
    settings: Settings,
) -> None:
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    settings.CREDENTIALS_KEYS = [old]
    sealed = seal("value", owner="a")
    settings.CREDENTIALS_KEYS = [new, old]
    moved = reseal(sealed)
    assert unseal(sealed, owner="a") == unseal(moved, owner="a") == "value"
    settings.CREDENTIALS_KEYS = [new]
    assert unseal(moved, owner="a") == "value"
    with pytest.raises(SecretsError, match="No key in CREDENTIALS_KEY"):
        unseal(sealed, owner="a")


@pytest.mark.parametrize(
    ("keys", "words"), [([], "no key for secrets"), (["short"], "32 bytes in base64")]
)
def test_without_a_usable_key_nothing_is_kept(
    keys: list[str], words: str, settings: Settings
) -> None:
    settings.CREDENTIALS_KEYS = keys
    with pytest.raises(SecretsError, match=words):
        seal("value", owner="a")


def test_changed_ciphertext_is_refused() -> None:
    sealed = seal("value", owner="a")
    broken = sealed[:-4] + ("AAAA" if sealed[-4:] != "AAAA" else "BBBB")
    with pytest.raises(SecretsError):
        unseal(broken, owner="a")
