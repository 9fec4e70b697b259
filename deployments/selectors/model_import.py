"""The models of the catalog that an imported drafter may be bound to."""

from dataclasses import dataclass

from deployments.models import TargetModel, User
from deployments.planning.errors import PlanningError
from deployments.planning.methods import Method
from deployments.planning.model_config.fit import DrafterFit, drafter_fit
from deployments.planning.model_config.reading import ModelReading
from deployments.selectors.planning_inputs import catalog_entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A target model with how the drafter fits it."""

    row: TargetModel
    fit: DrafterFit


def candidates(user: User, reading: ModelReading, method: Method) -> list[Candidate]:
    """Models of the catalog with how the drafter fits them, fitting ones first; in one query.

    Where a team has its own entry of a shipped model, both stand in the list.
    """
    found = []
    for row in TargetModel.objects.for_user(user).select_related("team"):
        try:
            entry = catalog_entry(row)
        except PlanningError:
            continue
        found.append(Candidate(row=row, fit=drafter_fit(reading, method, entry)))
    order = {True: 0, None: 1, False: 2}
    return sorted(found, key=lambda one: (order[one.fit.good], one.row.name))
