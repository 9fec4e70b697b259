"""Keep and drop what a person left unfinished in the wizard."""

import uuid

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from deployments.models import LONGEST_DRAFT, User, WizardDraft
from deployments.services.errors import ConflictError

MOST_DRAFTS = 5
"""For each person; the one that was left longest ago makes room."""


def keep_draft(user: User, model: str, query: str) -> WizardDraft:
    """Keep the wizard's address for this target model; an earlier one of it is replaced.

    Raises:
        ConflictError: no model is chosen, or the address is longer than a browser may send.
    """
    if not model:
        raise ConflictError(
            _("Choose a model first; before that there is nothing to keep.")
        )
    if len(query) > LONGEST_DRAFT:
        raise ConflictError(
            _(
                "This is too long to be kept: at most %(most)s characters. Submit it, or copy it as a deployment spec."
            )
            % {"most": LONGEST_DRAFT}
        )
    now = timezone.now()
    with transaction.atomic():
        draft, _made = WizardDraft.objects.update_or_create(
            user=user, model=model, defaults={"query": query, "changed_at": now}
        )
        mine = WizardDraft.objects.filter(user=user)
        newest = mine.order_by("-changed_at").values_list("pk", flat=True)
        mine.exclude(pk__in=list(newest[:MOST_DRAFTS])).delete()
        _count(user)
    return draft


def drop_draft(user: User, pk: uuid.UUID) -> WizardDraft | None:
    """Drop one of the person's; ``None`` when it is not theirs or not there."""
    draft = WizardDraft.objects.filter(user=user, pk=pk).first()
    if draft is not None:
        finish_draft(user, draft.model)
    return draft


def finish_draft(user: User, model: str) -> None:
    """Forget what was kept for a model, because it was submitted or is not wanted."""
    with transaction.atomic():
        if WizardDraft.objects.filter(user=user, model=model).delete()[0]:
            _count(user)


def _count(user: User) -> None:
    """Keep their number with the person, who is read for every page anyhow."""
    count = WizardDraft.objects.filter(user=user).count()
    User.objects.filter(pk=user.pk).update(unfinished_plans=count)
