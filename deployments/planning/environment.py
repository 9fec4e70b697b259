"""Environment variables that people add to a revision: what they may set, and what is no place for them."""

import re

from deployments.planning.errors import PlanningError
from deployments.planning.text import Text, text

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,79}")
MOST = 40
LONGEST_VALUE = 2000
OF_THE_PANEL = frozenset(
    {
        "ASCEND_HOST_LOG_FILE_NUM",
        "ASCEND_PROCESS_LOG_PATH",
        "GLOO_SOCKET_IFNAME",
        "HF_HUB_OFFLINE",
        "NCCL_SOCKET_IFNAME",
        "OPENAI_API_KEY",
        "TRITON_CACHE_DIR",
        "TZ",
        "VLLM_API_KEY",
        "VLLM_CACHE_ROOT",
        "VLLM_ENGINE_READY_TIMEOUT_S",
        "VLLM_HOST_IP",
        "VLLM_NIXL_SIDE_CHANNEL_HOST",
        "VLLM_NIXL_SIDE_CHANNEL_PORT",
    }
)
"""The plan sets these itself, or leaves them to a field of their own."""
_OPENS_CODE = re.compile(
    r"LD_\w*|PYTHON\w*|PATH|HOME|SHELL|BASH_ENV|ENV|HF_ENDPOINT|HF_HOME|VLLM_PLUGINS"
    r"|VLLM_ALLOW_INSECURE_SERIALIZATION|VLLM_SERVER_DEV_MODE|VLLM_ALLOW_RUNTIME_LORA_UPDATING"
)
"""They load code, move where models come from, or open vLLM's doors for developers."""
_DEVICES = re.compile(
    r"\w*VISIBLE_DEVICES|NVIDIA_\w*|CUDA_DEVICE_ORDER|HIP_\w*DEVICE\w*"
)
_SECRET_WORDS = frozenset(
    {
        "APIKEY",
        "CREDENTIAL",
        "CREDENTIALS",
        "KEY",
        "KEYS",
        "PASSWD",
        "PASSWORD",
        "SECRET",
        "SECRETS",
        "TOKEN",
    }
)
_SECRET_VALUE = re.compile(r"(?:sk-|hf_|ghp_|gho_|github_pat_|xox[abp]-|AKIA|eyJ)\w")


def refuse_odd_environment(environment: tuple[tuple[str, str], ...]) -> None:
    """Check names and sizes.

    Raises:
        PlanningError: a name is no name of a variable, or stands twice; too many, or too long.
    """
    names = [name for name, _value in environment]
    for name, value in environment:
        if NAME.fullmatch(name) is None:
            raise PlanningError(
                text(
                    "{name} is no name of an environment variable; use letters, digits and "
                    "underscores.",
                    name=repr(name[:80]),
                )
            )
        if names.count(name) > 1:
            raise PlanningError(
                text("The variable {name} stands twice; keep one.", name=name)
            )
        if len(value) > LONGEST_VALUE:
            raise PlanningError(
                text(
                    "The value of {name} is longer than {most} characters.",
                    name=name,
                    most=LONGEST_VALUE,
                )
            )
    if len(environment) > MOST:
        raise PlanningError(
            text(
                "These are {count} environment variables; keep it to {most}.",
                count=len(environment),
                most=MOST,
            )
        )


def belongs_to_panel(name: str) -> bool:
    """Whether the plan sets the variable itself."""
    return name in OF_THE_PANEL


def forbidden_because(name: str) -> Text | None:
    """Why nobody may set the variable, ``None`` where people may."""
    if _OPENS_CODE.fullmatch(name):
        return text("it loads code or moves where models and programs come from")
    if _DEVICES.fullmatch(name):
        return text("it chooses devices, which the plan books")
    return None


def looks_secret(name: str, value: str) -> bool:
    """Whether name or value look like a secret, which everybody who sees the plan would read."""
    words = name.upper().split("_")
    named = not _SECRET_WORDS.isdisjoint(words) and not value.isdecimal()
    return named or _SECRET_VALUE.match(value) is not None
