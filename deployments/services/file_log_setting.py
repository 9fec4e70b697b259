"""Say where the engines of a deployment log to; nothing here reaches a host."""

from deployments.models import Deployment, FileLog, TeamRole, User
from deployments.services.access import require_role


def set_file_log(user: User, deployment: Deployment, path: str) -> None:
    """Say where the engines of a deployment log to; an empty path is standard output again.

    Raises:
        PermissionDenied: the person does not operate in its team.
    """
    require_role(user, deployment.cluster.team, TeamRole.OPERATOR)
    if path:
        FileLog.objects.update_or_create(
            deployment=deployment, defaults={"path": path, "set_by": user}
        )
    else:
        FileLog.objects.filter(deployment=deployment).delete()
