"""Every address: the panel's own pages, log-in, language, health."""

from allauth.account import views as account
from allauth.socialaccount.providers.openid_connect import views as openid_connect
from django.urls import include, path

from panel.health import healthz
from panel.language import choose_language
from panel.single_sign_on import callback, refused

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("language/", choose_language, name="set_language"),
    path("accounts/login/", account.login, name="account_login"),
    path("accounts/logout/", account.logout, name="account_logout"),
    path(
        "accounts/reauthenticate/",
        account.reauthenticate,
        name="account_reauthenticate",
    ),
    path(
        "accounts/password/change/",
        account.password_change,
        name="account_change_password",
    ),
    path("accounts/2fa/", include("allauth.mfa.urls")),
    path(
        "accounts/oidc/<str:provider_id>/login/",
        openid_connect.login,
        name="openid_connect_login",
    ),
    path(
        "accounts/oidc/<str:provider_id>/login/callback/",
        callback,
        name="openid_connect_callback",
    ),
    # Where the library leads when it needs more than the provider says.
    path("accounts/oidc/refused/", refused, name="socialaccount_signup"),
    path(
        "accounts/oidc/refused/cancelled/",
        refused,
        name="socialaccount_login_cancelled",
    ),
    path("accounts/oidc/refused/error/", refused, name="socialaccount_login_error"),
    path("", include("deployments.urls")),
]
