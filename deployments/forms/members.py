"""Roles of members, people who are taken in, and links for new ones."""

from typing import Any

from django import forms
from django.contrib.auth import get_user_model
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from deployments.models import TeamRole, User

INVITED_FOR = [("1", _("1 day")), ("7", _("7 days")), ("30", _("30 days"))]
LONGEST_NAME = 150
_field = {"class": "field"}


class RolesForm(forms.Form):
    """The roles that somebody is to hold."""

    roles = forms.MultipleChoiceField(
        label=_("Roles"),
        choices=TeamRole.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )

    def wanted(self) -> list[TeamRole]:
        """The roles of a valid form."""
        return [TeamRole(role) for role in self.cleaned_data["roles"]]


class MemberForm(RolesForm):
    """A member by the id of the membership, and their roles."""

    member = forms.UUIDField()


class TakeInForm(RolesForm):
    """Somebody who has an account."""

    name = forms.CharField(
        label=_("User name"),
        max_length=LONGEST_NAME,
        widget=forms.TextInput(attrs=_field),
    )


class InviteForm(RolesForm):
    """Somebody who has none."""

    email = forms.EmailField(
        label=_("E-mail"),
        required=False,
        help_text=_("The account takes this address. May stay empty."),
        widget=forms.EmailInput(attrs=_field),
    )
    days = forms.ChoiceField(
        label=_("The link holds for"), choices=INVITED_FOR, initial="7"
    )
    by_mail = forms.BooleanField(
        required=False,
        label=_("Send it by e-mail"),
        help_text=_("Else the link is shown to you, this once."),
    )


class InvitationForm(forms.Form):
    """Which invitation."""

    invitation = forms.UUIDField()


class MemberTokenForm(forms.Form):
    """Which token of a member."""

    token = forms.UUIDField()


class PlatformAdminForm(forms.Form):
    """Who is or is no platform admin any more."""

    name = forms.CharField(
        label=_("User name"),
        max_length=LONGEST_NAME,
        widget=forms.TextInput(attrs=_field),
    )
    admin = forms.BooleanField(required=False)


class AccountForm(forms.Form):
    """Which account, and why it is closed."""

    account = forms.IntegerField(min_value=1, max_value=2**31 - 1)
    reason = forms.CharField(required=False, max_length=400)


class AcceptForm(forms.Form):
    """The account that an invitation makes."""

    name = forms.CharField(
        label=_("User name"),
        max_length=LONGEST_NAME,
        validators=get_user_model()._meta.get_field("username").validators,
        widget=forms.TextInput(attrs={**_field, "autocomplete": "username"}),
    )
    email = forms.EmailField(
        label=_("E-mail"),
        required=False,
        widget=forms.EmailInput(attrs={**_field, "autocomplete": "email"}),
    )
    password = forms.CharField(
        label=_("Password"),
        max_length=128,
        strip=False,
        help_text=_("At least 12 characters."),
        widget=forms.PasswordInput(attrs={**_field, "autocomplete": "new-password"}),
    )

    def clean(self) -> dict[str, Any]:
        """Hold the password against the validators, which know the name."""
        values = super().clean() or {}
        password = values.get("password")
        if password:
            user = User(username=values.get("name", ""), email=values.get("email", ""))
            try:
                validate_password(password, user)
            except ValidationError as error:
                self.add_error("password", error)
        return values
