"""What can go wrong between the panel and a Docker Engine; nothing above sees SDK exceptions."""

from typing import ClassVar


class DockerApiError(Exception):
    """A call to a Docker Engine failed; the message is one sentence that a person can act on.

    ``code`` is stable. ``retryable`` says whether the same call may succeed later without anybody
    doing something. ``outcome_unknown`` says that the engine may have carried the call out although
    no answer came: look before repeating.
    """

    code: ClassVar[str] = "engine_refused"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, outcome_unknown: bool = False) -> None:
        super().__init__(message)
        self.outcome_unknown = outcome_unknown


class AddressRefusedError(DockerApiError):
    """The address is none that the panel may open."""

    code = "address_refused"


class PolicyError(DockerApiError):
    """The container asks for more than the floor allows; nothing was sent."""

    code = "policy"


class EngineUnreachableError(DockerApiError):
    """No engine answered; with ``outcome_unknown`` the connection broke after the call was sent."""

    code = "unreachable"
    retryable = True


class EngineTimeoutError(DockerApiError):
    """The engine took the call and did not answer in time."""

    code = "timeout"
    retryable = True


class NotTriedError(DockerApiError):
    """The panel did not call the engine: it failed too often just now, or enough others wait for it."""

    code = "not_tried"
    retryable = True


class EngineFaultError(DockerApiError):
    """The engine answered 5xx with a text that is none of the known ones."""

    code = "engine_fault"
    retryable = True


class NotFoundError(DockerApiError):
    """The engine has no such container or image."""

    code = "not_found"


class ImageMissingError(NotFoundError):
    """The image is neither on the host nor, after a pull, in the registry."""

    code = "image_missing"


class NameTakenError(DockerApiError):
    """Another container has the name."""

    code = "name_taken"


class StateConflictError(DockerApiError):
    """The container is in a state that does not allow the call (kill of a stopped one)."""

    code = "conflict"


class PortTakenError(DockerApiError):
    """A published port is held by something else on the host; ``port`` where the engine says it."""

    code = "port_taken"

    def __init__(self, message: str, *, port: int | None = None) -> None:
        super().__init__(message)
        self.port = port


class NoEntrypointError(DockerApiError):
    """The image lacks the program that the container should run."""

    code = "no_entrypoint"


class DeviceUnavailableError(DockerApiError):
    """The host lacks a device, a driver or the container runtime that maps it."""

    code = "device_unavailable"


class MountMissingError(DockerApiError):
    """A directory that should be mounted is not on the host."""

    code = "mount_missing"


class DiskFullError(DockerApiError):
    """The host's disk is full."""

    code = "disk_full"


class RegistryDeniedError(DockerApiError):
    """The registry asks for a login or refuses this one."""

    code = "registry_denied"


class RegistryUnavailableError(DockerApiError):
    """The registry does not answer, or asks to come back later."""

    code = "registry_unavailable"
    retryable = True


class PullStalledError(DockerApiError):
    """A pull made no progress, or took longer than its limit."""

    code = "pull_stalled"


class PullCancelledError(DockerApiError):
    """The progress callback asked to end the pull."""

    code = "pull_cancelled"
