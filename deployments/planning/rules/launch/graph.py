"""Graph capture: sizes that fit k+1, cover the batch and lie on the grid; builds with defects."""

from collections.abc import Iterator

from deployments.planning.canonical import Json
from deployments.planning.importing.launch import whole_number
from deployments.planning.plan import Severity
from deployments.planning.rules.capture import default_grid, not_multiples
from deployments.planning.rules.launch.rule import (
    Edit,
    Hit,
    LaunchRule,
    RuleCard,
    set_flag,
)
from deployments.planning.rules.launch.view import FULL_MODES, LaunchView
from deployments.planning.text import listed, text

SIZES = "cudagraph_capture_sizes"
LARGEST = "max_cudagraph_capture_size"
SIZES_FLAG = "--cudagraph-capture-sizes"
LARGEST_FLAG = "--max-cudagraph-capture-size"
DEFAULT_LIMIT = 512
CAPTURE = "vLLM 0.32.0 and vllm-ascend v0.23.0, graph capture"


def given_sizes(view: LaunchView) -> tuple[int, ...]:
    """Return the capture sizes that the launch names, in tokens; () when the engine chooses."""
    direct = view.launch.value(SIZES_FLAG)
    if direct:
        words = direct.replace(",", " ").replace("[", " ").replace("]", " ").split()
        return tuple(size for size in map(whole_number, words) if size)
    named = view.compilation.get(SIZES) or view.compilation.get("capture_sizes")
    return _whole(named)


def _whole(value: Json) -> tuple[int, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(one for one in value if isinstance(one, int) and one > 0)


def given_limit(view: LaunchView) -> int | None:
    """Return the largest capture size that the launch names as a number."""
    flag = view.launch.number(LARGEST_FLAG)
    inside = view.compilation.get(LARGEST)
    return flag or (inside if isinstance(inside, int) and inside > 0 else None)


def captures(view: LaunchView) -> bool:
    """Whether decode batches run as graphs: not eager, and not a prefill node."""
    return (
        view.launch.is_vllm
        and not view.eager
        and view.role != "prefill"
        and not view.engine.old
    )


@RuleCard(
    code="CAPTURE_SIZES_NOT_MULTIPLES",
    category="cudagraph",
    severity=Severity.WARNING,
    summary=text(
        "With drafting, a request takes k+1 tokens a step; capture sizes that are no multiples are rounded or dropped."
    ),
    fix=text(
        "Use multiples of num_speculative_tokens + 1 up to max_num_seqs times that."
    ),
    source=f"{CAPTURE}; vllm-ascend#6524",
)
def multiples(view: LaunchView) -> Iterator[Hit]:
    """Fires on sizes that are no multiples; an error when none is."""
    step, sizes = view.launch.tokens_per_request, given_sizes(view)
    if step < 2 or not sizes or not captures(view):
        return
    wrong = not_multiples(sizes, step)
    if not wrong or view.graph_mode == "PIECEWISE":
        return
    needed = view.launch.decode_tokens_per_step
    none_left = len(wrong) == len(sizes) and max(sizes) < step
    yield Hit(
        message=text(
            "Capture sizes count tokens, {step} for each request here; {wrong} are no multiples of {step}.",
            step=step,
            wrong=listed(map(str, wrong[:8])),
        ),
        severity=Severity.ERROR if none_left else Severity.WARNING,
        evidence=", ".join(map(str, sizes[:16])),
        start=view.place("--compilation-config"),
        edits=_sized(view, step, needed),
    )


def _sized(view: LaunchView, step: int, needed: int | None) -> tuple[Edit, ...]:
    if (
        view.launch.flag("--compilation-config") is None
        or needed is None
        or needed > 2048
    ):
        return ()
    count = needed // step
    chosen = sorted({*(1 << power for power in range(count.bit_length())), count})
    return (
        Edit(
            kind=set_flag("", None).kind,
            name=f"--compilation-config.{SIZES}",
            value=[one * step for one in chosen if one <= count],
        ),
    )


@RuleCard(
    code="CAPTURE_COVERAGE_SHORT",
    category="cudagraph",
    severity=Severity.WARNING,
    summary=text(
        "A full decode batch needs max_num_seqs x (k+1) tokens, but graphs are captured for fewer: large batches run without a graph, several times slower."
    ),
    fix=text(
        "Raise max_cudagraph_capture_size to max_num_seqs x (k+1), or lower max_num_seqs."
    ),
    source=f"{CAPTURE}; vllm-ascend#14440, #8392; tonyd2wild DSpark PR#5",
)
def coverage(view: LaunchView) -> Iterator[Hit]:
    """Fires where the largest graph is smaller than the decode batch."""
    needed = view.launch.decode_tokens_per_step
    if needed is None or not captures(view) or view.graph_mode == "PIECEWISE":
        return
    sizes, limit = given_sizes(view), given_limit(view)
    if view.launch.tokens_per_request < 2 and not sizes and limit is None:
        return
    largest = max(sizes) if sizes else limit or DEFAULT_LIMIT
    if sizes and limit is not None:
        largest = min(largest, limit)
    if needed <= largest:
        return
    step = view.launch.tokens_per_request
    yield Hit(
        message=text(
            "A full decode batch is {batch} requests x {step} tokens = {needed}, but graphs are captured up to {largest} tokens.",
            batch=needed // step,
            step=step,
            needed=needed,
            largest=largest,
        ),
        fix=text(
            "Set {flag} {needed}, or serve at most {batch} requests at once.",
            flag=LARGEST_FLAG,
            needed=needed,
            batch=max(1, largest // step),
        ),
        evidence=str(needed),
        start=view.place(LARGEST_FLAG if limit else "--max-num-seqs"),
        edits=_raised(view, needed) if not sizes else (),
    )


def _raised(view: LaunchView, needed: int) -> tuple[Edit, ...]:
    if view.launch.flag(LARGEST_FLAG) is None and LARGEST in view.compilation:
        return (set_flag(f"--compilation-config.{LARGEST}", needed),)
    return (set_flag(LARGEST_FLAG, needed),)


@RuleCard(
    code="CAPTURE_OFF_GRID",
    category="cudagraph",
    severity=Severity.WARNING,
    summary=text(
        "The engine captures 1, 2, 4 and multiples of 8; a largest batch between two of these is cut to the one below."
    ),
    fix=text(
        "Name the capture sizes in a list that holds max_num_seqs x (k+1), or choose a batch on the grid."
    ),
    source="vllm#37865; vllm-ascend#16049, PR #16623",
)
def off_grid(view: LaunchView) -> Iterator[Hit]:
    """Fires on a batch that is no capture size and has no list; on Ascend also without a limit."""
    needed, limit = view.launch.decode_tokens_per_step, given_limit(view)
    if needed is None or given_sizes(view) or not captures(view):
        return
    if limit is None and (not view.ascend or view.graph_mode not in FULL_MODES):
        return
    if needed > (limit or DEFAULT_LIMIT) or needed in default_grid(needed):
        return
    if limit is not None and limit > needed and default_grid(limit)[-1] > needed:
        return
    below = default_grid(needed)[-1]
    yield Hit(
        message=text(
            "A full decode batch has {needed} tokens, which is no capture size: the largest graph holds {below}.",
            needed=needed,
            below=below,
        ),
        severity=Severity.WARNING,
        evidence=str(needed),
        start=view.place(LARGEST_FLAG if limit else "--max-num-seqs"),
        edits=_sized(view, view.launch.tokens_per_request, needed),
    )


GRAPH_RULES: tuple[LaunchRule, ...] = (
    multiples,
    coverage,
    off_grid,
)
