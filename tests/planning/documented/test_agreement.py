"""The panel's own plans agree with the documented launches, and each difference has a reason."""

import pytest

from deployments.planning.errors import PlanningError
from deployments.planning.plan import Role
from tests.planning.builders import a3, combined, flags, plan
from tests.planning.documented.agreement import (
    ENGINE,
    compared,
    plan_of,
    situations,
)
from tests.planning.documented.reasons import REASONS, differences, reason_for
from tests.planning.documented.write_differences import FILE, agreement, page

WANTED_SHARE = 0.90


def test_every_situation_is_planned() -> None:
    unknown = [one.launch.place for one in situations() if not one.known]
    assert unknown == []
    assert len({one.situation.launch.place for one in compared()}) == len(situations())


def test_plans_agree_on_nine_of_ten_documented_flags() -> None:
    agreeing, documented = agreement()
    assert documented > 1000
    assert agreeing / documented >= WANTED_SHARE


def test_every_difference_has_a_reason() -> None:
    unexplained = [
        (one.situation.launch.place, one.flag, one.documented, one.planned)
        for one in differences()
        if reason_for(one) is None
    ]
    assert unexplained == []


def test_every_reason_explains_something() -> None:
    used = {reason.title for one in differences() if (reason := reason_for(one))}
    assert [one.title for one in REASONS if one.title not in used] == []


def test_the_page_is_not_stale() -> None:
    assert FILE.read_text(encoding="utf-8") == page()


def test_prefill_of_a_documented_pair_has_its_own_settings() -> None:
    glm = next(one for one in situations() if one.launch.place == "GLM5.2.md:461")
    made = plan_of(glm)
    roles = {one.role for one in made.replicas}
    assert {Role.PREFILL, Role.DECODE} <= roles
    assert "--enforce-eager" in flags(made, 0)


def test_features_are_switches_with_the_catalogs_values() -> None:
    on = flags(plan(combined("zai-org/GLM-5.2", "a3-1", engine=ENGINE), a3("a3-1")))
    assert (on["--tool-call-parser"], on["--reasoning-parser"]) == ("glm47", "glm45")
    off = combined(
        "zai-org/GLM-5.2",
        "a3-1",
        engine=ENGINE,
        features=(("tool_calling", False), ("reasoning", False)),
    )
    left = flags(plan(off, a3("a3-1")))
    assert not {"--tool-call-parser", "--enable-auto-tool-choice"} & set(left)
    assert "--reasoning-parser" not in left
    assert "--trust-remote-code" in left


def test_a_feature_that_the_model_lacks_is_refused_by_name() -> None:
    spec = combined("zai-org/GLM-5.2", "a3-1", features=(("flying", True),))
    with pytest.raises(PlanningError, match=r"no feature 'flying'.*reasoning"):
        plan(spec, a3("a3-1"))


def test_a_million_tokens_have_their_own_settings() -> None:
    made = next(one for one in situations() if one.launch.place == "GLM5.2.md:1301")
    assert '"enable_npugraph_ex":true' in str(
        flags(plan_of(made))["--additional-config"]
    )
