"""Weights and drafters of a plan, looked at where its containers will see them, before anything stops.

A throw-away container of each role has the role's own mounts and rights and no devices and no
network. It reads headers, so a truncated copy is found without reading the weights.
"""

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from deployments.docker_api.client import Engine
from deployments.docker_api.errors import MountMissingError
from deployments.docker_api.images import ImageFacts, find_image
from deployments.models import Host, PreflightCheck
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
    absent_by_listing,
    first_answer,
    images_with_python,
    look_program,
)
from deployments.services.rollout.checklist import Checklist, Told, minutes
from deployments.services.rollout.outcomes import StepFailedError
from deployments.services.rollout.rollout import Layout, Member, Rollout
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

    def absent(self, words: str) -> str:
        """The path of the directory that the engine did not find; it names it last."""
        sources = [mount.source for mount in self.mounts]
        named = [one for one in sources if words.rstrip(". ").endswith(one)]
        return (named or sources)[0]

    def without(self, path: str) -> Trouble:
        """What an absent directory means for the roles."""
        return self._trouble(
            text("{path} is not there", path=path), text("Copy the checkpoint there.")
        )

    def _trouble(self, problem: Text, fix: Text) -> Trouble:
        said = text(
            "{problem} (on {host}, for {roles})",
            problem=problem,
            host=self.host.name,
            roles=listed([role.value for role in self.roles]),
        )
        return Trouble(problem=said, fix=fix)


def prove_weights(layout: Layout, found: Checklist) -> tuple[Text, ...]:
    """Prove that every role finds its weights complete; returns what could not be looked at.

    What the preflight list found complete a short while ago is not read again.

    Raises:
        StepFailedError: a file is missing, truncated or not readable.
        DockerApiError: a host does not answer.
    """
    whole = _Check(layout)
    for host in layout.hosts:
        views = list(_views(layout.members_on(host)))
        age = found.age(PreflightCheck.WEIGHTS, host)
        if not views:
            continue
        if age is not None:
            whole.notes.append(
                text(
                    "The weights on {host} were found complete {minutes} minutes ago.",
                    host=host.name,
                    minutes=minutes(age),
                )
            )
            continue
        with found.checking(PreflightCheck.WEIGHTS, host) as told:
            check = _Check(layout)
            for view in views:
                with layout.engine(host) as engine:
                    check.look(engine, view, _images(engine, view.container))
            check.tell(told)
            whole.take(check)
    whole.tell_absent(found)
    whole.refuse()
    return tuple(whole.notes)


def prove_weights_with(
    rollout: Rollout, engine: Engine, member: Member, image: ImageFacts
) -> None:
    """The same on one host by the image that was just pulled: it may have had none before.

    Raises:
        StepFailedError: a file is missing, truncated or not readable.
        DockerApiError: the host does not answer.
    """
    check = _Check(rollout)
    for view in _views(rollout.members_on(member.host)):
        check.look(engine, view, [image])
    check.refuse()


@dataclass(slots=True)
class _Check:
    """The looks of one release; ``troubles`` and ``notes`` fill up.

    ``absent`` are the hosts without a directory, by its path.
    """

    layout: Layout
    troubles: list[Trouble] = field(default_factory=list)
    notes: list[Text] = field(default_factory=list)
    absent: dict[str, list[str]] = field(default_factory=dict)
    renewed: float = field(default_factory=time.monotonic)

    def look(self, engine: Engine, view: _View, images: list[ImageFacts]) -> None:
        """Look, and note what was found; an absent directory is noted and the rest looked at."""
        owner = str(self.layout.release.pk)
        remove_leftovers(engine, owner)
        while view.mounts:
            program = look_program(
                owner=owner, mounts=view.mounts, rights=view.rights, only=view.names
            )
            try:
                found = first_answer(engine, images, program, self._renew)
            except MountMissingError as error:
                path = view.absent(str(error))
                self.troubles.append(view.without(path))
                self.absent.setdefault(path, []).append(view.host.name)
                view = replace(
                    view,
                    mounts=tuple(one for one in view.mounts if one.source != path),
                )
            except (ProgramError, PlanningError) as error:
                self._not_looked_at(view, said_by(error))
                return
            else:
                self._take(view, found)
                return

    def _not_looked_at(self, view: _View, why: Text) -> None:
        """Nothing could be read; what the last listing lacks is said all the same."""
        host = view.host
        logger.info("weights not looked at", extra={"host": host.name})
        self.notes.append(
            text(
                "The weights on {host} were not looked at: {why}",
                host=host.name,
                why=why,
            )
        )
        for path in absent_by_listing(host, [one.source for one in view.mounts]):
            self.absent.setdefault(path, []).append(host.name)

    def _take(self, view: _View, found: Listing) -> None:
        self.troubles += view.troubles(found)
        if found.cut is Cut.TIME:
            self.notes.append(
                text(
                    "Not all weights on {host} were looked at: its storage is slow.",
                    host=view.host.name,
                )
            )

    def take(self, other: "_Check") -> None:
        """Add what was found on another host."""
        self.troubles += other.troubles
        self.notes += other.notes
        for path, hosts in other.absent.items():
            self.absent.setdefault(path, []).extend(hosts)

    def tell(self, told: Told) -> None:
        """Say it in the list."""
        for one in self.troubles[:MOST_TOLD]:
            told.fail(one.problem, one.fix)
        if not self.troubles:
            for note in self.notes:
                told.skip(note)

    def tell_absent(self, found: Checklist) -> None:
        """Say in the list which directories lack altogether, each with its hosts."""
        if not self.absent:
            return
        told = Told()
        for path, hosts in sorted(self.absent.items()):
            told.fail(
                text(
                    "{path} is not there on {hosts}",
                    path=path,
                    hosts=listed(sorted(set(hosts))),
                ),
                text("Copy the checkpoint to {path}.", path=path),
            )
        found.add(PreflightCheck.DIRECTORIES, told)

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
            self.layout.keep_alive()
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
