"""TLS to an engine: its certificate is held against one pinned authority, and ours proves the panel.

The SDK would verify nothing by default and would trust CA bundles of the environment, hence our own.
"""

import socket
import ssl
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime

from cryptography import x509

from deployments.docker_api.dialing import Dial, connect_tcp
from deployments.docker_api.errors import DockerApiError, EngineTimeoutError
from deployments.docker_api.memory_files import memory_file
from deployments.docker_api.way_errors import (
    AuthorityError,
    CertificateExpiredError,
    CertificateNameError,
    ClientCertificateError,
    CredentialsMissingError,
    PlainTextError,
    TlsError,
)
from deployments.planning.engine_address import EngineAddress
from deployments.planning.text import Text, listed, text

# X509_V_ERR_*, X509_V_FLAG_* of OpenSSL 3.
NOT_YET_VALID, EXPIRED, HOSTNAME, IP_ADDRESS = 9, 10, 62, 64
NO_CHECK_TIME = 0x200000
CLIENT_ALERTS = frozenset(
    f"{prefix}_{alert}"
    for prefix in ("SSLV3_ALERT", "TLSV1_ALERT", "TLSV13_ALERT")
    for alert in (
        "BAD_CERTIFICATE", "CERTIFICATE_UNKNOWN", "CERTIFICATE_EXPIRED", "CERTIFICATE_REQUIRED",
        "UNSUPPORTED_CERTIFICATE", "UNKNOWN_CA", "HANDSHAKE_FAILURE", "DECRYPT_ERROR",
        "ACCESS_DENIED",
    )
)  # fmt: skip
"""What servers say of a client's certificate; Go 1.19 says BAD_CERTIFICATE to all of them."""
NO_TLS = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsCredentials:
    """PEM texts: the authority of the host's certificate, and the panel's certificate and key."""

    authority: str
    certificate: str
    key: str = field(repr=False)


def tls_dial(
    host: str, address: EngineAddress, ip: str, credentials: TlsCredentials
) -> Dial:
    """Connections to the pinned IP address, verified for the name that was entered.

    Raises:
        CredentialsMissingError: the credentials cannot be used.
        ClientCertificateError: the panel's own certificate is out of its time.
    """
    _prove_own_certificate(host, credentials)
    context = _context(host, credentials)

    def dial(timeout_s: float) -> socket.socket:
        plain = connect_tcp(host, ip, address.port, timeout_s)
        plain.settimeout(timeout_s)
        try:
            return context.wrap_socket(plain, server_hostname=address.name)
        except OSError as error:
            plain.close()
            again = _Again(host=host, address=address, ip=ip, context=context)
            raise _handshake_error(again, error) from error

    return dial


def refused_certificate(host: str, error: ssl.SSLError) -> DockerApiError | None:
    """The error for what TLS 1.3 says only after the handshake; ``None`` for anything else."""
    if error.reason not in CLIENT_ALERTS:
        return None
    return ClientCertificateError(
        text(
            "{host} refuses the panel's client certificate ({alert}): enter one that the authority "
            "in dockerd's --tlscacert has issued for client authentication.",
            host=host,
            alert=str(error.reason).lower().replace("_", " "),
        )
    )


def server_certificate_end(connection: socket.socket) -> datetime | None:
    """Until when the host's certificate holds; ``None`` where there is none."""
    if not isinstance(connection, ssl.SSLSocket):
        return None
    encoded = connection.getpeercert(binary_form=True)
    if encoded is None:
        return None
    return x509.load_der_x509_certificate(encoded).not_valid_after_utc


def _prove_own_certificate(host: str, credentials: TlsCredentials) -> None:
    try:
        own = x509.load_pem_x509_certificate(credentials.certificate.encode())
    except ValueError as error:
        raise _unusable(host) from error
    if own.not_valid_after_utc < datetime.now(UTC):
        raise ClientCertificateError(
            text(
                "The panel's client certificate for {host} expired on {moment}: enter a new one.",
                host=host,
                moment=spelled(own.not_valid_after_utc),
            )
        )


def _context(host: str, credentials: TlsCredentials) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_verify_locations(cadata=credentials.authority)
        with memory_file(f"{credentials.certificate}\n{credentials.key}\n") as path:
            context.load_cert_chain(path, password=b"")
    except (ssl.SSLError, ValueError) as error:
        raise _unusable(host) from error
    return context


