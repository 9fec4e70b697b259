"""Who may reach the server and what the command gives away: keys, open ports, offline hosts."""

import re
from collections.abc import Iterator

from deployments.planning.plan import Severity
from deployments.planning.rules.launch.rule import Hit, LaunchRule, RuleCard
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import text

KEY = "--api-key"
VARIABLE = "VLLM_API_KEY"
_OPEN = ("0.0.0.0", "::")  # noqa: S104  addresses to recognise, not to listen on
_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


@RuleCard(
    code="API_KEY_IN_COMMAND",
    category="environment",
    severity=Severity.WARNING,
    summary=text(
        "The key of the endpoint stands in the command line, where every user of the host reads it in the list of processes."
    ),
    fix=text("Set VLLM_API_KEY from a file that only the server's user reads."),
    source="vLLM documentation 0.32.0, security: --api-key and VLLM_API_KEY",
)
def key_in_command(view: LaunchView) -> Iterator[Hit]:
    """Fires on a key that is written out; a variable of the shell still ends in the process list."""
    value = view.launch.value(KEY)
    if value is None or not view.launch.is_vllm:
        return
    if value.startswith("$") or value in ("EMPTY", "empty", "none"):
        return
    yield Hit(
        message=text("--api-key holds the key itself."),
        evidence=KEY,
        start=view.place(KEY),
    )


@RuleCard(
    code="PORT_OPEN_WITHOUT_KEY",
    category="port",
    severity=Severity.INFO,
    summary=text(
        "The server listens on every address of its host and asks for no key: whoever reaches the port uses the model."
    ),
    fix=text(
        "Set VLLM_API_KEY, listen on an inner address, or put a gateway in front that checks who asks."
    ),
    source="vLLM documentation 0.32.0, security",
)
def open_port(view: LaunchView) -> Iterator[Hit]:
    """Fires on an explicit address for everybody without a key."""
    launch, host = view.launch, view.launch.value("--host")
    if not launch.is_vllm or host not in _OPEN or launch.flag(KEY) is not None:
        return
    container = launch.container
    if launch.variable(VARIABLE) is not None or view.role is not None:
        return
    if container is not None and not container.host_network and not container.ports:
        return
    yield Hit(
        message=text("The server listens on {host} and asks for no key.", host=host),
        evidence=host,
        start=view.place("--host"),
    )


@RuleCard(
    code="OFFLINE_WITH_REPOSITORY",
    category="draft-loading",
    severity=Severity.WARNING,
    summary=text(
        "The host may not download, but the model or its drafter is named by its repository."
    ),
    fix=text("Give the folder in which the weights lie, as an absolute path."),
    source="vllm-ascend#10801; huggingface_hub documentation, offline mode",
)
def offline(view: LaunchView) -> Iterator[Hit]:
    """Fires on a drafter by name beside a target by path, with offline mode on."""
    if not view.launch.is_vllm or not any(
        (view.launch.variable(name) or "").lower() in ("1", "true", "yes", "on")
        for name in _OFFLINE
    ):
        return
    drafter = view.speculation.drafter_resolved if view.speculation else None
    if (
        view.model.startswith("/")
        and drafter
        and not drafter.startswith(("/", ".", "$"))
        and _REPOSITORY.fullmatch(drafter)
    ):
        yield Hit(
            message=text(
                "{drafter} is a repository, and this host is set to offline mode.",
                drafter=drafter,
            ),
            evidence=drafter,
            start=view.spec_place,
        )


ACCESS_RULES: tuple[LaunchRule, ...] = (key_in_command, open_port, offline)
