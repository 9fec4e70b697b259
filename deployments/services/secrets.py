"""Secrets in rows: encrypted with a key apart from SECRET_KEY, and bound to the row they belong to.

``CREDENTIALS_KEY`` holds Fernet keys (cryptography 50): the first encrypts, all of them decrypt, so
that a key is changed by putting a new one in front and running ``manage.py reencrypt_secrets``.
"""

import json
from collections.abc import Iterator

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.apps import apps
from django.conf import settings
from django.db.models import Model
from django.utils.translation import gettext as _

from deployments.models.sealed import SealedField
from deployments.services.errors import UseCaseError


class SecretsError(UseCaseError):
    """A secret can be neither kept nor read with the keys that this process has."""

    code = "secrets"


def seal(value: str, *, owner: str) -> str:
    """Encrypt a value for its owner, such as ``host:ID``; only the same owner opens it again.

    Raises:
        SecretsError: no usable key is set.
    """
    document = json.dumps({"owner": owner, "value": value})
    return _keys().encrypt(document.encode()).decode()


def unseal(sealed: str, *, owner: str) -> str:
    """Decrypt what ``seal`` returned for this owner.

    Raises:
        SecretsError: no key fits, the text was changed, or it was copied from another row.
    """
    document = json.loads(_decrypted(sealed))
    if document["owner"] != owner:
        raise SecretsError(
            _(
                "A stored secret belongs to another row than the one it lies in. "
                "Enter the secret again."
            )
        )
    return str(document["value"])


def reseal(sealed: str) -> str:
    """The same secret encrypted with the first key.

    Raises:
        SecretsError: no key fits.
    """
    return _keys().encrypt(_decrypted(sealed)).decode()


def _decrypted(sealed: str) -> bytes:
    try:
        return _keys().decrypt(sealed)
    except InvalidToken as error:
        raise SecretsError(
            _(
                "No key in CREDENTIALS_KEY opens a stored secret. Put the earlier key back "
                "behind the new one, or enter the secret again."
            )
        ) from error


def _keys() -> MultiFernet:
    if not settings.CREDENTIALS_KEYS:
        raise SecretsError(
            _(
                "This panel has no key for secrets. Set CREDENTIALS_KEY "
                "(README.md says how to make one) and start the panel again."
            )
        )
    try:
        return MultiFernet([Fernet(key) for key in settings.CREDENTIALS_KEYS])
    except ValueError as error:
        raise SecretsError(
            _(
                "CREDENTIALS_KEY holds something else than keys of 32 bytes in base64. "
                "README.md says how to make one."
            )
        ) from error


def reseal_all() -> int:
    """Encrypt every stored secret with the first key; returns how many there are.

    A secret that is replaced meanwhile is left alone: it is already encrypted with that key.

    Raises:
        SecretsError: no key fits one of them; those before it are done, none is lost.
    """
    done = 0
    for model, column in _sealed_columns():
        rows = model._default_manager.exclude(**{column: ""})
        for pk, sealed in rows.values_list("pk", column).iterator():
            done += model._default_manager.filter(pk=pk, **{column: sealed}).update(
                **{column: reseal(sealed)}
            )
    return done


def _sealed_columns() -> Iterator[tuple[type[Model], str]]:
    for model in apps.get_app_config("deployments").get_models():
        for field in model._meta.get_fields():
            if isinstance(field, SealedField):
                yield model, field.name
