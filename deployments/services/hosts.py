"""Change what people know of a host and its engine cannot tell."""

from dataclasses import asdict, dataclass

from deployments.models import Host, TeamRole, User
from deployments.services.access import require_role


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """Facts entered by hand; an empty text is unknown."""

    model_root: str
    address: str
    interface: str


def change_host_facts(user: User, host: Host, facts: HostFacts) -> None:
    """Keep the facts; plans made from others become stale by their snapshot digests.

    Raises:
        NotAllowedError: the person is no admin of the host's team.
    """
    require_role(user, host.cluster.team, TeamRole.ADMIN)
    Host.objects.filter(pk=host.pk).update(**asdict(facts))
