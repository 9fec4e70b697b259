"""The arguments of ``vllm bench serve``, by version.

Read from the source archives of vLLM 0.8.5, 0.9.0 to 0.9.2, 0.10.0 to 0.10.2, 0.11.0 to 0.11.2, 0.12.0,
0.13.0, 0.14.0, 0.16.0 to 0.18.0, 0.20.0, 0.25.0, 0.30.0 and 0.33.0 (``vllm/benchmarks/serve.py`` and
``datasets``): a release between two that agree is taken to agree with them.
"""

import json
from dataclasses import dataclass

from deployments.planning.bench.course import Course, Segment
from deployments.planning.bench.datasets import USUAL_OUTPUT_TOKENS, Dataset
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Plan, Role
from deployments.planning.text import Text, text
from deployments.planning.versions import Version, parse_version

SINCE_OWN_PROMPTS = Version((0, 9, 2))
"""0.9.1 and before have no dataset ``custom`` in ``vllm bench serve``."""
SINCE_BACKEND = Version((0, 11, 0))
"""Until 0.10.2 the API is chosen by ``--endpoint-type``; 0.11.0 deprecates that name."""
SINCE_WARM_UPS = Version((0, 11, 1))
"""Also renames ``--custom-skip-chat-template`` to ``--skip-chat-template``, and adds ``--extra-body``."""
SINCE_OWN_LENGTHS = Version((0, 14, 0))
"""From here ``--custom-output-len -1`` takes the length of each answer from its line."""
SINCE_SPECULATION = Version((0, 14, 0))
"""From here the result tells acceptance, from ``/metrics`` before and after."""

PROMPTS_PATH = "/tmp/draftboard-prompts.jsonl"  # noqa: S108 -- in the container
RESULT_FOLDER = "/tmp"  # noqa: S108 -- in the container
RESULT_NAME = "draftboard-result.json"
RANDOM_INPUT_TOKENS = 512
SALT_FIELD = "cache_salt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """The service that is measured: where it answers, by which name, and where its tokenizer lies."""

    base_url: str
    name: str
    tokenizer: str
    version: str


def bench_arguments(
    served: Served, course: Course, segment: Segment, *, salt: str = ""
) -> tuple[str, ...]:
    """The arguments of one run, from ``bench`` on.

    Temperature 0, since the default stopped being greedy in 0.16.0 and acceptance depends on it.
    ``salt`` goes into the hashes of the prefix cache (``cache_salt``, a field of the request since
    0.9.0), so that a run with one of its own finds nothing there of the runs before it.

    Raises:
        PlanningError: this version cannot send such prompts.
    """
    version = parse_version(served.version)
    words = ["bench", "serve", "--base-url", served.base_url]
    words += [
        "--backend" if version >= SINCE_BACKEND else "--endpoint-type",
        "openai-chat",
        *("--endpoint", "/v1/chat/completions"),
        *("--model", served.name, "--tokenizer", served.tokenizer),
    ]
    words += _dataset(course, version)
    words += [
        *("--num-prompts", str(segment.prompts)),
        *("--max-concurrency", str(segment.concurrency)),
        *("--request-rate", "inf", "--seed", str(segment.seed), "--temperature", "0"),
    ]
    if version >= SINCE_WARM_UPS:
        words += ["--num-warmups", str(segment.warm_ups)]
        if salt:
            words += ["--extra-body", json.dumps({SALT_FIELD: salt})]
    return (
        *words,
        *("--percentile-metrics", "ttft,tpot,itl,e2el"),
        *("--metric-percentiles", "50,90,99", "--disable-tqdm"),
        *("--save-result", "--result-dir", RESULT_FOLDER),
        *("--result-filename", RESULT_NAME),
    )


def starts_cold(version: str) -> bool:
    """Whether a run by this version can be kept from finding earlier ones in the prefix cache."""
    return parse_version(version) >= SINCE_WARM_UPS


def untold(version: str) -> tuple[Text, ...]:
    """What a run by this version of vLLM leaves open, a sentence each."""
    known = parse_version(version)
    told: list[Text] = []
    if known < SINCE_WARM_UPS:
        told.append(
            text(
                "vLLM {version} has no warm-up: the first answers of each run meet a cold server.",
                version=version,
            )
        )
        told.append(
            text(
                "vLLM {version} cannot keep its runs apart in the prefix cache: from the second repeat on, "
                "prompts are found there, with speculation and without alike.",
                version=version,
            )
        )
    if known < SINCE_SPECULATION:
        told.append(
            text(
                "vLLM {version} does not tell acceptance in the result: it is read from the service itself.",
                version=version,
            )
        )
    return tuple(told)


def _dataset(course: Course, version: Version) -> list[str]:
    if course.dataset is Dataset.RANDOM:
        return [
            *("--dataset-name", "random"),
            *("--random-input-len", str(RANDOM_INPUT_TOKENS)),
            *("--random-output-len", str(USUAL_OUTPUT_TOKENS)),
        ]
    if version < SINCE_OWN_PROMPTS:
        raise PlanningError(
            text(
                "vLLM {version} cannot be sent prompts of a file by its own benchmark: that begins with "
                "{since}. Measure with a newer image.",
                version=str(version),
                since=str(SINCE_OWN_PROMPTS),
            )
        )
    if course.dataset is Dataset.SHAREGPT:
        return [
            *("--dataset-name", "sharegpt"),
            *("--dataset-path", course.sharegpt_path or ""),
        ]
    own_lengths = version >= SINCE_OWN_LENGTHS
    return [
        *("--dataset-name", "custom", "--dataset-path", PROMPTS_PATH),
        *(
            "--custom-output-len",
            "-1" if own_lengths else str(USUAL_OUTPUT_TOKENS),
        ),
        # The chat endpoint applies the template itself.
        "--skip-chat-template"
        if version >= SINCE_WARM_UPS
        else "--custom-skip-chat-template",
    ]


def part_measured(plan: Plan) -> tuple[Text, ...]:
    """What a benchmark of a plan leaves out: engines that answer beside the first, each for itself."""
    roles = [one.role for one in plan.replicas if one.health_port is not None]
    if Role.ROUTER in roles or roles.count(Role.COMBINED) < 2:
        return ()
    return (
        text(
            "{count} replicas answer, each for itself: the first one, on {host}, is measured.",
            count=roles.count(Role.COMBINED),
            host=next(one.host for one in plan.replicas if one.role is Role.COMBINED),
        ),
    )
