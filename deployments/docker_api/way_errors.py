"""What can be wrong on the way to a Docker Engine, before it has been asked for anything.

Nothing was sent when one of these is raised, so the outcome is known: nothing happened.
"""

from deployments.docker_api.errors import EngineUnreachableError


class NameUnknownError(EngineUnreachableError):
    """The host's name leads to no address."""

    code = "name_unknown"


class NoRouteError(EngineUnreachableError):
    """No packet gets there."""

    code = "no_route"


class ConnectTimeoutError(EngineUnreachableError):
    """Nobody took the connection in time."""

    code = "connect_timeout"


class RefusedError(EngineUnreachableError):
    """The machine is there and nothing listens on the port."""

    code = "connection_refused"


class SocketForbiddenError(EngineUnreachableError):
    """The account may not open the engine's socket."""

    code = "socket_forbidden"
    retryable = False


class SocketClosedError(EngineUnreachableError):
    """SSH let the panel in, and the engine's socket behind it does not open."""

    code = "socket_closed"


class DifferentEngineError(EngineUnreachableError):
    """Another engine than the registered one answers, and nobody has confirmed it."""

    code = "different_engine"
    retryable = False


class NotDockerError(EngineUnreachableError):
    """Something answers that is no Docker Engine."""

    code = "not_docker"
    retryable = False


class NotHttpError(NotDockerError):
    """Something answers that does not even speak HTTP."""


class ApiTooOldError(EngineUnreachableError):
    """The engine is older than the panel can use."""

    code = "api_too_old"
    retryable = False


class CredentialsMissingError(EngineUnreachableError):
    """The panel has nothing to prove itself with, or it is unusable."""

    code = "credentials_missing"
    retryable = False


class TlsError(EngineUnreachableError):
    """The TLS handshake failed for a reason of its own."""

    code = "tls"
    retryable = False


class PlainTextError(TlsError):
    """The port speaks, but not TLS."""

    code = "no_tls"


class CertificateExpiredError(TlsError):
    """The host's certificate is out of its time."""

    code = "certificate_expired"


class AuthorityError(TlsError):
    """The host's certificate is of another authority than the pinned one."""

    code = "certificate_authority"


class CertificateNameError(TlsError):
    """The host's certificate is for another name."""

    code = "certificate_name"


class ClientCertificateError(TlsError):
    """The panel's own certificate is out of its time, or the host refuses it."""

    code = "client_certificate"


class SshError(EngineUnreachableError):
    """SSH failed for a reason of its own."""

    code = "ssh"
    retryable = False


class HostKeyError(SshError):
    """The SSH host key was never confirmed, or it has changed.

    ``offered`` is the key that the host shows now, as ``type base64``; empty if it shows none.
    """

    code = "host_key"

    def __init__(self, message: str, *, offered: str) -> None:
        super().__init__(message)
        self.offered = offered


class LoginRefusedError(SshError):
    """The SSH server does not let the account in with this key."""

    code = "login_refused"
