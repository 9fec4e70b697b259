"""How an act ends: done, wait and look again, or failed with everything a person needs to know."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue as Json

from deployments.models import ReleaseState
from deployments.planning.text import Text


@dataclass(frozen=True, slots=True)
class Done:
    """The act is done; ``message`` says what came of it."""

    message: Text
    detail: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing more can be done now; look again in ``seconds``."""

    seconds: float


class StepFailedError(Exception):
    """An act failed for good.

    ``code`` is stable, ``cause`` one or two sentences, ``next_action`` what a person does about it,
    ``final`` the state in which the release ends, ``detail`` machine facts and the last log lines.
    """

    def __init__(
        self,
        code: str,
        cause: Text,
        next_action: Text,
        *,
        final: ReleaseState = ReleaseState.FAILED,
        detail: Mapping[str, Json] | None = None,
    ) -> None:
        super().__init__(cause)
        self.code, self.cause, self.next_action = code, cause, next_action
        self.final = final
        self.detail = dict(detail or {})
