"""Stored plans, read back and proven to be what their digest says."""

import json

from deployments.models import Plan
from deployments.planning.canonical import digest_of
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Plan as PlanValue
from deployments.planning.plan import plan_from_document
from deployments.planning.text import text


def stored_plan(row: Plan) -> PlanValue:
    """The plan of a row.

    Raises:
        PlanningError: the stored document does not have the stored digest, or is of another
            schema version.
    """
    document = json.loads(row.document)
    if digest_of(document) != row.digest:
        raise PlanningError(
            text(
                "The stored plan of {revision} does not match its digest. Plan the revision again; "
                "somebody changed the database.",
                revision=str(row.revision),
            )
        )
    return plan_from_document(document)
