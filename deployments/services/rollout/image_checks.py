"""CHECK: before anything stops, the image's own parser reads the exact commands, and drivers are compared."""

import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from pydantic import JsonValue as Json

from deployments.docker_api.client import Engine
from deployments.docker_api.images import ImageFacts, environment_of, find_image
from deployments.models import (
    EventKind,
    Host,
    HostProbe,
    PreflightCheck,
    ReleaseState,
)
from deployments.planning.engines.arguments import PROGRAM, flag_values
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Role
from deployments.planning.platforms.drivers import (
    DriverState,
    HostDriver,
    ImageStack,
    judge_driver,
    leaves_full_graphs,
)
from deployments.planning.text import NOTHING, Text, said_by, sentences, text
from deployments.selectors.engine_profiles import known_profile
from deployments.services.rollout.checklist import Checklist, Told, minutes
from deployments.services.rollout.journal import Act
from deployments.services.rollout.outcomes import Done, StepFailedError
from deployments.services.rollout.rollout import Layout, Member, Rollout, policy_of
from deployments.services.short_run import ShortRun, ShortRunError, run_short
from deployments.services.throwaway import remove_leftovers

PURPOSE = "arguments"
LONGEST_S = 180
"""Importing vLLM with torch took 61 s on two busy cores."""
RENEW_EVERY_S = 5.0
MOST_BYTES = 40_000
"""Of commands in one container; the floor lets 64 kB of arguments through, the script among them."""
QUIET = (
    ("HF_HUB_OFFLINE", "1"),
    ("VLLM_LOGGING_LEVEL", "ERROR"),
    ("VLLM_NO_USAGE_STATS", "1"),
)
PLAN_AGAIN = text(
    "Plan again with an engine version and flags that fit the image; nothing was stopped."
)
SCRIPT = (
    resources.files("deployments.services")
    .joinpath("argument_script.py")
    .read_text(encoding="utf-8")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What the parser of an image said: why it cannot run, or a refusal for each command."""

    version: str = ""
    cannot: str = ""
    refusals: tuple[str, ...] = ()


def check_images(rollout: Rollout, act: Act) -> Done:
    """Prove for every host that its image reads the commands and its driver runs the image.

    What cannot be proved is said in the journal and stops nothing.

    Raises:
        StepFailedError: the parser refuses a command, or a driver is too old; nothing was stopped.
        DockerApiError: a host does not answer.
    """
    found = Checklist(rollout.release.request_id, trial=False)
    try:
        notes = prove_images(rollout, found)
    finally:
        found.store()
    with rollout.claim.fenced():
        for one in notes[:-1]:
            rollout.journal.write(act, EventKind.NOTE, one)
    return Done(notes[-1] if notes else text("There is nothing to check in the image."))


def prove_images(layout: Layout, found: Checklist) -> list[Text]:
    """The same for a release and for a trial; returns what was found, one sentence each.

    What the preflight list found of the same image a short while ago is not asked again. Images that
    a host does not have yet are passed over.

    Raises:
        StepFailedError: the parser refuses a command, or a driver is too old.
        DockerApiError: a host does not answer.
    """
    said: list[Text] = []
    for host in layout.hosts:
        for image_id, members in _by_image(layout, host).items():
            image: ImageFacts | None = None
            reference = members[0].planned.container.image.reference
            with found.checking(PreflightCheck.DRIVER, host, image=image_id) as told:
                with layout.engine(host) as engine:
                    if image_id:
                        image = find_image(engine, reference, image_id=image_id)
                    if image is None:
                        told.skip(_not_there(host))
                        continue
                    environment = environment_of(engine, image)
                said += _compare_driver(host, members, environment, layout, told)
            if image is not None:
                said += _parse(layout, found, host, image, members)
    return [one for one in said if one]


def _not_there(host: Host) -> Text:
    return text("The image is not on {host} yet.", host=host.name)


def _parse(
    layout: Layout,
    found: Checklist,
    host: Host,
    image: ImageFacts,
    members: Sequence[Member],
) -> Iterator[Text]:
    age = found.age(PreflightCheck.ARGUMENTS, host, image=image.image_id)
    if age is not None:
        yield text(
            "The parser in {image} took the commands of {host} {minutes} minutes ago.",
            image=members[0].planned.container.image.reference,
            host=host.name,
            minutes=minutes(age),
        )
        return
    with (
        found.checking(PreflightCheck.ARGUMENTS, host, image=image.image_id) as told,
        layout.engine(host) as engine,
    ):
        yield from _read_commands(layout, engine, image, members, told)


def _by_image(layout: Layout, host: Host) -> dict[str, list[Member]]:
    """The replicas of a host that start an engine, by the image they run."""
    found: dict[str, list[Member]] = {}
    for member in layout.members_on(host):
        command = member.planned.container.command
        starts = command[: len(PROGRAM)] == PROGRAM
        if starts and member.planned.role is not Role.ROUTER:
            found.setdefault(member.row.image_id, []).append(member)
    return found


def _compare_driver(
    host: Host,
    members: Sequence[Member],
    environment: Mapping[str, str],
    layout: Layout,
    told: Told,
) -> Iterator[Text]:
    first = members[0].planned
    if first.practice or not first.devices:
        told.sentence = text("Nothing there needs a driver.")
        return
    probe = HostProbe.objects.filter(host=host).first()
    plan = layout.plan
    verdict = judge_driver(
        HostDriver(
            host=host.name,
            platform=host.platform,
            version=(probe.driver_version or None) if probe else None,
            compatible=probe.compatible if probe else None,
        ),
        ImageStack(
            reference=first.container.image.reference,
            engine=plan.engine,
            engine_version=plan.engine_version,
            environment=environment,
            full_graphs=leaves_full_graphs(first.container.command),
        ),
    )
    if verdict is None:
        return
    if verdict.state is DriverState.TOO_OLD:
        raise StepFailedError(
            "driver_too_old",
            verdict.sentence,
            verdict.fix,
            final=ReleaseState.BLOCKED,
        )
    if verdict.fix:
        told.note(verdict.sentence, verdict.fix)
    else:
        told.sentence = verdict.sentence
    yield sentences(verdict.sentence, verdict.fix) if verdict.fix else verdict.sentence


def _read_commands(
    layout: Layout,
    engine: Engine,
    image: ImageFacts,
    members: Sequence[Member],
    told: Told,
) -> Iterator[Text]:
    said = NOTHING
    for batch in _batches(members):
        parsed = parse_in_image(
            engine, image, batch, on_wait=_renewing(layout), host=batch[0].host
        )
        if parsed.cannot:
            stands_in = _by_profile(layout, batch, parsed.cannot)
            told.note(stands_in)
            yield stands_in
            return
        for member, refusal in zip(batch, parsed.refusals, strict=True):
            if refusal:
                raise _refused(member, refusal)
        said = _taken(members, batch[0], parsed.version)
    told.sentence = said
    yield said


def _taken(members: Sequence[Member], first: Member, version: str) -> Text:
    image, host = first.planned.container.image.reference, first.host.name
    if len(members) == 1:
        return text(
            "The parser in {image} ({version}) takes the command of the replica on {host}.",
            image=image,
            version=version,
            host=host,
        )
    return text(
        "The parser in {image} ({version}) takes the commands of {count} replicas of {host}.",
        image=image,
        version=version,
        count=len(members),
        host=host,
    )


def parse_in_image(
    engine: Engine,
    image: ImageFacts,
    members: Sequence[Member],
    *,
    host: Host,
    on_wait: Callable[[], None] = lambda: None,
) -> Parsed:
    """Have the parser in the image read the commands, without devices and without a network.

    It sees the mounts of the container, the driver's libraries among them, and its environment.

    Raises:
        DockerApiError: the Docker Engine refuses or does not answer.
    """
    owner = f"arguments:{host.pk}"
    remove_leftovers(engine, owner)
    container, mark = members[0].planned.container, f"READ-{secrets.token_hex(8)} "
    commands = [
        json.dumps(list(one.planned.container.command), ensure_ascii=False)
        for one in members
    ]
    run = ShortRun(
        purpose=PURPOSE,
        owner=owner,
        command=("python3", "-B", "-c", SCRIPT, mark, *commands),
        environment=tuple({**dict(QUIET), **dict(container.environment)}.items()),
        mounts=tuple(container.mounts),
        cap_add=container.cap_add,
        group_add=container.group_add,
        user=container.user,
        longest_s=LONGEST_S,
        pids_limit=2048,
        read_only=False,
        policy=policy_of(host),
        on_wait=on_wait,
    )
    try:
        answer = run_short(engine, image, run)
    except ShortRunError as error:
        return Parsed(cannot=str(error))
    told = next((one for one in answer.lines if one.startswith(mark)), None)
    if told is None:
        last = (answer.lines or ("-",))[-1]
        return Parsed(cannot=f"exit {answer.exit_code}: {last[:300]}")
    return _parsed(told.removeprefix(mark), len(commands))


def _parsed(document: str, count: int) -> Parsed:
    try:
        told = json.loads(document)
        refusals = tuple(str(one["refusal"]) for one in told["answers"])
        cannot, version = str(told["cannot"]), str(told["version"])
    except (ValueError, KeyError, TypeError):
        return Parsed(cannot="no answer")
    if not cannot and len(refusals) != count:
        return Parsed(cannot="no answer")
    return Parsed(version=version[:40], cannot=cannot, refusals=refusals)


def _batches(members: Sequence[Member]) -> Iterator[list[Member]]:
    batch: list[Member] = []
    size = 0
    for member in members:
        length = sum(
            len(word.encode()) + 4 for word in member.planned.container.command
        )
        if batch and size + length > MOST_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(member)
        size += length
    if batch:
        yield batch


def _by_profile(layout: Layout, members: Sequence[Member], why: str) -> Text:
    """The parser cannot run: every flag is looked up in the profile that the plan was made with."""
    plan = layout.plan
    name = f"{plan.engine}=={plan.engine_version}"
    try:
        profile = known_profile(name)
    except PlanningError as error:
        return sentences(_cannot(members[0], why), said_by(error))
    for member in members:
        for flag in flag_values(member.planned.container.command):
            if not profile.knows(flag.partition(".")[0]):
                raise _unknown(member, name, flag)
    return sentences(
        _cannot(members[0], why),
        text(
            "The profile of {engine} knows every flag of {count} replicas and stands in.",
            engine=name,
            count=len(members),
        ),
    )


def _unknown(member: Member, engine: str, flag: str) -> StepFailedError:
    return StepFailedError(
        "arguments_refused",
        text(
            "the parser in {image} could not run without a device, and {engine} does not know {flag} "
            "in the command of {name} on {host}",
            image=member.planned.container.image.reference,
            engine=engine,
            flag=flag,
            name=member.name,
            host=member.host.name,
        ),
        PLAN_AGAIN,
        final=ReleaseState.BLOCKED,
    )


def _cannot(member: Member, why: str) -> Text:
    return text(
        "The parser in {image} could not run without a device on {host} ({why}).",
        image=member.planned.container.image.reference,
        host=member.host.name,
        why=why[:300],
    )


def _refused(member: Member, refusal: str) -> StepFailedError:
    lines: list[Json] = list(refusal.splitlines())
    return StepFailedError(
        "arguments_refused",
        text(
            "the parser in {image} refuses the command of {name} on {host}: {refusal}",
            image=member.planned.container.image.reference,
            name=member.name,
            host=member.host.name,
            refusal=refusal.strip().splitlines()[-1][:400],
        ),
        PLAN_AGAIN,
        final=ReleaseState.BLOCKED,
        detail={"log": lines},
    )


def _renewing(layout: Layout) -> Callable[[], None]:
    """Keep the lease while the container runs."""
    renewed = time.monotonic()

    def on_wait() -> None:
        nonlocal renewed
        if time.monotonic() - renewed > RENEW_EVERY_S:
            layout.keep_alive()
            renewed = time.monotonic()

    return on_wait
