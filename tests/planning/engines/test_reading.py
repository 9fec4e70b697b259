"""The static reader on a miniature vLLM: flags, keys, methods, metrics, image, plugin."""

import sys

import pytest

from deployments.planning.engines.accepted import (
    Flag,
    Metric,
    MetricKind,
    SpeculativeKey,
    Spelling,
    UnknownKeys,
    ValueKind,
)
from deployments.planning.engines.definition import EngineProfile
from deployments.planning.engines.reading.reader import read_profile, released
from deployments.planning.errors import PlanningError
from deployments.planning.methods import Method
from tests.planning.engines.sources import PLUGIN, VLLM


@pytest.fixture(scope="module")
def profile() -> EngineProfile:
    return read_profile(VLLM, source="miniature")


@pytest.mark.parametrize(
    "flag",
    [
        Flag(name="--model"),
        Flag(name="--max-model-len", kind=ValueKind.SIZE),
        Flag(name="--hf-token", optional=True),
        Flag(name="--hf-overrides", kind=ValueKind.TEXT_OR_JSON),
        Flag(name="--quantization", aliases=("-q",)),
        Flag(name="--all2all-backend", choices=("deepep", "naive")),
        Flag(name="--tensor-parallel-size", kind=ValueKind.INTEGER, aliases=("-tp",)),
        Flag(name="--eplb-config", kind=ValueKind.JSON),
        Flag(name="--device-ids"),
        Flag(name="--kv-cache-dtype", choices=("auto", "fp8")),
        Flag(name="--block-size", kind=ValueKind.INTEGER, choices=("16", "32", "None")),
        Flag(name="--kv-skip-layers", many=True),
        Flag(name="--state-dtype", choices=("auto", "float32")),
        Flag(name="--content-format", choices=("auto", "string")),
        Flag(name="--speculative-config", kind=ValueKind.JSON, aliases=("-sc",)),
        Flag(name="--seed", kind=ValueKind.INTEGER),
        Flag(name="--load-format", choices=("auto", "dummy")),
        Flag(name="--reasoning-parser"),
        Flag(name="--enable-log-requests", kind=ValueKind.BOOLEAN),
        Flag(name="--headless", kind=ValueKind.SWITCH),
        Flag(name="--chat-template"),
        Flag(name="--lora-modules", many=True),
        Flag(name="--port", kind=ValueKind.INTEGER),
        Flag(name="--allowed-origins", kind=ValueKind.JSON),
        Flag(name="--middleware", many=True),
    ],
    ids=lambda flag: flag.name,
)
def test_flag_is_read_as_the_parser_would_take_it(
    profile: EngineProfile, flag: Flag
) -> None:
    assert profile.flag(flag.name) == flag


def test_no_other_flag_is_read(profile: EngineProfile) -> None:
    assert len(profile.arguments) == 25


@pytest.mark.parametrize(
    "key",
    [
        SpeculativeKey(name="enforce_eager", kind=ValueKind.BOOLEAN),
        SpeculativeKey(name="num_speculative_tokens", kind=ValueKind.INTEGER),
        SpeculativeKey(name="method"),
        SpeculativeKey(name="max_spec_factor", kind=ValueKind.NUMBER, default="1.5"),
        SpeculativeKey(
            name="num_speculative_tokens_per_batch_size", kind=ValueKind.JSON, many=True
        ),
        SpeculativeKey(name="rates", kind=ValueKind.NUMBER, many=True),
        SpeculativeKey(
            name="rejection_sample_method",
            choices=("block", "standard"),
            default='"standard"',
        ),
    ],
    ids=lambda key: key.name,
)
def test_key_is_read_with_kind_and_default(
    profile: EngineProfile, key: SpeculativeKey
) -> None:
    assert profile.key(key.name) == key


@pytest.mark.parametrize(
    "name",
    ["tensor_parallel_size", "target_model_config", "draft_model_config", "_private"],
)
def test_field_that_nobody_may_set_is_no_key(profile: EngineProfile, name: str) -> None:
    assert not profile.knows_key(name)


