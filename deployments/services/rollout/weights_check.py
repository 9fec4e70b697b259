"""Weights and drafters of a plan, looked at where its containers will see them, before anything stops.

A throw-away container of each role has the role's own mounts and rights and no devices and no
network. It reads headers, so a truncated copy is found without reading the weights.
"""

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from deployments.docker_api.client import Engine
from deployments.docker_api.errors import MountMissingError
from deployments.docker_api.images import ImageFacts, find_image
from deployments.models import Host
from deployments.planning.container import ContainerSpec, Mount
from deployments.planning.errors import PlanningError
from deployments.planning.model_directory import (
    Cut,
    DirectoryState,
    Listing,
    judge,
)
from deployments.planning.plan import Role
from deployments.planning.sizes import MODELS_IN_CONTAINER
from deployments.planning.text import Text, ended, listed, said_by, sentences, text
from deployments.services.model_listing import (
    first_answer,
    images_with_python,
    look_program,
)
from deployments.services.rollout.outcomes import StepFailedError
from deployments.services.rollout.rollout import Member, Rollout
from deployments.services.throwaway import ProgramError, Rights, remove_leftovers

logger = logging.getLogger(__name__)
RENEW_EVERY_S = 5.0
MOST_TOLD = 4
MODELS = f"{MODELS_IN_CONTAINER}/"
REFUSED = frozenset({DirectoryState.INCOMPLETE, DirectoryState.UNREADABLE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """One directory that a role cannot be served from."""

    problem: Text
    fix: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class _View:
    """What the containers of some roles on one host see of its models, and with which rights."""

    host: Host
    mounts: tuple[Mount, ...]
    rights: Rights
    roles: tuple[Role, ...]
    container: ContainerSpec

    @property
    def names(self) -> tuple[str, ...]:
        """The directories as containers see them, below their place for models."""
        return tuple(mount.target.removeprefix(MODELS) for mount in self.mounts)

    def troubles(self, found: Listing) -> Iterator[Trouble]:
        """What keeps the roles from being served."""
        seen = {one.name: one for one in found.directories}
        for name, mount in zip(self.names, self.mounts, strict=True):
            one = seen.get(name)
            if one is None and found.cut is not None:
                continue
            if one is None:
                yield self._trouble(
                    text("{path} holds no weights", path=mount.source),
                    text("Copy the checkpoint there."),
                )
                continue
            judged = judge(one, mount.source)
            if judged.state in REFUSED:
                yield self._trouble(judged.problem, judged.fix)

    def absent(self, words: str) -> Trouble:
        """A directory that the engine did not find; it names the path last."""
        sources = [mount.source for mount in self.mounts]
        named = [one for one in sources if words.rstrip(". ").endswith(one)]
        return self._trouble(
            text("{path} is not there", path=(named or sources)[0]),
            text("Copy the checkpoint there."),
        )

    def _trouble(self, problem: Text, fix: Text) -> Trouble:
        said = text(
            "{problem} (on {host}, for {roles})",
            problem=problem,
            host=self.host.name,
            roles=listed([role.value for role in self.roles]),
        )
        return Trouble(problem=said, fix=fix)


def prove_weights(rollout: Rollout) -> tuple[Text, ...]:
    """Prove that every role finds its weights complete; returns what could not be looked at.

    Raises:
        StepFailedError: a file is missing, truncated or not readable.
        DockerApiError: a host does not answer.
    """
    check = _Check(rollout)
    for host in rollout.hosts:
        members = tuple(one for one in rollout.members if one.host == host)
        for view in _views(members):
            with rollout.engine(host) as engine:
                check.look(engine, view, _images(engine, view.container))
    check.refuse()
    return tuple(check.notes)


def prove_weights_with(
    rollout: Rollout, engine: Engine, member: Member, image: ImageFacts
) -> None:
    """The same on one host by the image that was just pulled: it may have had none before.

    Raises:
        StepFailedError: a file is missing, truncated or not readable.
        DockerApiError: the host does not answer.
    """
    check = _Check(rollout)
    beside = tuple(one for one in rollout.members if one.host == member.host)
    for view in _views(beside):
        check.look(engine, view, [image])
    check.refuse()


@dataclass(slots=True)
class _Check:
    """The looks of one release; ``troubles`` and ``notes`` fill up."""

    rollout: Rollout
    troubles: list[Trouble] = field(default_factory=list)
    notes: list[Text] = field(default_factory=list)
    renewed: float = field(default_factory=time.monotonic)

    def look(self, engine: Engine, view: _View, images: list[ImageFacts]) -> None:
        """Look once, and note what was found."""
        owner = str(self.rollout.release.pk)
        program = look_program(
            owner=owner, mounts=view.mounts, rights=view.rights, only=view.names
        )
        remove_leftovers(engine, owner)
        try:
            found = first_answer(engine, images, program, self._renew)
        except MountMissingError as error:
            self.troubles.append(view.absent(str(error)))
        except (ProgramError, PlanningError) as error:
            logger.info("weights not looked at", extra={"host": view.host.name})
            self.notes.append(
                text(
                    "The weights on {host} were not looked at: {why}",
                    host=view.host.name,
                    why=said_by(error),
                )
            )
        else:
            self.troubles += view.troubles(found)
            if found.cut is Cut.TIME:
                self.notes.append(
                    text(
                        "Not all weights on {host} were looked at: its storage is slow.",
                        host=view.host.name,
                    )
                )

    def refuse(self) -> None:
        """End the release where a role cannot be served.

        Raises:
            StepFailedError: it cannot.
        """
        if not self.troubles:
            return
        told = self.troubles[:MOST_TOLD]
        more = len(self.troubles) - len(told)
        said = [one.problem for one in told]
        if more:
            said.append(text("{count} more are like that", count=more))
        fixes = dict.fromkeys(ended(one.fix) for one in told)
        raise StepFailedError(
            "weights_incomplete",
            sentences(*map(ended, said[:-1]), said[-1]),
            sentences(*fixes, text("Then release again.")),
            detail={"weights": [one.problem.document for one in self.troubles[:50]]},
        )

    def _renew(self) -> None:
        """Keep the lease while a look lasts."""
        if time.monotonic() - self.renewed > RENEW_EVERY_S:
            self.rollout.claim.renew()
            self.renewed = time.monotonic()


def _views(members: tuple[Member, ...]) -> Iterator[_View]:
    """One look for all replicas that see the same in the same way."""
    found: dict[tuple[tuple[Mount, ...], Rights], list[Member]] = {}
    for member in members:
        spec = member.planned.container
        mounts = tuple(
            mount for mount in spec.mounts if mount.target.startswith(MODELS)
        )
        rights = Rights(user=spec.user, cap_add=spec.cap_add, group_add=spec.group_add)
        if mounts:
            found.setdefault((mounts, rights), []).append(member)
    for (mounts, rights), same in found.items():
        yield _View(
            host=same[0].host,
            mounts=mounts,
            rights=rights,
            roles=tuple(dict.fromkeys(one.planned.role for one in same)),
            container=same[0].planned.container,
        )


def _images(engine: Engine, wanted: ContainerSpec) -> list[ImageFacts]:
    """The planned image where the host has it, else others."""
    one = wanted.image
    planned = find_image(
        engine, one.reference, digest=one.digest, image_id=one.image_id
    )
    others = images_with_python(engine)
    return [planned, *others] if planned is not None else others
