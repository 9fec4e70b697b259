"""How people get in: no sign-up, accounts are given by an administrator."""

from allauth.account.adapter import DefaultAccountAdapter
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from deployments.models import User
from deployments.services.sign_ins import lock_out

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

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        """Send a disabled person, whose password was right, back to the log-in page."""
        messages.error(request, _("This account is disabled. Ask an administrator."))
        return redirect("account_login")
