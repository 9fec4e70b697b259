"""What can be seen afterwards: metrics switched off, logs sent away, memory left, benchmarks."""

import re
from collections.abc import Iterator

from deployments.planning.importing.launch import ATOM, SGLANG, Launch
from deployments.planning.importing.other_servers import SGLANG_PARTS
from deployments.planning.importing.programs import BENCHMARK, MISSING_MODULE
from deployments.planning.importing.reader import ImportedInput
from deployments.planning.plan import Severity
from deployments.planning.rules.launch.rule import (
    Edit,
    Hit,
    LaunchRule,
    RuleCard,
    drop_flag,
    replace_text,
    set_flag,
)
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import listed, text

MEMORY = "--gpu-memory-utilization"
TIGHT = 0.96
LOWEST_PERCENT = 10


@RuleCard(
    code="METRICS_OFF",
    category="no-metrics",
    severity=Severity.WARNING,
    summary=text("--disable-log-stats switches the acceptance lines and counters off."),
    fix=text("Leave --disable-log-stats out."),
    source="vllm#7301; vLLM sources, 0.8.5 to 0.33.0",
)
def metrics(view: LaunchView) -> Iterator[Hit]:
    """Fires on the switch; worth knowing without drafting."""
    if view.launch.has("--disable-log-stats"):
        yield Hit(
            message=text("Statistics are off, so nobody can see what is accepted."),
            severity=Severity.WARNING if view.speculation else Severity.INFO,
            evidence="--disable-log-stats",
            start=view.place("--disable-log-stats"),
            edits=(drop_flag("--disable-log-stats"),),
        )


@RuleCard(
    code="LOG_SENT_TO_FILE",
    category="no-metrics",
    severity=Severity.WARNING,
    summary=text("The log goes to a file, so the container's own log stays empty."),
    fix=text("Leave the redirection out, or add tee."),
    source="Docker documentation, logs",
)
def redirected(view: LaunchView) -> Iterator[Hit]:
    """Fires on a redirection in a container; worth knowing on a bare host."""
    if view.launch.redirected is None:
        return
    container = view.launch.container
    yield Hit(
        message=text("The log goes to {file}.", file=view.launch.redirected[:120]),
        severity=Severity.WARNING
        if container is not None and container.image
        else Severity.INFO,
        evidence=view.launch.redirected[:120],
        start=view.launch.start,
    )


@RuleCard(
    code="MEMORY_SHARE_ODD",
    category="memory",
    severity=Severity.ERROR,
    summary=text("gpu_memory_utilization is a fraction above 0 and up to 1."),
    fix=text("Write a fraction such as 0.9."),
    source="vLLM sources, CacheConfig",
)
def memory(view: LaunchView) -> Iterator[Hit]:
    """Fires on values outside the range; a warning when nothing is left for drafter and graphs."""
    value = view.launch.value(MEMORY)
    if value is None or len(value) > 12:
        return
    try:
        share = float(value)
    except ValueError:
        return
    if not 0 < share <= 1:
        yield Hit(
            message=text(
                "gpu_memory_utilization is {value}; it is a fraction above 0 and up to 1.",
                value=value,
            ),
            evidence=value,
            start=view.place(MEMORY),
            edits=_as_percent(share),
        )
    elif (
        share >= TIGHT
        and view.speculation is not None
        and view.method not in ("ngram", "suffix", "ngram_gpu")
    ):
        yield Hit(
            message=text(
                "gpu_memory_utilization {value} leaves little room for the drafter and its graphs.",
                value=value,
            ),
            fix=text("Use 0.90 to 0.95."),
            severity=Severity.WARNING,
            evidence=value,
            start=view.place(MEMORY),
        )


@RuleCard(
    code="OTHER_SERVER",
    category="other",
    severity=Severity.INFO,
    summary=text("The command starts another server than vLLM; few rules are for it."),
    fix=text("Judge its flags by its own documentation."),
    source="this panel",
)
def other_server(view: LaunchView) -> Iterator[Hit]:
    """Fires on SGLang, ATOM and others."""
    if not view.launch.is_vllm:
        yield Hit(
            message=text(
                "This starts {program}, not vLLM.", program=view.launch.program
            ),
            evidence=view.launch.program,
            start=view.launch.start,
        )


