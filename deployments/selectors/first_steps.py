"""The first steps of a panel in which nothing was planned yet."""

from dataclasses import dataclass
from urllib.parse import urlencode

from deployments.models import Host, User
from deployments.planning.platforms.images import is_practice
from deployments.selectors.fleet import HostLine, hosts_of

PRACTICE_MODEL = "Qwen/Qwen3-8B"


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstSteps:
    """Which of the steps are done."""

    hosts: tuple[HostLine, ...]

    @property
    def reachable_hosts(self) -> tuple[HostLine, ...]:
        """Hosts that answer."""
        return tuple(host for host in self.hosts if host.reachable)

    @property
    def has_practice_image(self) -> bool:
        """Whether some host has the practice image."""
        return any(_has_practice_image(host.row) for host in self.hosts)

    @property
    def practice_host(self) -> Host | None:
        """A host that answers and has the practice image, where a first try costs nothing."""
        rows = (line.row for line in self.reachable_hosts)
        return next((row for row in rows if _has_practice_image(row)), None)

    @property
    def practice_plan(self) -> str:
        """The query of the wizard's review for a first try; empty without such a host."""
        host = self.practice_host
        if host is None:
            return ""
        return urlencode(
            {
                "step": "review",
                "model": PRACTICE_MODEL,
                "cluster": str(host.cluster_id),
                "host": host.name,
                "image_source": "practice",
                "name": "practice",
            }
        )


def first_steps(user: User) -> FirstSteps:
    """Read the person's hosts, in three queries."""
    return FirstSteps(hosts=hosts_of(user))


def _has_practice_image(host: Host) -> bool:
    return any(is_practice(str(image.get("reference"))) for image in host.images)