def _unusable(host: str) -> CredentialsMissingError:
    return CredentialsMissingError(
        text(
            "The certificates that were entered for {host} cannot be used together: enter the "
            "authority, the client certificate and its key again.",
            host=host,
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Again:
    """What a second look at a certificate needs that the first handshake refused."""

    host: str
    address: EngineAddress
    ip: str
    context: ssl.SSLContext

    def certificate(self, *, any_time: bool = False) -> x509.Certificate | None:
        """The host's certificate, still of the pinned authority, whatever its name or time."""
        context = self.context
        context.check_hostname = False
        flags = context.verify_flags
        if any_time:
            context.verify_flags = ssl.VerifyFlags(int(flags) | NO_CHECK_TIME)
        try:
            with (
                connect_tcp(self.host, self.ip, self.address.port) as plain,
                context.wrap_socket(plain) as connection,
            ):
                encoded = connection.getpeercert(binary_form=True)
        except (OSError, DockerApiError):
            return None
        finally:
            context.verify_flags = flags
            context.check_hostname = True
        return x509.load_der_x509_certificate(encoded) if encoded else None


def _handshake_error(again: _Again, error: OSError) -> DockerApiError:
    host, name = again.host, again.address.name
    if isinstance(error, TimeoutError):
        return EngineTimeoutError(
            text(
                "{host} took the connection and then said nothing: what listens on port {port} "
                "may not speak TLS, or Docker hangs.",
                host=host,
                port=again.address.port,
            )
        )
    if isinstance(error, ssl.SSLCertVerificationError):
        return _certificate_error(again, error)
    if isinstance(error, ssl.SSLError):
        refused = refused_certificate(host, error)
        if refused is not None:
            return refused
        if error.reason in NO_TLS:
            return PlainTextError(
                text(
                    "Port {port} of {host} answers without TLS, and the panel does not speak to "
                    "Docker in plain text: start dockerd with --tlsverify, or correct the port.",
                    port=again.address.port,
                    host=host,
                )
            )
    return TlsError(
        text(
            "{host} broke off the TLS handshake as {name} ({reason}): look into dockerd's log there.",
            host=host,
            name=name,
            reason=str(getattr(error, "reason", None) or error.strerror or error),
        )
    )


def _certificate_error(
    again: _Again, error: ssl.SSLCertVerificationError
) -> DockerApiError:
    host, name = again.host, again.address.name
    if error.verify_code in {EXPIRED, NOT_YET_VALID}:
        seen = again.certificate(any_time=True)
        expired = error.verify_code == EXPIRED
        moment = None
        if seen is not None:
            moment = seen.not_valid_after_utc if expired else seen.not_valid_before_utc
        if expired:
            words = text(
                "The certificate of {host} expired on {moment}: renew it there and restart Docker. "
                "Running containers are not touched by this.",
                host=host,
                moment=spelled(moment),
            )
        else:
            words = text(
                "The certificate of {host} is only valid from {moment} on: correct the clocks of "
                "the two machines, or renew it.",
                host=host,
                moment=spelled(moment),
            )
        return CertificateExpiredError(words)
    if error.verify_code in {HOSTNAME, IP_ADDRESS}:
        return CertificateNameError(
            text(
                "The certificate of {host} is not for {name} but for {names}: enter one of these "
                "names, or renew it with subjectAltName {name}.",
                host=host,
                name=name,
                names=listed(_names(again.certificate())) or text("no name at all"),
            )
        )
    return AuthorityError(
        text(
            "The certificate of {host} was not issued by the authority that was entered "
            "({reason}): enter the CA that signed it. The panel trusts no other.",
            host=host,
            reason=error.verify_message,
        )
    )


def _names(certificate: x509.Certificate | None) -> Collection[str]:
    if certificate is None:
        return ()
    try:
        names = certificate.extensions.get_extension_for_class(
            x509.SubjectAlternativeName
        ).value
    except x509.ExtensionNotFound:
        return ()
    addresses = map(str, names.get_values_for_type(x509.IPAddress))
    return (*names.get_values_for_type(x509.DNSName), *addresses)


def spelled(moment: datetime | None) -> Text | str:
    """A time as sentences say it, by UTC."""
    if moment is None:
        return text("a day that it does not tell")
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
