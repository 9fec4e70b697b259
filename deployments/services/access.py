"""The check that opens every write: does this person hold the role in that team?"""

from django.utils.translation import gettext as _

from deployments.models import Team, TeamRole, User
from deployments.selectors.access import has_role
from deployments.services.errors import NotAllowedError


def require_role(user: User, team: Team, role: TeamRole) -> None:
    """Refuse people without the role.

    Raises:
        NotAllowedError: the person does not hold ``role`` in ``team``.
    """
    if not has_role(user, team, role):
        raise NotAllowedError(
            _("This needs the role “%(role)s” in the team %(team)s.")
            % {"role": role.label, "team": team.name}
        )