@pytest.mark.parametrize(
    "spelling",
    [
        Spelling(name="mtp", method=Method.MTP),
        Spelling(name="deepseek_mtp", method=Method.MTP, deprecated=True),
        Spelling(name="eagle3", method=Method.EAGLE3),
        Spelling(name="draft_model", method=Method.DRAFT_MODEL, runs=False),
        Spelling(name="custom_class", method=None),
    ],
    ids=lambda spelling: spelling.name,
)
def test_method_is_read_with_whether_it_runs(
    profile: EngineProfile, spelling: Spelling
) -> None:
    assert profile.spelling(spelling.name) == spelling


@pytest.mark.parametrize(
    "metric",
    [
        Metric(name="vllm:num_requests_running", kind=MetricKind.GAUGE),
        Metric(name="vllm:gpu_cache_usage_perc", kind=MetricKind.GAUGE, hidden=True),
        Metric(name="vllm:prompt_tokens_total", kind=MetricKind.COUNTER),
        Metric(name="vllm:spec_decode_num_drafts_total", kind=MetricKind.COUNTER),
        Metric(name="vllm:time_to_first_token_seconds", kind=MetricKind.HISTOGRAM),
    ],
    ids=lambda metric: metric.name,
)
def test_metric_is_read_as_it_is_exposed(
    profile: EngineProfile, metric: Metric
) -> None:
    assert metric in profile.metrics


def test_words_in_a_sentence_are_no_metric(profile: EngineProfile) -> None:
    assert len(profile.metrics) == 5


def test_version_entrypoint_and_config_behaviour(profile: EngineProfile) -> None:
    assert profile.name == "vllm==0.99.0"
    assert profile.entrypoint == ("vllm", "serve")
    assert profile.unknown_keys is UnknownKeys.ERROR
    assert profile.dashed_keys


@pytest.mark.parametrize(
    ("head", "behaviour"),
    [
        ("from dataclasses import dataclass", UnknownKeys.ERROR),
        ("from pydantic.dataclasses import dataclass", UnknownKeys.IGNORED),
    ],
)
def test_kind_of_dataclass_decides_on_unknown_keys(
    head: str, behaviour: UnknownKeys
) -> None:
    old = VLLM["vllm/config/speculative.py"].replace(
        "from vllm.config.utils import config", head
    )
    files = {
        **VLLM,
        "vllm/config/speculative.py": old.replace("@config", "@dataclass"),
    }
    assert read_profile(files, source="old").unknown_keys is behaviour


def test_old_core_drafts_with_every_method_of_its_list() -> None:
    files = {**VLLM, "vllm/spec_decode/spec_decode_worker.py": ""}
    assert Method.DRAFT_MODEL in read_profile(files, source="old").methods


def test_plugin_takes_flags_from_the_vllm_underneath(profile: EngineProfile) -> None:
    plugin = read_profile(PLUGIN, source="plugin", base=lambda _version: profile)
    assert (plugin.name, plugin.vllm_version) == ("vllm-ascend==0.99.0rc1", "0.99.0")
    assert plugin.flags == profile.flags
    assert plugin.methods == (Method.MTP, Method.EAGLE3, Method.EAGLE, Method.NGRAM)
    assert plugin.max_tokens_per_step == 16
    assert plugin.entrypoint == ()