@RuleCard(
    code="SGLANG_PARTS_MISSING",
    category="control-panel",
    severity=Severity.ERROR,
    summary=text(
        "SGLang wants --speculative-num-steps, --speculative-eagle-topk and --speculative-num-draft-tokens together or not at all."
    ),
    fix=text("Set all three, or none."),
    source="gpustack#3392",
)
def sglang(view: LaunchView) -> Iterator[Hit]:
    """Fires on one or two of the three."""
    if view.launch.program != SGLANG:
        return
    missing = [name for name in SGLANG_PARTS if view.launch.flag(name) is None]
    if missing and len(missing) < len(SGLANG_PARTS):
        yield Hit(
            message=text(
                "{missing} is missing beside the others.", missing=listed(missing)
            ),
            evidence=", ".join(missing),
            start=view.launch.start,
        )


@RuleCard(
    code="OTHER_SERVER_COUNT_MISSING",
    category="k-limit",
    severity=Severity.WARNING,
    summary=text("A method is given without a number of tokens."),
    fix=text("Write the number."),
    source="ROCm/ATOM#604",
)
def atom(view: LaunchView) -> Iterator[Hit]:
    """Fires on ATOM with a method and no count."""
    if view.launch.program == ATOM and view.method is not None and view.count is None:
        yield Hit(
            message=text("A method is given without num_speculative_tokens."),
            evidence=view.method,
            start=view.launch.start,
        )


@RuleCard(
    code="IMAGE_BROKEN",
    category="broken-image",
    severity=Severity.INFO,
    summary=text(
        "The output shows packages of different versions in one image; the command is not the cause."
    ),
    fix=text("Build the image anew from the official one."),
    source="vllm#8416",
)
def broken_image(view: LaunchView) -> Iterator[Hit]:
    """Fires on an error that only mixed packages give."""
    if view.shows(r"Worker\.__init__\(\) got an unexpected keyword argument"):
        yield Hit(
            message=text(
                "A worker refuses an argument of its own engine: the packages in the image do not belong together."
            ),
            evidence="Worker.__init__()",
            start=view.launch.start,
        )


OBSERVATION_RULES: tuple[LaunchRule, ...] = (
    metrics,
    redirected,
    memory,
    other_server,
    sglang,
    atom,
    broken_image,
)


BENCHMARK_MODULE = RuleCard(
    code="BENCHMARK_MODULE_MISSING",
    category="other",
    severity=Severity.ERROR,
    summary=text(
        "python -m vllm.benchmarks.benchmark_serving starts nothing: the module never existed."
    ),
    fix=text("Use vllm bench serve."),
    source="vLLM sources, 0.6.6 to 0.33.0",
)
DATASET_FILE = RuleCard(
    code="DATASET_FILE_MISSING",
    category="other",
    severity=Severity.ERROR,
    summary=text("The benchmark's data set is a file, and none is named."),
    fix=text("Add --dataset-path, or use --dataset-name random."),
    source="vLLM sources: dataset_path must be provided for loading data",
)
BENCHMARK_CARDS = (BENCHMARK_MODULE, DATASET_FILE)


def benchmark_hits(
    source: ImportedInput, launch: Launch
) -> Iterator[tuple[RuleCard, Hit]]:
    """Yield card and hit for a benchmark command of the input."""
    if launch.program == MISSING_MODULE:
        yield (
            BENCHMARK_MODULE,
            Hit(
                message=text(
                    "No release of vLLM has the module {module}.", module=MISSING_MODULE
                ),
                evidence=MISSING_MODULE,
                start=launch.start,
                edits=_as_command(source, launch),
            ),
        )
    dataset = launch.value("--dataset-name")
    needs_file = dataset in ("sharegpt", "spec_bench", "custom", "sonnet", "burstgpt")
    if needs_file and launch.flag("--dataset-path") is None:
        yield (
            DATASET_FILE,
            Hit(
                message=text(
                    "The data set {name} wants a file, and --dataset-path names none.",
                    name=dataset or "",
                ),
                evidence=dataset or "",
                start=launch.start,
            ),
        )


def _as_percent(share: float) -> tuple[Edit, ...]:
    """The fraction, where somebody wrote per cent; 1.3 may mean anything."""
    if LOWEST_PERCENT <= share <= 100:
        return (set_flag(MEMORY, f"{share / 100:g}"),)
    return ()


def _as_command(source: ImportedInput, launch: Launch) -> tuple[Edit, ...]:
    first = launch.words[0]
    if not first.has_place:
        return ()
    python = re.search(r"python[\d.]*\s+-m\s+$", source.text[: first.start][-64:])
    start = first.start - len(python[0]) if python else first.start
    return (replace_text(start, first.end, BENCHMARK),)
