"""Say where the engines of a deployment log to; nothing here reaches a host."""

from django.db import transaction

from deployments.models import AuditAction, Deployment, FileLog, TeamRole, User
from deployments.services.access import require_role
from deployments.services.audit import record


def set_file_log(user: User, deployment: Deployment, path: str) -> None:
    """Say where the engines of a deployment log to; an empty path is standard output again.

    Raises:
        PermissionDenied: the person does not operate in its team.
    """
    require_role(user, deployment.team, TeamRole.OPERATOR)
    with transaction.atomic():
        named = FileLog.objects.filter(deployment=deployment)
        before = named.values_list("path", flat=True).first() or ""
        if path == before:
            return
        if path:
            FileLog.objects.update_or_create(
                deployment=deployment, defaults={"path": path, "set_by": user}
            )
        else:
            named.delete()
        record(
            AuditAction.FILE_LOG_CHANGED,
            user,
            deployment,
            before={"path": before},
            after={"path": path},
        )