def test_image_with_plugin_and_vllm_needs_no_other_profile() -> None:
    files = {
        **VLLM,
        **{path: text for path, text in PLUGIN.items() if path.startswith("vllm_")},
        "vllm-0.dist-info/METADATA": "Version: 0.99.1+empty",
        "vllm_ascend-0.dist-info/METADATA": "Version: 0.99.0rc2.dev3+g1",
    }
    del files["PKG-INFO"]
    plugin = read_profile(files, source="image")
    assert (plugin.version, plugin.vllm_version) == ("0.99.0rc2", "0.99.1")


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"PKG-INFO": "Version: 1.0"}, "hold no SpeculativeConfig"),
        ({**VLLM, "PKG-INFO": ""}, "give it with --engine-version"),
        ({**VLLM, "vllm/entrypoints/cli/serve.py": ""}, "hold no command line"),
        ({**PLUGIN, "Dockerfile": ""}, "is not named in its sources"),
        ({**VLLM, "vllm/config/speculative.py": "class ("}, "hold no Speculative"),
    ],
)
def test_sources_that_cannot_be_read_are_one_sentence(
    files: dict[str, str], sentence: str
) -> None:
    with pytest.raises(PlanningError, match=sentence):
        read_profile(files, source="broken")


def test_nothing_of_the_engine_is_imported_or_run() -> None:
    trap = {**VLLM, "vllm/config/utils.py": f"{VLLM['vllm/config/utils.py']}\n1/0\n"}
    read_profile(trap, source="trap")
    assert "vllm" not in sys.modules


@pytest.mark.parametrize(
    ("version", "release"),
    [
        ("0.32.0", "0.32.0"),
        ("0.32.0+cpu", "0.32.0"),
        ("0.23.1rc1.dev12+g0123", "0.23.1rc1"),
        ("0.8.5.post1", "0.8.5.post1"),
    ],
)
def test_release_that_a_version_is_built_from(version: str, release: str) -> None:
    assert released(version) == release


OLD_COMMAND = """
import argparse, json
from vllm.config import PoolerConfig, get_args
from vllm.engine.arg_utils import EngineArgs, optional_type

METHODS = ["awq", "fp8"]
TaskOption = Literal["auto", "generate"]

class Action(argparse.Action):
    def __call__(self, parser, namespace, values): ...

def add_more(parser):
    parser.add_argument("--task", choices=get_args(TaskOption))
    parser.add_argument("--quantization", "-q", choices=[*METHODS, None])
    parser.add_argument("-O", "--compilation", type=PoolerConfig.from_cli)
    return parser

def not_called(parser):
    parser.add_argument("--never")

class ServeSubcommand:
    def subparser_init(self, subparsers):
        serve_parser = subparsers.add_parser("serve")
        try:
            serve_parser.add_argument("--host", type=optional_type(str))
        finally:
            pass
        with quiet():
            serve_parser.add_argument("--origins", type=json.loads)
        for name in ("ssl-keyfile", "ssl-certfile"):
            serve_parser.add_argument(f"--{name}", action=Action)
        for name in unknown():
            serve_parser.add_argument(f"--{name}")
        serve_parser.add_argument(unknown())
        if len(METHODS) > 1:
            serve_parser.add_argument("--either")
        else:
            serve_parser.add_argument("--or", action="store_true")
        count: int = 2
        serve_parser.add_argument("--pair", nargs=count, type=float)
        return add_more(serve_parser)
        serve_parser.add_argument("--unreachable")
"""


def test_command_line_written_by_hand_is_read_too() -> None:
    config = VLLM["vllm/config/__init__.py"]
    pooler = "\nclass PoolerConfig:\n    @staticmethod\n    def from_cli(text): ...\n"
    files = {
        **VLLM,
        "vllm/config/__init__.py": config + pooler,
        "vllm/entrypoints/cli/serve.py": OLD_COMMAND,
    }
    profile = read_profile(files, source="old")
    assert profile.arguments == (
        Flag(name="--compilation", kind=ValueKind.JSON, aliases=("-O",)),
        Flag(name="--either"),
        Flag(name="--host"),
        Flag(name="--or", kind=ValueKind.SWITCH),
        Flag(name="--origins", kind=ValueKind.JSON),
        Flag(name="--pair", kind=ValueKind.NUMBER, many=True),
        Flag(name="--quantization", aliases=("-q",), choices=("None", "awq", "fp8")),
        Flag(name="--ssl-certfile"),
        Flag(name="--ssl-keyfile"),
        Flag(name="--task", choices=("auto", "generate")),
    )
