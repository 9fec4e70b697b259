"""Host directories that people may name: absolute, plain, and not the system's own."""

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

FORBIDDEN_IN_PATHS = ("..", ":", ",", "//")
SYSTEM_DIRECTORIES = (
    "/boot",
    "/dev",
    "/etc",
    "/proc",
    "/root",
    "/run",
    "/sys",
    "/var/lib",
    "/var/run",
)


def absolute_directory(line: str) -> str:
    """The directory without a slash at the end.

    Raises:
        ValidationError: it is relative, the root, climbs, or is the system's.
    """
    path = line.rstrip("/")
    climbs = any(part in path for part in FORBIDDEN_IN_PATHS)
    if not path.startswith("/") or climbs or _touches_system(path):
        raise ValidationError(
            _(
                "“%(line)s” is no directory that plans may mount; write an absolute path such as /data/models."
            )
            % {"line": line}
        )
    return path


def _touches_system(path: str) -> bool:
    """Whether the directory holds one of the system's, or lies in one."""
    return any(
        f"{path}/".startswith(f"{system}/") or f"{system}/".startswith(f"{path}/")
        for system in SYSTEM_DIRECTORIES
    )


class DirectoryField(forms.CharField):
    """One absolute directory, or nothing."""

    def clean(self, value: object) -> str:
        """The directory, or an empty text.

        Raises:
            ValidationError: as ``absolute_directory`` says.
        """
        text = super().clean(value).strip()
        return absolute_directory(text) if text else ""
