"""Which checkpoint of a model serves on a platform, and whose documents count for it."""

from deployments.planning.catalog import Checkpoint, TargetModel
from deployments.planning.errors import PlanningError
from deployments.planning.platforms.platform import Platform
from deployments.planning.text import either, listed, text


def checkpoint_here(
    model: TargetModel, key: str | None, platform: Platform
) -> tuple[Checkpoint, str]:
    """Return the checkpoint for a platform and the platform whose documents count.

    A family without documents of its own takes the checkpoints and documents of its nearest kin
    (``documented_as``), but for quantisations that it cannot run.

    Raises:
        PlanningError: the model has no such checkpoint, or none that runs here.
    """
    kin = platform.traits.documented_as
    refused = platform.traits.refused_quantisations
    if kin is None or _has(model, key, platform.name):
        return choose_checkpoint(
            key, model, (platform.name,), practice=False
        ), platform.name
    if key is not None:
        chosen = model.checkpoint(key)
        if chosen.quantisation in refused:
            raise PlanningError(
                text(
                    "The checkpoint {checkpoint} of {model} is quantised as {quantisation}, which "
                    "{platform} does not run; choose another checkpoint.",
                    checkpoint=chosen.key,
                    model=model.name,
                    quantisation=chosen.quantisation or "",
                    platform=platform.title,
                )
            )
    for checkpoint in model.checkpoints:
        fits = kin in checkpoint.platforms and checkpoint.quantisation not in refused
        if fits and key in (None, checkpoint.key):
            return checkpoint, kin
    return choose_checkpoint(key, model, (platform.name,), practice=False), kin


def _has(model: TargetModel, key: str | None, platform: str) -> bool:
    return any(
        platform in one.platforms and key in (None, one.key)
        for one in model.checkpoints
    )


def choose_checkpoint(
    key: str | None,
    model: TargetModel,
    platforms: tuple[str, ...],
    *,
    practice: bool,
) -> Checkpoint:
    """Return the chosen checkpoint, or the first that is published for one of the platforms.

    The practice image takes any checkpoint, since it loads none.

    Raises:
        PlanningError: the model has no such checkpoint, or none for the platform.
    """
    here = either(platforms)
    if key is not None:
        checkpoint = model.checkpoint(key)
        if practice or not set(platforms).isdisjoint(checkpoint.platforms):
            return checkpoint
        where = listed(checkpoint.platforms)
        raise PlanningError(
            text(
                "The checkpoint {checkpoint} of {model} is for {where}, not for {here}; choose "
                "another checkpoint or other hosts.",
                checkpoint=checkpoint.key,
                model=model.name,
                where=where,
                here=here,
            )
        )
    for checkpoint in model.checkpoints:
        if not set(platforms).isdisjoint(checkpoint.platforms):
            return checkpoint
    if practice and model.checkpoints:
        return model.checkpoints[0]
    raise PlanningError(
        text(
            "The catalog has no checkpoint of {model} for {here}; choose other hosts or add a "
            "checkpoint to the catalog.",
            model=model.name,
            here=here,
        )
    )
