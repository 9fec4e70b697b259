"""Every address: the panel's own pages, log-in, language, health."""

from allauth.account import views as account
from django.urls import include, path

from panel.health import healthz
from panel.language import choose_language

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
    path("", include("deployments.urls")),
]
