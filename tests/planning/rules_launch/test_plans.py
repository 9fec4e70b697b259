"""What the planner renders passes its own judge, for the golden plans and for every model."""

import pytest

from deployments.planning.errors import PlanningError
from deployments.planning.importing.reader import read_launches
from deployments.planning.launch.files import launch_files
from deployments.planning.plan import Plan, Role, Severity
from tests.planning.builders import a3, all_shipped, combined, gpu, plan
from tests.planning.cases import CASES
from tests.planning.rules_launch.judging import judged


def _errors(made: Plan) -> list[str]:
    found = []
    for path, content in launch_files(made):
        if not path.endswith((".sh", ".yaml")):
            continue
        report = judged(content, made.engine_version, engine=made.engine)
        found += [
            f"{path}: {one.code} {one.message}"
            for one in report.findings
            if one.severity is Severity.ERROR
        ]
    return found


@pytest.mark.parametrize("name", [name for name in CASES if name != "practice"])
def test_rendered_files_of_a_golden_plan_hold_no_error(name: str) -> None:
    assert _errors(CASES[name]()) == []


@pytest.mark.parametrize("model", [one.key for one in all_shipped()])
def test_rendered_files_of_every_shipped_model_hold_no_error(model: str) -> None:
    plans = 0
    for host in (gpu(), a3("a3-01")):
        try:
            made = plan(combined(model, host.name), host)
        except PlanningError:
            continue
        plans += 1
        if made.can_submit:
            assert _errors(made) == []
    assert plans


@pytest.mark.parametrize("name", [name for name in CASES if name != "practice"])
def test_rendered_files_read_back_as_the_commands_of_the_plan(name: str) -> None:
    made = CASES[name]()
    for path, content in launch_files(made):
        if not path.endswith((".sh", ".yaml")):
            continue
        host = path.partition("/")[0]
        planned = [
            one
            for one in made.replicas
            if one.host == host and one.role is not Role.ROUTER
        ]
        read = read_launches(content).launches
        assert len(read) == len(planned)
        for replica, launch in zip(planned, read, strict=True):
            assert [word.text for word in launch.words] == list(
                replica.container.command
            )
            drafts = (
                replica.speculation.num_speculative_tokens
                if replica.speculation
                else None
            )
            found = launch.speculation
            assert (found.num_speculative_tokens if found else None) == drafts
