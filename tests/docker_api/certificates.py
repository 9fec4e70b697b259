"""Authorities and certificates of the tests' own, made in memory."""

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from deployments.docker_api.tls import TlsCredentials

DAY = timedelta(days=1)
EXPIRED = (-3 * DAY, -1 * DAY)
VALID = (-1 * DAY, 30 * DAY)
TO_COME = (1 * DAY, 30 * DAY)
"""From when until when, from now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """A certificate and its key as PEM texts."""

    certificate: str
    key: str


class Authority:
    """A certificate authority."""

    def __init__(self, name: str) -> None:
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self.key = ec.generate_private_key(ec.SECP256R1())

    @cached_property
    def pem(self) -> str:
        """Its own certificate."""
        builder = _builder(self.name, self.name, self.key.public_key(), VALID)
        builder = builder.add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        ).add_extension(
            x509.SubjectKeyIdentifier.from_public_key(self.key.public_key()),
            critical=False,
        )
        return _pem(builder.sign(self.key, hashes.SHA256()))

    def server(self, *names: str, time: tuple[timedelta, timedelta] = VALID) -> Issued:
        """A certificate for a server of these names and addresses."""
        return self._issue("server", names, ExtendedKeyUsageOID.SERVER_AUTH, time)

    def client(self, time: tuple[timedelta, timedelta] = VALID) -> Issued:
        """A certificate for a client."""
        return self._issue("panel", (), ExtendedKeyUsageOID.CLIENT_AUTH, time)

    def credentials(self, client: Issued | None = None) -> TlsCredentials:
        """What the panel holds: this authority and a client certificate, its own by default."""
        held = client or self.client()
        return TlsCredentials(
            authority=self.pem, certificate=held.certificate, key=held.key
        )

    def _issue(
        self,
        subject: str,
        names: tuple[str, ...],
        usage: x509.ObjectIdentifier,
        time: tuple[timedelta, timedelta],
    ) -> Issued:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)])
        builder = _builder(name, self.name, key.public_key(), time)
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        if names:
            alternatives = x509.SubjectAlternativeName(map(_general, names))
            builder = builder.add_extension(alternatives, critical=False)
        return Issued(
            certificate=_pem(builder.sign(self.key, hashes.SHA256())),
            key=key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            ).decode(),
        )


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    time: tuple[timedelta, timedelta],
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + time[0])
        .not_valid_after(now + time[1])
    )


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()
