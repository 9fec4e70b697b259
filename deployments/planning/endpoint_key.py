"""The key of an endpoint: a revision names a stored secret, and no plan ever holds its value."""

import re

from deployments.planning.container import SecretVariable
from deployments.planning.context import PlanContext
from deployments.planning.errors import PlanningError
from deployments.planning.text import text

OPEN = "off"
"""Instead of a name: the operator serves without a key on purpose."""
ENGINE_VARIABLE = "VLLM_API_KEY"
"""vLLM 0.8.5 to 0.33.0 reads it where ``--api-key`` is not given, and then refuses every request
below /v1 without the key; /health and /metrics stay open."""
PROXY_VARIABLE = "OPENAI_API_KEY"
"""The proxies that vllm-ascend ships send this to the engines behind them (vllm-ascend 0.23.0)."""
SECRET_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")


def refuse_odd_key(name: str | None) -> None:
    """Check the name of the secret that a revision gives.

    Raises:
        PlanningError: it is no name of a secret; it may be the key itself, so it is not repeated.
    """
    if name is not None and SECRET_NAME.fullmatch(name) is None:
        raise PlanningError(
            text(
                "api_key is the name of a stored secret, such as chat-key: small letters, digits "
                "and hyphens. The key itself is never written into a revision."
            )
        )


def key_of(context: PlanContext) -> str | None:
    """The name of the secret, ``None`` where the endpoint has no key."""
    name = context.spec.api_key
    return None if name == OPEN else name


def key_variables(context: PlanContext, variable: str) -> tuple[SecretVariable, ...]:
    """The variable that carries the key into a container; none where there is no key."""
    name = key_of(context)
    if name is None:
        return ()
    version = dict(context.settings.secrets).get(name)
    return (SecretVariable(variable=variable, secret=name, version=version),)
