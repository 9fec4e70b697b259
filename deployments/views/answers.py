"""What views answer beside pages: the status of a refusal, and archives of files."""

import io
import zipfile
from collections.abc import Iterable

from django.http import HttpResponse

from deployments.planning.errors import PlanningError
from deployments.services.errors import NotAllowedError, UseCaseError


def refusal_status(error: UseCaseError | PlanningError) -> int:
    """403 where the person lacks the right, 409 where the state does not allow it."""
    return 403 if isinstance(error, NotAllowedError) else 409


def archive(name: str, files: Iterable[tuple[str, str]]) -> HttpResponse:
    """A zip of (path, text); scripts may be run as they come out of it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as zipped:
        for path, text in files:
            # One time stamp for all, so that the same plan is the same archive.
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            mode = 0o755 if path.endswith(".sh") else 0o644
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            zipped.writestr(entry, text)
    response = HttpResponse(buffer.getvalue(), content_type="application/zip")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}.zip"'
    return response
