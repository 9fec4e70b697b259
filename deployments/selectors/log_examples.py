"""Logs to try: one that goes well, one that failed, one scrape of metrics."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True, slots=True, kw_only=True)
class TryOutLog:
    """One log to try, with what it shows."""

    key: str
    title: "StrOrPromise"
    content: str


def _window(second: int, accepted: int, rates: tuple[float, float, float]) -> str:
    positions = ", ".join(f"{rate:.3f}" for rate in rates)
    return (
        f"(APIServer pid=41) INFO 11-29 15:04:{second:02d} [metrics.py:101] SpecDecoding metrics: "
        f"Mean acceptance length: {1 + accepted / 400:.2f}, Accepted throughput: {accepted / 10:.2f} tokens/s, "
        f"Drafted throughput: 120.00 tokens/s, Accepted: {accepted} tokens, Drafted: 1200 tokens, "
        f"Per-position acceptance rate: {positions}, Avg Draft acceptance rate: {accepted / 12:.1f}%\n"
    )


_START = (
    "(EngineCore pid=77) INFO 11-29 15:03:10 [core.py:114] Initializing a V1 LLM engine (v0.32.0) with config: "
    "model='/models/GLM-5.2-w8a8', speculative_config=SpeculativeConfig(method='mtp', model='/models/GLM-5.2-w8a8', "
    "num_spec_tokens=3), tokenizer='/models/GLM-5.2-w8a8'\n"
)

EXAMPLES = (
    TryOutLog(
        key="acceptance",
        title=_("MTP with three tokens, one minute"),
        content=_START
        + "".join(
            _window(second, accepted, rates)
            for second, accepted, rates in (
                (5, 742, (0.861, 0.602, 0.392)),
                (15, 768, (0.872, 0.63, 0.418)),
                (25, 731, (0.855, 0.594, 0.379)),
                (35, 699, (0.838, 0.561, 0.349)),
                (45, 752, (0.866, 0.611, 0.403)),
            )
        ),
    ),
    TryOutLog(
        key="failure",
        title=_("A start that fails"),
        content=(
            "(APIServer pid=41) INFO 11-29 15:03:01 [utils.py:253] non-default args: {'model': '/models/GLM-5.2'}\n"
            "(EngineCore pid=77) ERROR 11-29 15:03:44 [core.py:1120] EngineCore failed to start.\n"
            "(EngineCore pid=77) ERROR 11-29 15:03:44 [core.py:1120] ValueError: Following weights were not initialized "
            "from checkpoint: {'model.layers.78.shared_head.head.weight', 'model.embed_tokens.weight'}\n"
            "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore': 1}\n"
        ),
    ),
    TryOutLog(
        key="metrics",
        title=_("A scrape of metrics"),
        content="".join(
            f'vllm:spec_decode_{name}_total{{engine="0",model_name="glm-52"}} {value}\n'
            for name, value in (
                ("num_drafts", 6620.0),
                ("num_draft_tokens", 19860.0),
                ("num_accepted_tokens", 11905.0),
            )
        ),
    ),
)
