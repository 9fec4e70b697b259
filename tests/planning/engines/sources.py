"""A miniature vLLM in the shape of the real sources, for the static reader."""

ARG_UTILS = """
import argparse, dataclasses, json
from dataclasses import dataclass
from typing import Any
from vllm.config import CacheConfig, ModelConfig, SpeculativeConfig, VllmConfig
from vllm.config.parallel import PASSTHROUGH, ParallelConfig

def optional_type(kind): ...
def human_readable_int(value): ...
def literal_to_kwargs(hints):
    kwarg = "metavar" if contains_type(hints, str) else "choices"

def get_kwargs(cls):
    for field in fields(cls):
        dataclass_cls = next((th for th in hints if is_dataclass(th)), None)
        if type_hints == {bool, str, type(None)}:
            pass
        if field.name in {"max_model_len", "kv_cache_memory_bytes"}:
            kind = human_readable_int
        if contains_type(hints, dict):
            kind = union_dict_and_str

@dataclass
class EngineArgs:
    model: str = ModelConfig.model

    @staticmethod
    def add_cli_args(parser):
        model_kwargs = get_kwargs(ModelConfig)
        group = parser.add_argument_group(title="ModelConfig")
        if not ("serve" in sys.argv[1:] and "--help" in sys.argv[1:]):
            group.add_argument("--model", **model_kwargs["model"])
        group.add_argument("--max-model-len", **model_kwargs["max_model_len"])
        group.add_argument("--hf-token", **model_kwargs["hf_token"])
        group.add_argument("--hf-overrides", **model_kwargs["hf_overrides"])
        group.add_argument("--quantization", "-q", **model_kwargs["quantization"])
        parallel_kwargs = get_kwargs(ParallelConfig)
        parallel_kwargs["backend"]["choices"].remove(PASSTHROUGH)
        group.add_argument("--all2all-backend", **parallel_kwargs["backend"])
        group.add_argument("--tensor-parallel-size", "-tp", **parallel_kwargs["size"])
        group.add_argument("--eplb-config", **parallel_kwargs["eplb_config"])
        group.add_argument("--device-ids", type=lambda s: s.split(","), default=None)
        cache_kwargs = get_kwargs(CacheConfig)
        group.add_argument("--kv-cache-dtype", **cache_kwargs["dtype"])
        group.add_argument("--block-size", **{**cache_kwargs["block_size"], "default": None})
        group.add_argument("--kv-skip-layers", **cache_kwargs["skip_layers"])
        group.add_argument("--state-dtype", **cache_kwargs["state_dtype"])
        vllm_kwargs = get_kwargs(VllmConfig)
        vllm_kwargs["speculative_config"]["type"] = optional_type(json.loads)
        group.add_argument("--speculative-config", "-sc", **vllm_kwargs["speculative_config"])
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--load-format", choices=[f.value for f in LoadFormat])
        parser.add_argument("--reasoning-parser", choices=list(Manager.parsers))
        return parser

    def create_speculative_config(self):
        self.speculative_config = {
            k.replace("-", "_"): v for k, v in self.speculative_config.items()
        }

class LoadFormat(str, enum.Enum):
    AUTO = "auto"
    DUMMY = "dummy"

class AsyncEngineArgs(EngineArgs):
    @staticmethod
    def add_cli_args(parser, async_args_only: bool = False):
        if not async_args_only:
            parser = EngineArgs.add_cli_args(parser)
        parser.add_argument("--enable-log-requests", action=argparse.BooleanOptionalAction)
        return parser
"""

