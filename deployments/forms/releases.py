"""What people send to start or end a release."""

import uuid

from django import forms


class ActForm(forms.Form):
    """One act; the key makes a second click find the first one's command."""

    key = forms.UUIDField(widget=forms.HiddenInput)


def new_key() -> str:
    """A key for the next click on a page."""
    return str(uuid.uuid4())
