"""The plans that a person left unfinished in the wizard."""

from deployments.models import User, WizardDraft


def drafts_of(user: User) -> list[WizardDraft]:
    """The person's own, newest first."""
    return list(WizardDraft.objects.filter(user=user))
