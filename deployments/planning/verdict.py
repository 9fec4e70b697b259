"""Whether one speculative method is open for a model here, and why or why not."""

from dataclasses import dataclass

from deployments.planning.catalog import Checkpoint, Drafter, TargetModel
from deployments.planning.counts import Count, recommended
from deployments.planning.engines.eagle3 import eagle3_since
from deployments.planning.engines.lives import why_unsupported
from deployments.planning.engines.profile import VLLM, EngineProfile
from deployments.planning.methods import FACTS, Method, Need
from deployments.planning.plan import MethodVerdict, Role
from deployments.planning.platforms.platform import Platform
from deployments.planning.revision import SpeculationChoice
from deployments.planning.text import Text, listed, text


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked: the model and checkpoint on an engine and platform.

    ``own_image`` is true when the revision names an image, which may hold packages that the
    platform's image lacks. ``documented_for`` is the platform whose documents count: that of the
    hosts, or under the practice image the one that the checkpoint is for.
    """

    model: TargetModel
    checkpoint: Checkpoint
    platform: Platform
    documented_for: str
    profile: EngineProfile
    choice: SpeculationChoice
    role: Role = Role.COMBINED
    own_image: bool = False
    practice: bool = False


def find_drafter(asked: Question, method: Method) -> Drafter | None:
    """Return the drafter of a method for this checkpoint and platform, the chosen one first.

    Raises:
        PlanningError: the chosen drafter is not bound to the model.
    """
    if asked.choice.drafter is not None:
        chosen = asked.model.drafter(asked.choice.drafter)
        if chosen.method is method:
            return chosen
    for drafter in asked.model.drafters:
        if drafter.method is method and _fits(drafter, asked):
            return drafter
    return None


def verdict(asked: Question, method: Method) -> MethodVerdict:
    """Say whether a method is open here, and why or why not.

    Raises:
        PlanningError: the chosen drafter is not bound to the model.
    """
    drafter = find_drafter(asked, method)
    closed = _closed(asked, method, drafter)
    count = recommended(asked.model, method, asked.documented_for, asked.role, drafter)
    return MethodVerdict(
        method=method.value,
        open=closed is None,
        because=closed or _opened(asked, method, drafter, count),
        num_speculative_tokens=count.value if count else None,
        drafter=drafter.key if drafter else None,
        evidence="published" if count is not None and count.published else "assumed",
    )


def _fits(drafter: Drafter, asked: Question) -> bool:
    wanted = drafter.checkpoints
    return asked.documented_for in drafter.platforms and (
        not wanted or asked.checkpoint.key in wanted
    )


def _closed(asked: Question, method: Method, drafter: Drafter | None) -> Text | None:
    facts = FACTS[method]
    elsewhere = _closed_by_place(asked, method)
    if elsewhere is not None:
        return elsewhere
    match facts.need:
        case Need.MTP_WEIGHTS:
            return why_no_mtp(asked)
        case Need.DRAFTER:
            return _closed_drafter(asked, method, drafter)
        case Need.PACKAGE:
            return _closed_package(asked, str(facts.package))
        case Need.NOTHING:
            return None


def _closed_by_place(asked: Question, method: Method) -> Text | None:
    facts = FACTS[method]
    unsupported = why_unsupported(asked.profile, method)
    if unsupported is not None:
        return unsupported
    lacks_devices = not asked.platform.has_devices and not asked.practice
    if lacks_devices and not facts.on_cpu:
        return text(
            "{method} needs an accelerator; this host has none.", method=facts.title
        )
    limited = asked.platform.traits.methods
    if limited is not None and method not in limited:
        return text(
            "Nobody has documented {method} on {platform}.",
            method=facts.title,
            platform=asked.platform.title,
        )
    return None


def why_no_mtp(asked: Question) -> Text | None:
    """Say why the checkpoint cannot draft with MTP, ``None`` when nothing speaks against it."""
    model, checkpoint = asked.model, asked.checkpoint
    if model.has_mtp is False:
        return text(
            "{engine} has no MTP route for {model}: it was not trained with MTP layers.",
            engine=asked.profile.engine,
            model=model.name,
        )
    if model.has_mtp is None:
        return text("Nobody has stated that {model} has MTP layers.", model=model.name)
    apart = any(one.method is Method.MTP for one in model.drafters)
    if apart and find_drafter(asked, Method.MTP) is None:
        return text(
            "The MTP layers of {model} are a checkpoint of their own, and the catalog binds none "
            "for {platform}.",
            model=model.name,
            platform=asked.platform.title,
        )
    if checkpoint.holds_mtp is False:
        others = [one.key for one in model.checkpoints if one.holds_mtp]
        if not others:
            return text(
                "The checkpoint {checkpoint} leaves the MTP layers out.",
                checkpoint=checkpoint.key,
            )
        return text(
            "The checkpoint {checkpoint} leaves the MTP layers out; these do: {others}.",
            checkpoint=checkpoint.key,
            others=listed(others),
        )
    return None


def _closed_drafter(
    asked: Question, method: Method, drafter: Drafter | None
) -> Text | None:
    model, noun = asked.model, FACTS[method].drafter_noun
    if method is Method.EAGLE3 and model.eagle3_interface is False:
        return text(
            "{engine} {version} has no EAGLE-3 interface in the class of {model}.",
            engine=asked.profile.engine,
            version=asked.profile.version,
            model=model.name,
        )
    too_old = _eagle3_too_old(asked) if method is Method.EAGLE3 else None
    if too_old is not None or drafter is not None:
        return too_old
    elsewhere = [one for one in model.drafters if one.method is method]
    if not elsewhere:
        return text(
            "The catalog binds no {noun} to {model}.", noun=noun, model=model.name
        )
    where = sorted({place for one in elsewhere for place in one.platforms})
    limits = sorted({key for one in elsewhere for key in one.checkpoints})
    if not limits:
        return text(
            "The {noun} of {model} is documented on {platforms} only.",
            noun=noun,
            model=model.name,
            platforms=listed(where),
        )
    return text(
        "The {noun} of {model} is documented on {platforms} with the checkpoints {checkpoints} "
        "only.",
        noun=noun,
        model=model.name,
        platforms=listed(where),
        checkpoints=listed(limits),
    )


def _eagle3_too_old(asked: Question) -> Text | None:
    """Releases before 0.22.1 take EAGLE-3 for listed architectures only (vLLM sources)."""
    since = eagle3_since(asked.model.name)
    if asked.profile.engine != VLLM or since is None:
        return None
    if asked.profile.vllm.release >= since:
        return None
    return text(
        "{engine} {version} does not take EAGLE-3 for {model} yet; {since} is the first release "
        "that does.",
        engine=asked.profile.engine,
        version=asked.profile.version,
        model=asked.model.name,
        since=".".join(map(str, since)),
    )


def _closed_package(asked: Question, package: str) -> Text | None:
    if asked.own_image:
        return None
    return text(
        "It needs the package {package}, which the image of {platform} does not hold.",
        package=package,
        platform=asked.platform.title,
    )


def _opened(
    asked: Question, method: Method, drafter: Drafter | None, count: Count | None
) -> Text:
    told = _told(count)
    if method is Method.MTP:
        checkpoint = asked.checkpoint.key
        if asked.checkpoint.holds_mtp:
            return text(
                "The checkpoint {checkpoint} holds the MTP layers; nothing else to mount. {count}",
                checkpoint=checkpoint,
                count=told,
            )
        return text(
            "The checkpoint {checkpoint} should hold, which nobody has checked, the MTP layers; "
            "nothing else to mount. {count}",
            checkpoint=checkpoint,
            count=told,
        )
    if drafter is not None:
        return text(
            "Drafter {repository}. {count}", repository=drafter.repository, count=told
        )
    if FACTS[method].async_scheduling:
        return text("It needs no weights. {count}", count=told)
    return text(
        "It needs no weights. It turns asynchronous scheduling off. {count}", count=told
    )


def _told(count: Count | None) -> Text:
    if count is None:
        return text("No count is known.")
    if count.value == 1:
        return text("1 token a step: {source}.", source=count.source)
    return text(
        "{count} tokens a step: {source}.", count=count.value, source=count.source
    )
