"""How people get in: no sign-up, accounts are given by an administrator."""

import time

from allauth.account.adapter import DefaultAccountAdapter
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from deployments.models import User
from deployments.services.sign_ins import lock_out
from panel.sessions import SEEN_AT

__all__ = ["ClosedAccountAdapter"]


class ClosedAccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Closes sign-up on every path that the library offers."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Nobody makes an account alone."""
        return False

    def pre_authenticate(self, request: HttpRequest, **credentials: object) -> None:
        """Write down that somebody is locked out.

        Raises:
            ValidationError: too many log-ins failed.
        """
        try:
            super().pre_authenticate(request, **credentials)
        except ValidationError:
            lock_out(credentials)
            raise

    def login(self, request: HttpRequest, user: User) -> None:
        """Log in, and begin to keep when the session was last seen."""
        super().login(request, user)
        request.session[SEEN_AT] = int(time.time())

    def clean_password(self, password: str, user: User | None = None) -> str:
        """Take no password that the person has already: one that must be changed is known to others.

        Raises:
            ValidationError: it is the same, or a validator refuses it.
        """
        cleaned: str = super().clean_password(password, user=user)
        if user is not None and user.pk and user.check_password(cleaned):
            raise ValidationError(_("That is the password you have. Choose another."))
        return cleaned

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        """Go on to the pages: the form has nothing more to offer."""
        return reverse("overview")

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        """Send a disabled person, whose password was right, back to the log-in page."""
        messages.error(request, _("This account is disabled. Ask an administrator."))
        return redirect("account_login")
