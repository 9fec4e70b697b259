"""Notes that a container was restarted outside the panel: made when it is seen, closed when it is known."""

from django.db import transaction
from django.utils.translation import gettext as _

from deployments.models import AuditAction, Release, Replica, TeamRole, User
from deployments.planning.text import sentences, text
from deployments.selectors.restart_notes import (
    restart_note,
    tells_restart,
    without_restarts,
)
from deployments.services.access import require_role
from deployments.services.audit import record
from deployments.services.errors import ConflictError
from deployments.services.rollout.journal import OBSERVED, note


def note_restart(replica: Replica, state: str) -> None:
    """Say beside the release that somebody restarted a container of it; never fight with them."""
    said = restart_note(replica.container_name, replica.host.name)
    if said in replica.release.warning:
        return
    warnings = sentences(replica.release.warning, said)
    Release.objects.filter(pk=replica.release_id).update(warning=warnings)
    note(replica.release, OBSERVED, said, {"state": state})


def close_restart_notes(release: Release) -> bool:
    """Leave such notes out of the warning; ``False`` where there is none. The journal keeps them."""
    row = Release.objects.select_for_update().only("warning").get(pk=release.pk)
    if not tells_restart(row.warning):
        return False
    left = without_restarts(row.warning)
    Release.objects.filter(pk=release.pk).update(warning=left)
    return True


def acknowledge_restarts(user: User, release: Release) -> None:
    """Say that somebody knows of the restarts.

    Raises:
        NotAllowedError: the person is no operator of the team.
        ConflictError: no restart is noted, or somebody was faster.
    """
    require_role(user, release.deployment.team, TeamRole.OPERATOR)
    with transaction.atomic():
        if not close_restart_notes(release):
            raise ConflictError(_("No restart waits for somebody to know of it."))
        said = text("{person} knows of the restarts.", person=str(user))
        note(release, OBSERVED, said, {"acknowledged": True})
        record(AuditAction.RESTARTS_KNOWN, user, release)
