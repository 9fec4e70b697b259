"""Read what a person enters to reach a host: certificates for TLS, or a key for SSH."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from django.utils.translation import gettext as _

from deployments.services.errors import UseCaseError

LONGEST_PEM = 64 * 1024
SHORTEST_RSA = 2048
KEY_COMMENT = "draftboard"


class CredentialsError(UseCaseError):
    """What was entered cannot be used; ``field`` says which part."""

    code = "credentials"

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCredentials:
    """What is kept for a host: the secret document, and facts that anybody may see."""

    document: str = field(repr=False)
    authority_expires_at: datetime | None = None
    certificate_expires_at: datetime | None = None
    public_key: str = ""


def tls_credentials(authority: str, certificate: str, key: str) -> HostCredentials:
    """Check that the three PEM texts are what they should be and belong together.

    Raises:
        CredentialsError: one of them is no such thing, is out of its time, or they do not fit.
    """
    own_authority = _certificate(authority, "authority")
    own = _certificate(certificate, "certificate")
    _prove_authority(own_authority)
    private = _private(key)
    if _public(private.public_key()) != _public(own.public_key()):
        raise CredentialsError(
            _("This is the key of another certificate than the one that was entered."),
            field="key",
        )
    for one, name in ((own_authority, "authority"), (own, "certificate")):
        if one.not_valid_after_utc < datetime.now(UTC):
            raise CredentialsError(
                _("This certificate expired on %(day)s; enter a newer one.")
                % {"day": f"{one.not_valid_after_utc:%Y-%m-%d}"},
                field=name,
            )
    parts = {
        "authority": authority.strip(),
        "certificate": certificate.strip(),
        "key": key.strip(),
    }
    return HostCredentials(
        document=json.dumps(parts),
        authority_expires_at=own_authority.not_valid_after_utc,
        certificate_expires_at=own.not_valid_after_utc,
    )


def ssh_credentials(key: str) -> HostCredentials:
    """Check a private key for SSH; an empty text makes a new one.

    Raises:
        CredentialsError: it is no private key, has a passphrase, or is too weak.
    """
    private: object = (
        _private(key) if key.strip() else ed25519.Ed25519PrivateKey.generate()
    )
    if isinstance(private, rsa.RSAPrivateKey) and private.key_size < SHORTEST_RSA:
        raise CredentialsError(
            _(
                "RSA keys of less than 2048 bits are no longer safe; leave the field empty to have a key made."
            ),
            field="key",
        )
    try:
        words = private.private_bytes(  # type: ignore[attr-defined]
            serialization.Encoding.PEM,
            serialization.PrivateFormat.OpenSSH,
            serialization.NoEncryption(),
        ).decode()
        public = private.public_key().public_bytes(  # type: ignore[attr-defined]
            serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
        )
    except (ValueError, UnsupportedAlgorithm, AttributeError) as error:
        raise CredentialsError(
            _(
                "SSH has no use for a key of this kind; enter an Ed25519, ECDSA or RSA key."
            ),
            field="key",
        ) from error
    return HostCredentials(
        document=json.dumps({"key": words}),
        public_key=f"{public.decode()} {KEY_COMMENT}",
    )


def _certificate(words: str, name: str) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(words.strip().encode())
    except ValueError as error:
        raise CredentialsError(
            _(
                "This is no certificate: paste the whole PEM text from BEGIN CERTIFICATE to END CERTIFICATE."
            ),
            field=name,
        ) from error


def _prove_authority(certificate: x509.Certificate) -> None:
    try:
        basic = certificate.extensions.get_extension_for_class(x509.BasicConstraints)
        signs = basic.value.ca
    except x509.ExtensionNotFound:
        signs = False
    own = certificate.issuer == certificate.subject
    if own:
        try:
            certificate.verify_directly_issued_by(certificate)
        except (ValueError, TypeError, InvalidSignature):
            signs = False
    if not signs:
        raise CredentialsError(
            _(
                "This certificate is no authority (its basic constraints do not say CA): enter the CA that signed the host's certificate."
            ),
            field="authority",
        )


def _private(words: str) -> serialization.ssh.SSHPrivateKeyTypes:
    data = words.strip().encode() + b"\n"
    ssh = b"OPENSSH PRIVATE KEY" in data
    try:
        if ssh:
            return serialization.load_ssh_private_key(data, password=None)
        return serialization.load_pem_private_key(data, password=None)  # type: ignore[return-value]
    except TypeError as error:
        raise CredentialsError(
            _(
                "This key has a passphrase, which nobody could type when the panel works alone: enter it without one."
            ),
            field="key",
        ) from error
    except (ValueError, UnsupportedAlgorithm) as error:
        encrypted = b"ENCRYPTED" in data or "ncrypted" in str(error)
        raise CredentialsError(
            _(
                "This key has a passphrase, which nobody could type when the panel works alone: enter it without one."
            )
            if encrypted
            else _("This is no private key: paste the whole text from BEGIN to END."),
            field="key",
        ) from error


def _public(key: object) -> bytes:
    encoded: bytes = key.public_bytes(  # type: ignore[attr-defined]
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return encoded
