"""Limits of this panel on sizes and text, where the Docker Engine would take anything."""

import re
import unicodedata

from deployments.planning.canonical import Json, canonical_json
from deployments.planning.container import ContainerSpec
from deployments.planning.endpoint_key import refuse_odd_key
from deployments.planning.environment import refuse_odd_environment
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Plan
from deployments.planning.revision import RevisionSpec
from deployments.planning.text import text

ARGUMENT_BYTES = 8 << 10
COMMAND_BYTES = 64 << 10
ENVIRONMENT_BYTES = 32 << 10
LABEL_BYTES = 4 << 10
NAME_CHARACTERS = 63
PLAN_BYTES = 256 << 10
DEEPEST = 32
HOST_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]*")
FORBIDDEN_CATEGORIES = frozenset(("Cc", "Cf", "Co", "Cs", "Zl", "Zp"))


def refuse_oversized(plan: Plan) -> None:
    """Check every size of a plan.

    Raises:
        PlanningError: a name, argument, environment, label or the whole plan is too large.
    """
    for replica in plan.replicas:
        _check_container(replica.container)
    size = len(canonical_json(plan.document))
    if size > PLAN_BYTES:
        raise PlanningError(
            text(
                "The plan takes {size} bytes; {plan_bytes} is the most. Split the deployment.",
                size=size,
                plan_bytes=PLAN_BYTES,
            )
        )


def refuse_odd_names(spec: RevisionSpec) -> None:
    """Check the words of a revision that become words of a command or names of folders.

    Raises:
        PlanningError: a host name, the image, the served name or the name of the key could be read
            as something else.
    """
    for role in spec.roles:
        for host in role.hosts:
            if HOST_NAME.fullmatch(host) is None:
                raise PlanningError(
                    text(
                        "The host name {host} may hold letters, digits, dots, dashes and underscores only.",
                        host=repr(host),
                    )
                )
    if spec.image is not None and IMAGE.fullmatch(spec.image) is None:
        raise PlanningError(
            text("{image} is not an image reference.", image=repr(spec.image))
        )
    refuse_odd_key(spec.api_key)
    refuse_odd_environment(spec.environment)
    if (spec.served_model_name or "").startswith("-"):
        raise PlanningError(
            text(
                "The served name {served_model_name} may not begin with a dash.",
                served_model_name=repr(spec.served_model_name),
            )
        )


def refuse_odd_text(value: Json, depth: int = 0) -> None:
    """Check the text of a document that a person wrote.

    Raises:
        PlanningError: control, bidirectional or zero-width characters, text that is not in
            normal form C, or nesting beyond 32 levels.
    """
    if depth > DEEPEST:
        raise PlanningError(
            text(
                "The document is nested more than {deepest} levels deep.",
                deepest=DEEPEST,
            )
        )
    if isinstance(value, str):
        _refuse_odd_word(value)
    elif isinstance(value, dict):
        for name, child in value.items():
            _refuse_odd_word(name)
            refuse_odd_text(child, depth + 1)
    elif isinstance(value, list):
        for child in value:
            refuse_odd_text(child, depth + 1)


def _refuse_odd_word(word: str) -> None:
    if word.isascii() and word.isprintable():
        return
    if any(unicodedata.category(one) in FORBIDDEN_CATEGORIES for one in word):
        raise PlanningError(
            text("{word} holds invisible characters; type it again.", word=repr(word))
        )
    if not unicodedata.is_normalized("NFC", word):
        raise PlanningError(
            text(
                "{word} is not in Unicode normal form C; type it again.",
                word=repr(word),
            )
        )


def _check_container(spec: ContainerSpec) -> None:
    name = spec.name
    if len(name) > NAME_CHARACTERS:
        raise PlanningError(
            text("The container name {name} is longer than 63 characters.", name=name)
        )
    for word in spec.command:
        if len(word.encode()) > ARGUMENT_BYTES:
            raise PlanningError(
                text(
                    "An argument of {name} is longer than {argument_bytes} bytes.",
                    name=name,
                    argument_bytes=ARGUMENT_BYTES,
                )
            )
    command = sum(len(word.encode()) + 1 for word in spec.command)
    if command > COMMAND_BYTES:
        raise PlanningError(
            text(
                "The command of {name} is longer than {command_bytes} bytes.",
                name=name,
                command_bytes=COMMAND_BYTES,
            )
        )
    environment = sum(
        len(f"{key}={value}".encode()) + 1 for key, value in spec.environment
    )
    if environment > ENVIRONMENT_BYTES:
        raise PlanningError(
            text(
                "The environment of {name} takes more than {environment_bytes} bytes.",
                name=name,
                environment_bytes=ENVIRONMENT_BYTES,
            )
        )
    for key, value in spec.labels:
        if len(key.encode()) + len(value.encode()) > LABEL_BYTES:
            raise PlanningError(
                text(
                    "The label {key} of {name} is longer than {label_bytes} bytes.",
                    key=key,
                    name=name,
                    label_bytes=LABEL_BYTES,
                )
            )
