"""Log-in by an OpenID Connect provider, where the environment names one."""

from typing import Any

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.views import (
    OpenIDConnectOAuth2Adapter,
)
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from deployments.models import User
from deployments.services.group_roles import apply_groups, note_new_person

__all__ = ["SingleSignOnAdapter", "callback", "refused"]


class SingleSignOnAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Who the provider lets in gets an account, with the roles that their groups stand for."""

    def is_open_for_signup(
        self, request: HttpRequest, sociallogin: SocialLogin
    ) -> bool:
        """Whoever runs the provider decides who comes in."""
        return bool(settings.OIDC_ISSUER)

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Renew the roles of a person that is known; an address that somebody has is no proof.

        Raises:
            ImmediateHttpResponse: another account has the address.
        """
        if sociallogin.is_existing:
            self._renew(sociallogin.user, sociallogin)
        elif sociallogin.state.get("process") != AuthProcess.CONNECT:
            address = sociallogin.user.email
            if address and User.objects.filter(email__iexact=address).exists():
                raise self._away(
                    request,
                    _(
                        "An account with this e-mail address exists. Log in with its password, "
                        "then connect it in Settings."
                    ),
                )

    def save_user(
        self, request: HttpRequest, sociallogin: SocialLogin, form: object = None
    ) -> User:
        """Make the account, and tell the audit."""
        user: User = super().save_user(request, sociallogin, form)
        note_new_person(user)
        self._renew(user, sociallogin)
        return user

    def on_authentication_error(
        self, request: HttpRequest, provider: object, **_told: object
    ) -> None:
        """Say it on the log-in page; the log knows more.

        Raises:
            ImmediateHttpResponse: always.
        """
        raise self._away(request, _("The single sign-on did not work. Try again."))

    def get_connect_redirect_url(
        self, request: HttpRequest, socialaccount: object
    ) -> str:
        """Back to where it was asked for."""
        return reverse("settings")

    def _renew(self, user: User, sociallogin: SocialLogin) -> None:
        data = sociallogin.account.extra_data
        told = {**data.get("id_token", {}), **data.get("userinfo", {})}
        groups = told.get(settings.OIDC_GROUPS_CLAIM)
        apply_groups(
            user, groups if isinstance(groups, list) else [], settings.OIDC_GROUP_ROLES
        )

    def _away(self, request: HttpRequest, said: str) -> ImmediateHttpResponse:
        messages.error(request, said)
        return ImmediateHttpResponse(redirect("account_login"))


class VerifyingAdapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    """Checks the signature of the token also where it came straight from the provider."""

    @property
    def did_fetch_access_token(self) -> bool:
        """Never a reason to trust it unread."""
        return False

    @did_fetch_access_token.setter
    def did_fetch_access_token(self, _value: bool) -> None: ...


@login_not_required
@require_safe
def callback(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Where the provider sends people back to.

    Raises:
        Http404: no provider of this name is configured.
    """
    try:
        view: Any = OAuth2CallbackView.adapter_view(
            VerifyingAdapter(request, provider_id)
        )
        answer: HttpResponse = view(request)
    except SocialApp.DoesNotExist as error:
        raise Http404 from error
    return answer


@login_not_required
@require_safe
def refused(request: HttpRequest) -> HttpResponse:
    """Back to the log-in, whatever the provider or the library said."""
    messages.error(request, _("The single sign-on did not work. Try again."))
    return redirect("account_login")