CLI_ARGS = """
import json
from vllm.config.utils import config
from vllm.engine.arg_utils import AsyncEngineArgs, optional_type
from vllm.renderers.chat_utils import ContentFormat

@config
class BaseFrontendArgs:
    chat_template: str | None = None
    content_format: ContentFormat = "auto"
    lora_modules: list[str] | None = None

    @classmethod
    def _customize_cli_kwargs(cls, frontend_kwargs):
        frontend_kwargs["lora_modules"]["type"] = optional_type(str)
        return frontend_kwargs

    @classmethod
    def add_cli_args(cls, parser):
        from vllm.engine.arg_utils import get_kwargs
        frontend_kwargs = get_kwargs(cls)
        frontend_kwargs = cls._customize_cli_kwargs(frontend_kwargs)
        group = parser.add_argument_group(title=cls.__name__)
        for key, value in frontend_kwargs.items():
            extra = value.pop("flags", [])
            group.add_argument(*extra, f"--{key.replace('_', '-')}", **value)
        return parser

@config
class FrontendArgs(BaseFrontendArgs):
    port: int = 8000
    allowed_origins: list[str] = field(default_factory=lambda: ["*"])
    middleware: list[str] = field(default_factory=list)

    @classmethod
    def _customize_cli_kwargs(cls, frontend_kwargs):
        frontend_kwargs = super()._customize_cli_kwargs(frontend_kwargs)
        frontend_kwargs["allowed_origins"]["type"] = json.loads
        del frontend_kwargs["allowed_origins"]["nargs"]
        frontend_kwargs["middleware"]["action"] = "append"
        del frontend_kwargs["middleware"]["nargs"]
        return frontend_kwargs

def make_arg_parser(parser):
    parser.add_argument("model_tag", type=str, nargs="?")
    parser.add_argument("--headless", action="store_true", default=False)
    parser = FrontendArgs.add_cli_args(parser)
    parser = AsyncEngineArgs.add_cli_args(parser)
    return parser
"""

SERVE = """
from vllm.entrypoints.openai.cli_args import make_arg_parser

class ServeSubcommand(CLISubcommand):
    def subparser_init(self, subparsers):
        serve_parser = subparsers.add_parser("serve")
        serve_parser = make_arg_parser(serve_parser)
        return serve_parser
"""

CONFIG = """
from vllm.config.utils import config
from vllm.config.parallel import ParallelConfig
from vllm.config.speculative import SpeculativeConfig

CacheDType = Literal["auto", "fp8"]
BlockSize = Literal[16, 32]

@config
class ModelConfig:
    model: str = "x"
    max_model_len: int | None = None
    hf_token: bool | str | None = None
    hf_overrides: HfOverrides = field(default_factory=dict)
    quantization: Literal["awq", "fp8"] | str | None = None

    @field_validator("quantization", mode="before")
    @classmethod
    def validate_quantization(cls, value):
        return value.lower() if isinstance(value, str) else value

@config
class CacheConfig:
    dtype: CacheDType = "auto"
    block_size: Optional[BlockSize] = None
    skip_layers: list[str] = field(default_factory=list)
    state_dtype: StateDType | str = "auto"

    @field_validator("state_dtype", mode="after")
    @classmethod
    def _validate_state_dtype(cls, value):
        if not is_known_state_dtype(value):
            raise ValueError(f"Invalid {value!r}")
        return value

StateDType = Literal["auto", "float32"]
STATE_DTYPES: list[str] = list(get_args(StateDType))

def is_known_state_dtype(name):
    return name in STATE_DTYPES

HfOverrides = Union[dict[str, Any], Callable[[Any], Any]]

@config
class VllmConfig:
    speculative_config: SpeculativeConfig | None = None
"""

UTILS = """
def config(cls=None, *, config=None, **kwargs):
    merged = ConfigDict(extra="forbid")
    return dataclass(cls, config=merged)
"""

PARALLEL = """
from vllm.config.utils import config
PASSTHROUGH = "passthrough"

@config
class EPLBConfig:
    window: int = 1000

@config
class ParallelConfig:
    size: int = 1
    backend: Literal["naive", "deepep", "passthrough"] = "naive"
    eplb_config: EPLBConfig = Field(default_factory=EPLBConfig)
"""

