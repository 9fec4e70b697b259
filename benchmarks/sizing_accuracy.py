"""Sizing against documents: recipes' memory minima, and the hardware that vllm-ascend documents."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from deployments.planning.catalog import (
    Checkpoint,
    HardwareNeed,
    TargetModel,
    parse_target_model,
)
from deployments.planning.plan import Role
from deployments.planning.planner import make_plan
from deployments.planning.platforms.devices import device_memory
from deployments.planning.revision import RevisionSpec, RoleSpec
from deployments.planning.shipped_yaml import read_shipped_yaml
from deployments.planning.sizing.geometry import geometry_of
from deployments.planning.sizing.weights import checkpoint_bytes
from deployments.planning.snapshot import ClusterSettings, HostSnapshot

CATALOG = Path(__file__).resolve().parents[1] / "deployments" / "catalog"
TOLERANCE = 0.20
USABLE_SHARE = 0.9
SMALL_BYTES = 20_000_000_000
"""Minima below are published in whole gigabytes of weights, without the runtime beside them."""
ROUNDING_BYTES = 500_000_000
DEVICE_BYTES = 80_000_000_000
FIXED_BYTES = 1_500 << 20
"""Runtime, collectives and graphs of one device, as the sizing assumes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A published minimum of device memory and the least that the sizing allows, in bytes."""

    model: str
    checkpoint: str
    published: int
    sized: int

    @property
    def error(self) -> float:
        """Sized over published, minus one."""
        return self.sized / self.published - 1

    @property
    def agrees(self) -> bool:
        """Whether both are within 20 % of each other."""
        return abs(self.error) <= TOLERANCE

    @property
    def lacks_runtime(self) -> bool:
        """Whether a small minimum is exceeded by no more than the runtime and its own rounding."""
        more = self.sized - self.published
        most = FIXED_BYTES / USABLE_SHARE + ROUNDING_BYTES
        return self.published < SMALL_BYTES and 0 < more <= most


@dataclass(frozen=True, slots=True, kw_only=True)
class Documented:
    """Documented hosts of a checkpoint, and whether the sizing fits there and on half of them."""

    model: str
    checkpoint: str
    platform: str
    hosts: int
    devices_per_host: int
    fits: bool | None
    fits_on_half: bool | None


def models() -> tuple[TargetModel, ...]:
    """Every shipped catalog entry."""
    found: list[TargetModel] = []
    for path in sorted(CATALOG.glob("*.yaml")):
        documents = read_shipped_yaml(path.read_text(encoding="utf-8"))
        found.extend(parse_target_model(document) for document in documents)
    return tuple(found)


def recipes() -> Iterator[Recipe]:
    """Every published minimum whose checkpoint can be weighed."""
    for model in models():
        for checkpoint in model.checkpoints:
            weight = checkpoint_bytes(geometry_of(model), checkpoint)
            published = checkpoint.memory_minimum_bytes
            if weight is None or published is None:
                continue
            yield Recipe(
                model=model.key,
                checkpoint=checkpoint.key,
                published=published,
                sized=_least(weight),
            )


def documented() -> Iterator[Documented]:
    """Every documented hardware need, planned on that hardware and on half of it."""
    for model in models():
        for checkpoint in model.checkpoints:
            for need in checkpoint.minimum:
                yield Documented(
                    model=model.key,
                    checkpoint=checkpoint.key,
                    platform=need.platform,
                    hosts=need.hosts,
                    devices_per_host=need.devices_per_host,
                    fits=_fits(model, checkpoint, need, need.hosts),
                    fits_on_half=_fits(model, checkpoint, need, need.hosts // 2)
                    if need.hosts > 1
                    else None,
                )


def _least(weight: float) -> int:
    devices = 1
    while weight / devices + FIXED_BYTES > DEVICE_BYTES * USABLE_SHARE:
        devices += 1
    return round((weight + devices * FIXED_BYTES) / USABLE_SHARE)


def _fits(
    model: TargetModel, checkpoint: Checkpoint, need: HardwareNeed, hosts: int
) -> bool | None:
    used = tuple(
        HostSnapshot(
            name=f"host-{number}",
            platform=need.platform,
            device_count=need.devices_per_host,
            device_memory_bytes=device_memory(need.platform, None),
            address=f"10.0.0.{number}",
            interface="eth0",
            model_root="/models",
        )
        for number in range(1, hosts + 1)
    )
    names = tuple(host.name for host in used)
    spec = RevisionSpec(
        name="sizing",
        model=model.key,
        checkpoint=checkpoint.key,
        roles=(RoleSpec(role=Role.COMBINED, hosts=names),),
    )
    plan = make_plan(spec, model, used, ClusterSettings())
    answers = [one.fits for one in plan.memory]
    if False in answers:
        return False
    return None if None in answers else True


def main(arguments: Sequence[str] | None = None) -> int:
    """Print both tables; 1 if a plan fits where documents need more, else 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    minima, needs = list(recipes()), list(documented())
    if options.json:
        answer = {
            "recipes": [
                {**asdict(one), "error": round(one.error, 3)} for one in minima
            ],
            "documented": [asdict(one) for one in needs],
        }
        sys.stdout.write(json.dumps(answer) + "\n")
    else:
        for one in minima:
            mark = "" if one.agrees else "  EXCEPTION"
            mark = "  WITHOUT RUNTIME" if mark and one.lacks_runtime else mark
            sys.stdout.write(
                f"{one.model} {one.checkpoint}: published {one.published / 1e9:.0f} GB, sized "
                f"{one.sized / 1e9:.0f} GB, {one.error:+.0%}{mark}\n"
            )
        for need in needs:
            sys.stdout.write(
                f"{need.model} {need.checkpoint} on {need.platform}: {need.hosts} x "
                f"{need.devices_per_host} fits: {need.fits}, half: {need.fits_on_half}\n"
            )
    return int(any(need.fits_on_half for need in needs))


if __name__ == "__main__":
    sys.exit(main())
