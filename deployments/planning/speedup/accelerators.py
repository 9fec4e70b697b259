"""Accelerators as the speed model sees them: bandwidth and peak rates of one device."""

import functools
from dataclasses import dataclass
from importlib import resources

from pydantic import TypeAdapter

from deployments.planning.errors import PlanningError
from deployments.planning.text import listed, text

_DEFAULTS = {
    "nvidia": "H100",
    "amd": "MI300X",
    "ascend-a2": "910B3",
    "ascend-a3": "910C die",
    "ascend-950": "950DT",
}
_FOUR_BIT_FLOATS = ("nvfp4", "mxfp4", "fp4")


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """One device: bandwidth in TB/s, dense peaks in TFLOPS, link to its neighbours in GB/s.

    ``reliable`` is false where public figures disagree or are missing; unknown is ``None``.
    """

    key: str
    title: str
    platform: str
    bandwidth_tb_s: float | None
    bf16_tflops: float | None
    fp8_tflops: float | None
    int8_tflops: float | None
    link_gb_s: float | None
    reliable: bool
    source: str

    def peak_tflops(self, quantisation: str) -> float | None:
        """Return the dense peak for weights of this quantisation; bf16 where only weights shrink."""
        name = quantisation.lower()
        if name in ("fp8", "mxfp8", *_FOUR_BIT_FLOATS):
            return self.fp8_tflops or self.bf16_tflops
        if name.startswith(("w8a8", "int8", "w4a8")):
            return self.int8_tflops or self.bf16_tflops
        return self.bf16_tflops or self.fp8_tflops


@functools.cache
def accelerators() -> tuple[Accelerator, ...]:
    """Return the devices with published figures; constant data of this package."""
    text = (_data() / "accelerators.json").read_text(encoding="utf-8")
    return TypeAdapter(tuple[Accelerator, ...]).validate_json(text)


@functools.lru_cache(maxsize=256)
def find_accelerator(name: str) -> Accelerator:
    """Return a device by its name, such as ``H100`` or ``NVIDIA H100 80GB HBM3``.

    Raises:
        PlanningError: no published figures of it ship with the panel.
    """
    wanted = _plain(name)
    exact = [one for one in accelerators() if _plain(one.key) == wanted]
    inside = [one for one in accelerators() if _plain(one.key) in wanted]
    found = exact or sorted(inside, key=lambda one: len(one.key), reverse=True)
    if found:
        return found[0]
    known = listed(one.key for one in accelerators())
    raise PlanningError(
        text(
            "No speed figures of the device {name} are known; name one of: {known}.",
            name=repr(name),
            known=known,
        )
    )


def usual_accelerator(platform: str) -> Accelerator:
    """Return the device assumed for a platform when none is named, one without figures if unknown."""
    key = _DEFAULTS.get(platform)
    if key is not None:
        return find_accelerator(key)
    return Accelerator(
        key=platform,
        title=text("a device of {platform}", platform=platform),
        platform=platform,
        bandwidth_tb_s=None,
        bf16_tflops=None,
        fp8_tflops=None,
        int8_tflops=None,
        link_gb_s=None,
        reliable=False,
        source=text("no public figure found"),
    )


def _plain(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())


def _data() -> resources.abc.Traversable:
    return resources.files("deployments.planning.speedup") / "data"
