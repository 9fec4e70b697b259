"""One launch as the rules see it: its flags, its engine, its platform, and its neighbours."""

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass

from deployments.planning.canonical import Json
from deployments.planning.catalog import TargetModel
from deployments.planning.engines.profile import VLLM_ASCEND, EngineProfile
from deployments.planning.importing.json_repair import read_json
from deployments.planning.importing.launch import Launch
from deployments.planning.importing.reader import ImportedInput
from deployments.planning.importing.speculation import Speculation
from deployments.planning.methods import Method
from deployments.planning.plan import Severity
from deployments.planning.rules.launch.engine import JudgedEngine
from deployments.planning.rules.launch.known import NO_MODELS, KnownModels
from deployments.planning.versions import Version


@functools.lru_cache(maxsize=64)
def _holds(text: str, pattern: str) -> bool:
    return re.search(pattern, text) is not None


EAGLE_FAMILY = frozenset(("mtp", "eagle", "eagle3", "dflash", "dspark"))
WITH_DRAFTER = frozenset((*EAGLE_FAMILY, "draft_model", "medusa", "mlp_speculator"))
NEEDS_MODEL = frozenset(
    ("eagle", "eagle3", "dflash", "draft_model", "medusa", "mlp_speculator")
)
FULL_MODES = frozenset(("FULL", "FULL_DECODE_ONLY"))


@dataclass(frozen=True, kw_only=True)
class LaunchView:
    """A launch with everything that judging it needs.

    ``index`` is its place among the launches of the input. ``platform`` is ``cuda``, ``rocm``,
    ``xpu``, ``cpu`` or ``ascend``; ``chip`` narrows Ascend: ``310p``, ``950``, ``a2``, ``a3``.
    """

    launch: Launch
    index: int
    source: ImportedInput
    engine: JudgedEngine
    platform: str | None = None
    chip: str | None = None
    target: TargetModel | None = None
    known: KnownModels = NO_MODELS

    @property
    def ascend(self) -> bool:
        """Whether it runs on Ascend NPUs."""
        return self.engine.name == VLLM_ASCEND

    @property
    def speculation(self) -> Speculation | None:
        """How it drafts."""
        return self.launch.speculation

    @property
    def method(self) -> str | None:
        """The method, normalised."""
        return self.speculation.method if self.speculation else None

    @property
    def count(self) -> int | None:
        """num_speculative_tokens."""
        return self.speculation.num_speculative_tokens if self.speculation else None

    @property
    def config(self) -> dict[str, Json]:
        """Keys of the speculative config."""
        return self.speculation.config if self.speculation else {}

    @property
    def model(self) -> str:
        """The model as written with variables replaced, empty when there is none."""
        model = self.launch.model
        return self.launch.scope.resolve(model) if model else ""

    @property
    def names(self) -> str:
        """The model and the names it is served under, to look a family up in."""
        served = self.launch.value("--served-model-name") or ""
        return f"{self.model} {served}".strip()

    @property
    def method_enum(self) -> Method | None:
        """The method as the panel knows it, ``None`` for words it only recognises."""
        try:
            return Method(self.method) if self.method else None
        except ValueError:
            return None

    def refusal(self, refuses: Callable[[EngineProfile], bool]) -> Severity | None:
        """How bad it is that some engine versions refuse."""
        return self.engine.refusal(refuses)

    def shows(self, pattern: str) -> bool:
        """Whether the program output below the command matches."""
        return self.source.output is not None and _holds(self.source.output, pattern)

    def affected(
        self,
        since: tuple[int, ...] | None = None,
        before: Version | tuple[int, ...] | None = None,
        symptom: str | None = None,
    ) -> bool:
        """Whether a defect of some builds concerns it: by its version, else by its output."""
        version = self.engine.version
        if version is None:
            return symptom is not None and self.shows(symptom)
        limit = Version(before) if isinstance(before, tuple) else before
        return (since is None or version >= Version(since, (0, 0))) and (
            limit is None or version < limit
        )

    def vllm_since(self, *release: int) -> bool:
        """Whether the vLLM release underneath is that one or later; false when not named."""
        return self.engine.vllm is not None and self.engine.vllm >= Version(release)

    def vllm_before(self, *release: int) -> bool:
        """Whether the vLLM release underneath is older; false when not named."""
        return self.engine.vllm is not None and self.engine.vllm < Version(release)

    @functools.cached_property
    def compilation(self) -> dict[str, Json]:
        """The object behind ``--compilation-config``, dotted keys included."""
        return self._object("--compilation-config")

    @functools.cached_property
    def additional(self) -> dict[str, Json]:
        """The object behind ``--additional-config``."""
        return self._object("--additional-config")

    @functools.cached_property
    def transfer(self) -> dict[str, Json]:
        """The object behind ``--kv-transfer-config``."""
        return self._object("--kv-transfer-config")

    @property
    def graph_mode(self) -> str | None:
        """``cudagraph_mode`` in upper case, ``None`` when the engine chooses."""
        mode = self.compilation.get("cudagraph_mode")
        return mode.upper() if isinstance(mode, str) else None

    @property
    def eager(self) -> bool:
        """Whether the target runs without graphs."""
        return self.launch.has("--enforce-eager") or self.graph_mode == "NONE"

    @property
    def role(self) -> str | None:
        """``prefill`` or ``decode`` by the KV transfer role, ``None`` for both or none."""
        return {"kv_producer": "prefill", "kv_consumer": "decode"}.get(
            str(self.transfer.get("kv_role"))
        )

    def _object(self, flag: str) -> dict[str, Json]:
        found: dict[str, Json] = {}
        for one in self.launch.arguments.flags:
            base, dot, key = one.name.partition(".")
            if base != flag or one.value is None:
                continue
            text = self.launch.scope.resolve(one.value)
            value = read_json(text).value if text[:1] in "[{'\"" or not dot else None
            if dot:
                found[key.replace("-", "_")] = text if value is None else value
            elif isinstance(value, dict):
                found.update(value)
        return found

    def place(self, flag: str) -> int:
        """Where a flag stands, else where the launch begins."""
        argument = self.launch.flag(flag)
        if argument is not None and argument.start >= 0:
            return argument.start
        return self.launch.start

    @property
    def spec_place(self) -> int:
        """Where the speculative config stands."""
        for one in self.launch.arguments.flags:
            if one.name.startswith(("--spec", "--num-spec")) and one.start >= 0:
                return one.start
        return self.launch.start
