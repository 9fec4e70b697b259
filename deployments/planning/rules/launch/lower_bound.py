"""A version given as ``>=0.11.0`` opens a range: the first release that runs the launch counts."""

from collections.abc import Iterator

from deployments.planning.engines.profile import VLLM_ASCEND, profiles_of
from deployments.planning.plan import Severity
from deployments.planning.rules.launch.engine import read_version
from deployments.planning.rules.launch.rule import Hit, LaunchFinding, RuleCard
from deployments.planning.text import text
from deployments.planning.versions import Version, parse_version

MARK = ">="
VLLM = "vllm"
RAISED = RuleCard(
    code="LOWER_BOUND_RAISED",
    category="other",
    severity=Severity.INFO,
    summary=text(
        "The range begins before the first release that runs the launch without an error."
    ),
    fix=text("Name the later release as the lowest."),
    source="the engine profiles of this panel",
)


def lower_bound(written: str | None) -> Version | None:
    """The version behind ``>=``, ``None`` where nobody wrote a range or it cannot be read."""
    if written is None or not written.startswith(MARK):
        return None
    return read_version(written.removeprefix(MARK).strip())


def releases_from(engine: str | None, bound: Version) -> Iterator[str]:
    """Releases of the engine from the bound on, the earliest first; the bound itself leads."""
    yield str(bound)
    name = VLLM_ASCEND if engine == VLLM_ASCEND else VLLM
    known = sorted(profiles_of(name), key=lambda one: parse_version(one.version))
    for profile in known:
        if parse_version(profile.version) > bound:
            yield profile.version


def raised(bound: Version, used: str) -> LaunchFinding:
    """Say which release was judged instead of the lowest one."""
    return RAISED.finding(
        Hit(
            message=text(
                "The range begins at {bound}, but {used} is the first release that runs this launch "
                "without an error; it was judged.",
                bound=str(bound),
                used=used,
            ),
            evidence=used,
        )
    )
