"""The preflight list while it is written: what each check of a trial or of a release found."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from pydantic import JsonValue as Json

from deployments.docker_api.errors import DockerApiError, PullCancelledError
from deployments.models import Host, Preflight, PreflightCheck, PreflightState
from deployments.planning.text import NOTHING, Text, ended, sentences
from deployments.services.rollout.failures import docker_failure
from deployments.services.rollout.outcomes import StepFailedError

Key = tuple[str, str, str]


@dataclass(slots=True, kw_only=True)
class Told:
    """How one check ends: passed, unless something else is said of it."""

    state: PreflightState = PreflightState.PASSED
    sentence: Text = NOTHING
    fix: Text = NOTHING

    def note(self, sentence: Text, fix: Text = NOTHING) -> None:
        """Say something that stops nothing."""
        self.state = PreflightState.NOTED
        self._add(sentence, fix)

    def fail(self, sentence: Text, fix: Text) -> None:
        """Say what would end the release."""
        self.state = PreflightState.FAILED
        self._add(sentence, fix)

    def skip(self, sentence: Text) -> None:
        """Say why it could not be checked."""
        self.state = PreflightState.UNCHECKED
        self._add(sentence, NOTHING)

    def _add(self, sentence: Text, fix: Text) -> None:
        self.sentence = sentences(self.sentence, ended(sentence))
        self.fix = sentences(self.fix, ended(fix)) if fix else self.fix


class Checklist:
    """What was found so far, by check, host and image.

    In a ``trial`` a failure is kept and the next check begins; in a release it is kept and raised.
    """

    def __init__(self, request_id: uuid.UUID, *, trial: bool) -> None:
        self._request_id, self._trial = request_id, trial
        self._new: dict[Key, dict[str, Json]] = {}

    @cached_property
    def _known(self) -> dict[Key, dict[str, Json]]:
        """What an earlier list found; a trial looks at everything anew."""
        row = Preflight.objects.filter(request=self._request_id).first()
        if row is None or self._trial:
            return {}
        return {_key(one): one for one in row.results}

    @contextmanager
    def checking(
        self, check: PreflightCheck, host: Host | None = None, *, image: str = ""
    ) -> Iterator[Told]:
        """Keep how the block ends; what it raises is a failure.

        Raises:
            StepFailedError: the check failed, in a release.
            DockerApiError: the host did not answer, in a release.
        """
        told = Told()
        try:
            yield told
        except PullCancelledError:
            raise
        except (StepFailedError, DockerApiError) as error:
            failure = (
                docker_failure(error) if isinstance(error, DockerApiError) else error
            )
            told.fail(failure.cause, failure.next_action)
            self.add(check, told, host, image=image)
            if not self._trial:
                raise
            return
        self.add(check, told, host, image=image)

    def add(
        self,
        check: PreflightCheck,
        told: Told,
        host: Host | None = None,
        *,
        image: str = "",
    ) -> None:
        """Keep how a check ended."""
        row: dict[str, Json] = {
            "check": check.value,
            "host": host.name if host else "",
            "image": image,
            "state": told.state.value,
            "sentence": told.sentence.document if told.sentence else None,
            "fix": told.fix.document if told.fix else None,
            "at": timezone.now().isoformat(),
        }
        self._new[_key(row)] = row

    def failed(self, check: PreflightCheck, host: Host) -> bool:
        """Whether this check of the host failed just now."""
        return any(
            row["state"] == PreflightState.FAILED
            for (name, place, _image), row in self._new.items()
            if (name, place) == (check.value, host.name)
        )

    def age(
        self, check: PreflightCheck, host: Host, *, image: str = ""
    ) -> timedelta | None:
        """How old a result is that passed and is young enough to stand; ``None`` to check again."""
        row = self._known.get((check.value, host.name, image))
        if row is None or row["state"] != PreflightState.PASSED:
            return None
        age = timezone.now() - datetime.fromisoformat(str(row["at"]))
        limit = timedelta(minutes=settings.PREFLIGHT_LASTS_MINUTES)
        return age if age <= limit else None

    def store(self) -> None:
        """Write what was found: a trial writes the whole list, a release what it repeated."""
        with transaction.atomic():
            rows = Preflight.objects.select_for_update()
            row, _made = rows.get_or_create(request_id=self._request_id)
            before = {} if self._trial else {_key(one): one for one in row.results}
            Preflight.objects.filter(pk=row.pk).update(
                results=list({**before, **self._new}.values())
            )


def minutes(age: timedelta) -> int:
    """An age as a sentence says it."""
    return round(age.total_seconds() / 60)


def _key(row: dict[str, Json]) -> Key:
    return str(row["check"]), str(row["host"]), str(row["image"])