SPECULATIVE = """
from vllm.config.utils import config

MTPModelTypes = Literal["deepseek_mtp", "mtp"]
EagleModelTypes = Literal["eagle", "eagle3", MTPModelTypes]
SpeculativeMethod = Literal[
    "ngram", "medusa", "draft_model", "custom_class", EagleModelTypes
]
RejectionSampleMethod = Literal["standard", "block"]

@config
class SpeculativeConfig:
    enforce_eager: bool | None = None
    num_speculative_tokens: int = Field(default=None, gt=0)
    method: SpeculativeMethod | None = None
    tensor_parallel_size: int | None = None
    target_model_config: SkipValidation[ModelConfig] = None
    draft_model_config: SkipValidation[ModelConfig] = None
    max_spec_factor: float = 1.5
    num_speculative_tokens_per_batch_size: list[tuple[int, int, int]] | None = None
    rates: list[float] | None = None
    rejection_sample_method: RejectionSampleMethod = "standard"
    _private: int = 0

    def __post_init__(self):
        if self.tensor_parallel_size is not None:
            raise ValueError("'tensor_parallel_size' is not a valid argument in it")
        if self.method in get_args(MTPModelTypes) and self.method != "mtp":
            logger.warning("method `%s` is deprecated and replaced with mtp.")
"""

LOGGERS = """
class PrometheusStatLogger:
    def __init__(self, vllm_config):
        running = self._gauge_cls(name="vllm:num_requests_running", documentation="")
        if self.show_hidden_metrics:
            old = self._gauge_cls(name="vllm:gpu_cache_usage_perc", documentation="")
        counter = self._counter_cls(name="vllm:prompt_tokens", documentation="")
        ttft = self._histogram_cls(name="vllm:time_to_first_token_seconds")
        logger.warning("vllm:prompt_tokens may be high")

    def specs(self):
        names = [("vllm:spec_decode_num_drafts", "Drafts.")]
        self.counters = [self._counter_cls(name=name) for name, doc in names]
"""

DOCKERFILE = """
FROM ubuntu AS base
ENTRYPOINT ["ignored"]
FROM base AS vllm-openai-base
RUN true
FROM vllm-openai-base AS vllm-sagemaker
ENTRYPOINT ["./sagemaker.sh"]
FROM vllm-openai-base AS vllm-openai
ENTRYPOINT ["vllm", "serve"]
"""

CHAT_UTILS = """
from .template import load_template
from .other import *
from .types import *
"""

VLLM = {
    "PKG-INFO": "Name: vllm\nVersion: 0.99.0\n",
    "docker/Dockerfile": DOCKERFILE,
    "vllm/__init__.py": "",
    "vllm/config/__init__.py": CONFIG,
    "vllm/config/utils.py": UTILS,
    "vllm/config/parallel.py": PARALLEL,
    "vllm/config/speculative.py": SPECULATIVE,
    "vllm/engine/__init__.py": "",
    "vllm/engine/arg_utils.py": ARG_UTILS,
    "vllm/entrypoints/cli/serve.py": SERVE,
    "vllm/entrypoints/openai/cli_args.py": CLI_ARGS,
    "vllm/renderers/chat_utils/__init__.py": CHAT_UTILS,
    "vllm/renderers/chat_utils/types.py": 'ContentFormat = Literal["auto", "string"]',
    "vllm/v1/metrics/loggers.py": LOGGERS,
    "vllm/v1/spec_decode/eagle.py": "",
    "vllm/v1/spec_decode/medusa.py": "",
    "vllm/v1/spec_decode/ngram_proposer.py": "",
}

PLUGIN_DISPATCH = """
def get_spec_decode_method(method, vllm_config, device, runner):
    if method == "ngram":
        return NgramProposer()
    elif method in ("eagle", "eagle3", "mtp"):
        return EagleProposer()
    raise ValueError(f"Unknown speculative decoding method: {method}")
"""

PLUGIN = {
    "PKG-INFO": "Name: vllm-ascend\nVersion: 0.99.0rc1\n",
    "Dockerfile": 'FROM cann\nARG VLLM_TAG=v0.99.0\nCMD ["/bin/bash"]\n',
    "vllm_ascend/__init__.py": "",
    "vllm_ascend/attention/mla_v1.py": "assert self.decode_threshold <= 16, f'too many'",
    "vllm_ascend/spec_decode/__init__.py": PLUGIN_DISPATCH,
}
