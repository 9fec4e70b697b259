"""Limits of this panel on sizes and text, where the Docker Engine would take anything."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from deployments.planning.canonical import Json, canonical_json
from deployments.planning.container import ContainerSpec
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Plan
from deployments.planning.revision import RevisionSpec

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
            f"The plan takes {size} bytes; {PLAN_BYTES} is the most. Split the deployment."
        )


def refuse_odd_names(spec: RevisionSpec) -> None:
    """Check the words of a revision that become words of a command or names of folders.

    Raises:
        PlanningError: a host name, the image or the served name could be read as something else.
    """
    for role in spec.roles:
        for host in role.hosts:
            if HOST_NAME.fullmatch(host) is None:
                raise PlanningError(
                    f"The host name {host!r} may hold letters, digits, dots, dashes and "
                    "underscores only."
                )
    if spec.image is not None and IMAGE.fullmatch(spec.image) is None:
        raise PlanningError(f"{spec.image!r} is not an image reference.")
    if (spec.served_model_name or "").startswith("-"):
        raise PlanningError(
            f"The served name {spec.served_model_name!r} may not begin with a dash."
        )


def refuse_odd_text(value: Json, depth: int = 0) -> None:
    """Check the text of a document that a person wrote.

    Raises:
        PlanningError: control, bidirectional or zero-width characters, text that is not in
            normal form C, or nesting beyond 32 levels.
    """
    if depth > DEEPEST:
        raise PlanningError(f"The document is nested more than {DEEPEST} levels deep.")
    for text in _texts(value):
        if any(unicodedata.category(one) in FORBIDDEN_CATEGORIES for one in text):
            raise PlanningError(f"{text!r} holds invisible characters; type it again.")
        if not unicodedata.is_normalized("NFC", text):
            raise PlanningError(
                f"{text!r} is not in Unicode normal form C; type it again."
            )
    for child in _children(value):
        refuse_odd_text(child, depth + 1)


def _children(value: Json) -> Iterable[Json]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value


def _check_container(spec: ContainerSpec) -> None:
    name = spec.name
    if len(name) > NAME_CHARACTERS:
        raise PlanningError(f"The container name {name} is longer than 63 characters.")
    for word in spec.command:
        if len(word.encode()) > ARGUMENT_BYTES:
            raise PlanningError(
                f"An argument of {name} is longer than {ARGUMENT_BYTES} bytes."
            )
    command = sum(len(word.encode()) + 1 for word in spec.command)
    if command > COMMAND_BYTES:
        raise PlanningError(
            f"The command of {name} is longer than {COMMAND_BYTES} bytes."
        )
    environment = sum(
        len(f"{key}={value}".encode()) + 1 for key, value in spec.environment
    )
    if environment > ENVIRONMENT_BYTES:
        raise PlanningError(
            f"The environment of {name} takes more than {ENVIRONMENT_BYTES} bytes."
        )
    for key, value in spec.labels:
        if len(key.encode()) + len(value.encode()) > LABEL_BYTES:
            raise PlanningError(
                f"The label {key} of {name} is longer than {LABEL_BYTES} bytes."
            )
