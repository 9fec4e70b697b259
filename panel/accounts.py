"""How people get in: no sign-up, accounts are given by an administrator."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest

__all__ = ["ClosedAccountAdapter"]


class ClosedAccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Closes sign-up on every path that the library offers."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Nobody makes an account alone."""
        return False
