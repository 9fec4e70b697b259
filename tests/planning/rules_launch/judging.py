"""What the tests of launch rules share: commands in short form, and the shipped catalog."""

import functools
import json
from typing import Any

from deployments.planning.rules.launch.known import KnownModels
from deployments.planning.rules.launch.lint import LintReport, lint
from deployments.planning.rules.launch.settings import LintSettings
from tests.planning.builders import all_shipped


@functools.cache
def known() -> KnownModels:
    """The shipped catalog."""
    return KnownModels(all_shipped())


def judged(content: str, version: str | None = None, **more: Any) -> LintReport:
    """Judge an input for vLLM, or what ``engine`` and ``platform`` say."""
    return lint(content, LintSettings(engine_version=version, **more), known())


def on_ascend(content: str, version: str | None = None, **more: str) -> LintReport:
    """Judge an input for vllm-ascend."""
    return judged(content, version, engine="vllm-ascend", **more)


def codes(report: LintReport) -> list[str]:
    """The codes of the findings."""
    return [one.code for one in report.findings]


def serve(flags: str = "", target: str = "MODEL", **config: Any) -> str:
    """A serve command; keywords become the speculative config."""
    words = f"vllm serve {target}"
    if config:
        words += f" --speculative-config '{json.dumps(config)}'"
    return f"{words} {flags}".strip()


def mtp(flags: str = "", target: str = "MODEL", count: int = 3, **more: Any) -> str:
    """A serve command that drafts with MTP."""
    return serve(flags, target, method="mtp", num_speculative_tokens=count, **more)


def eagle3(flags: str = "", target: str = "MODEL", count: int = 3, **more: Any) -> str:
    """A serve command that drafts with an EAGLE-3 head."""
    config = {"model": "org/head-eagle3", **more}
    return serve(flags, target, method="eagle3", num_speculative_tokens=count, **config)


def ngram(flags: str = "", target: str = "MODEL", count: int = 3, **more: Any) -> str:
    """A serve command that drafts by looking back."""
    return serve(flags, target, method="ngram", num_speculative_tokens=count, **more)


def transfer(role: str, connector: str = "NixlConnector", **more: Any) -> str:
    """The flag of a prefill or decode node."""
    value = {"kv_connector": connector, "kv_role": role, **more}
    return f"--kv-transfer-config '{json.dumps(value)}'"


def graphs(mode: str = "FULL_DECODE_ONLY", **more: Any) -> str:
    """A compilation config."""
    return f"--compilation-config '{json.dumps({'cudagraph_mode': mode, **more})}'"


def extra(**values: Any) -> str:
    """An additional config, as Ascend takes it."""
    return f"--additional-config '{json.dumps(values)}'"
