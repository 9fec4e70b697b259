"""The secrets that a release needs, opened only here and only for a moment."""

from deployments.planning.container import ContainerSpec
from deployments.planning.text import said_by, text
from deployments.services.errors import UseCaseError
from deployments.services.rollout.outcomes import StepFailedError
from deployments.services.rollout.rollout import Rollout
from deployments.services.team_secrets import open_secrets


def secrets_of(rollout: Rollout, container: ContainerSpec) -> dict[str, str]:
    """The values of a container's secret variables, by variable.

    Raises:
        StepFailedError: a secret is gone, has another version than was planned, or no key opens it.
    """
    team = rollout.release.deployment.team_id
    try:
        return open_secrets(team, container.secrets)
    except UseCaseError as error:
        raise StepFailedError(
            error.code,
            said_by(error),
            text("Plan the revision again and have the new plan approved."),
        ) from error


def endpoint_key(rollout: Rollout) -> str | None:
    """What clients of the deployment send, ``None`` without a key.

    Raises:
        StepFailedError: as ``secrets_of``.
    """
    for replica in rollout.plan.replicas:
        for value in secrets_of(rollout, replica.container).values():
            return value
    return None
