"""What the caller says about engine and platform, and what the launch itself gives away."""

from dataclasses import dataclass

from deployments.planning.engines.profile import VLLM, VLLM_ASCEND, EngineProfile
from deployments.planning.errors import PlanningError
from deployments.planning.importing.launch import Launch
from deployments.planning.rules.launch.engine import (
    FIRST_PROFILED,
    JudgedEngine,
    engine_of_image,
    read_version,
)
from deployments.planning.text import listed, text
from deployments.planning.versions import Version

WIDE = {
    "nvidia": "cuda",
    "cuda": "cuda",
    "amd": "rocm",
    "rocm": "rocm",
    "xpu": "xpu",
    "cpu": "cpu",
    "ascend": "ascend",
    "ascend-a2": "ascend",
    "ascend-a3": "ascend",
    "ascend-950": "ascend",
    "ascend-310p": "ascend",
}
PLATFORM_NAMES = tuple(WIDE)
_CHIPS = ("310p", "950", "a2", "a3")
_ASCEND_FLAGS = ("--additional-config",)
_ASCEND_VARIABLES = (
    "ASCEND_RT_VISIBLE_DEVICES",
    "HCCL_OP_EXPANSION_MODE",
    "PYTORCH_NPU_ALLOC_CONF",
    "HCCL_IF_IP",
    "HCCL_BUFFSIZE",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LintSettings:
    """``platform`` is one of ``PLATFORM_NAMES``, ``engine`` vllm or vllm-ascend; all may be unsaid.

    ``own`` holds the profile that somebody made of ``engine_version``, where there is one.
    """

    platform: str | None = None
    engine: str | None = None
    engine_version: str | None = None
    own: tuple[EngineProfile, ...] = ()

    def checked(self) -> "LintSettings":
        """Return the settings.

        Raises:
            PlanningError: the platform or the engine has a name that nobody knows.
        """
        if self.platform is not None and self.platform not in WIDE:
            raise PlanningError(
                text(
                    "{platform} is no platform; use one of: {known}.",
                    platform=repr(self.platform),
                    known=listed(PLATFORM_NAMES),
                )
            )
        if self.engine is not None and self.engine not in (VLLM, VLLM_ASCEND):
            raise PlanningError(
                text(
                    "{engine} is no engine; use vllm or vllm-ascend.",
                    engine=repr(self.engine),
                )
            )
        return self


def settled_engine(launch: Launch, settings: LintSettings) -> JudgedEngine:
    """Return the engine that a launch is judged by: as said, else as the image or its flags show."""
    image_engine, tag, image_version = engine_of_image(
        launch.container.image if launch.container else None
    )
    name = settings.engine or image_engine or _guessed(launch, settings)
    written = settings.engine_version or (tag if image_engine == name else None)
    version = read_version(settings.engine_version) if settings.engine_version else None
    if settings.engine_version is None and image_engine == name:
        version = image_version
    return JudgedEngine(
        name=name,
        version=version,
        written=written,
        old=_is_old(launch, name, version),
        readable=settings.engine_version is None or version is not None,
        own=next((one for one in settings.own if one.engine == name), None),
    )


def _is_old(launch: Launch, name: str, version: Version | None) -> bool:
    if version is not None:
        return name == VLLM and version < FIRST_PROFILED
    speculation = launch.speculation
    return speculation is not None and speculation.old_flags


def _guessed(launch: Launch, settings: LintSettings) -> str:
    if settings.platform is not None:
        return VLLM_ASCEND if WIDE[settings.platform] == "ascend" else VLLM
    by_flag = launch.value("--quantization") == "ascend"
    by_variable = any(name in launch.environment for name in _ASCEND_VARIABLES)
    return VLLM_ASCEND if by_flag or by_variable else VLLM


def platform_of(
    launch: Launch, settings: LintSettings, engine: JudgedEngine
) -> tuple[str | None, str | None]:
    """Return the wide platform and, on Ascend, the chip."""
    platform = WIDE.get(settings.platform or "") if settings.platform else None
    if engine.name != VLLM_ASCEND:
        return platform, None
    said = [settings.platform or "", settings.engine_version or "", _tag(launch)]
    for text_ in said:
        lowered = text_.lower()
        for chip in _CHIPS:
            if (
                lowered.endswith(f"-{chip}")
                or f"-{chip}-" in lowered
                or f"-{chip}dt" in lowered
            ):
                return platform or "ascend", chip
        if "-a5" in lowered:
            return platform or "ascend", "950"
    return platform or "ascend", None


def _tag(launch: Launch) -> str:
    return (launch.container.image or "") if launch.container else ""
