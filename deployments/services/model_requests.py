"""Ask for a look at the model directories of a host: a row, and a message that wakes a worker."""

from django.db import transaction
from django.db.models.functions import Now

from deployments.models import Host, ModelListing, TeamRole, User
from deployments.services.access import require_role
from deployments.services.waking import wake

LIST_MODELS = "deployments.list_models"


def ask_for_listing(user: User, host: Host) -> None:
    """Have a worker look at the model directories of the host; one look at a time.

    Raises:
        NotAllowedError: the person is no operator of the host's team.
    """
    require_role(user, host.cluster.team, TeamRole.OPERATOR)
    with transaction.atomic():
        ModelListing.objects.get_or_create(host=host)
        ModelListing.objects.filter(host=host).exclude(ModelListing.waiting()).update(
            asked_at=Now()
        )
        transaction.on_commit(lambda: wake(LIST_MODELS, [host.pk]))
