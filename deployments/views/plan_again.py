"""The way from a stored plan back into the wizard."""

from django.urls import reverse

from deployments.forms.wizard.spec import address_of_spec
from deployments.models import Plan
from deployments.planning.documents import from_document
from deployments.planning.errors import PlanningError
from deployments.planning.revision import RevisionSpec


def plan_again_address(plan: Plan) -> str:
    """The wizard with the plan's revision in it, or empty when it cannot be read any more."""
    revision = plan.revision
    try:
        spec = from_document(RevisionSpec, revision.document)
    except PlanningError:
        return ""
    query = address_of_spec(spec, revision.deployment.cluster)
    return f"{reverse('plan')}?{query}"
