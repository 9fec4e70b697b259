"""What happens around every view: headers, the person's settings, and permission."""

import logging
import uuid
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from urllib.parse import urlencode, urlsplit
from zoneinfo import ZoneInfo, available_timezones

from allauth.account.adapter import get_adapter
from allauth.mfa.adapter import get_adapter as get_mfa_adapter
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import ImproperlyConfigured, PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.cache import patch_vary_headers
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from deployments.models import RoleGrant, TeamRole, User
from deployments.services.audit import Origin, acting_from
from deployments.services.audit_origin import agent_family
from deployments.views.manifest import MANIFEST, Permission
from panel.logging import request_id

logger = logging.getLogger(__name__)

GetResponse = Callable[[HttpRequest], HttpResponseBase]
View = Callable[..., HttpResponseBase]
Args = tuple[object, ...]
Kwargs = dict[str, object]

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
)
PERMISSIONS_POLICY = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"
LOGIN_NAMES = (
    "account_login",
    "account_reauthenticate",
    "account_change_password",
    "mfa_activate_totp",
)
BEFORE_LOG_IN = ("account_", "mfa_", "openid_connect_", "set_language")
WITH_A_SEEN_PASSWORD = {
    "account_change_password",
    "account_logout",
    "account_login",
    "set_language",
    "healthz",
}
"""All that is open to somebody whose password others have seen."""
SECOND_FACTOR_ROLES = (TeamRole.APPROVER, TeamRole.ADMIN)


class HtmxHttpRequest(HttpRequest):
    """A request that has passed the middleware of django-htmx."""

    htmx: HtmxDetails


class PermittedRequest(HttpRequest):
    """A request whose URL name was found in the permission manifest."""

    permission: Permission


class RequestIdMiddleware:
    """Gives each request an id that its log records and its answer carry."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Set the id for the time of the request."""
        token = request_id.set(uuid.uuid4().hex[:16])
        try:
            response = self.get_response(request)
            response.headers["X-Request-Id"] = request_id.get()
            return response
        finally:
            request_id.reset(token)


class AuditOriginMiddleware:
    """Lets audit entries name from where a request came, as far as proxies are trusted."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Name the origin for the time of the request; it is read when an entry is written."""
        with acting_from(partial(_origin_of, request)):
            return self.get_response(request)


def _origin_of(request: HttpRequest) -> Origin:
    token = getattr(request, "token", None)
    if token is None:
        agent = agent_family(request.headers.get("User-Agent", ""))
    else:
        agent = f"{'robot' if token.is_robot else 'token'} {token.name}"
    return Origin(address=address_of(request), agent=agent)


def address_of(request: HttpRequest) -> str:
    """From which IP address a request came, as far as proxies are trusted."""
    try:
        return str(get_adapter().get_client_ip(request))
    except (ImproperlyConfigured, PermissionDenied):
        # Fewer proxies than are trusted: who connected is all that is known for sure.
        return str(request.META.get("REMOTE_ADDR", ""))


class SecurityHeadersMiddleware:
    """Forbids inline code, framing, and everything that is not the panel's own."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Add the headers to every answer, static files included."""
        response = self.get_response(request)
        response.headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
        response.headers["Permissions-Policy"] = PERMISSIONS_POLICY
        return response


class HtmxLoginMiddleware:
    """Sends the whole page to the log-in, never the log-in page into a fragment."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HtmxHttpRequest) -> HttpResponseBase:
        """Turn a redirect to a log-in page into ``HX-Redirect``."""
        response = self.get_response(request)
        patch_vary_headers(response, ["HX-Request"])
        if not request.htmx or response.status_code != 302:
            return response
        target = urlsplit(response.headers["Location"]).path
        if target not in {reverse(name) for name in LOGIN_NAMES}:
            return response
        back = urlencode({"next": request.htmx.current_url_abs_path or "/"})
        return HttpResponseClientRedirect(f"{target}?{back}")


class PersonMiddleware:
    """Answers in the person's language and time zone, and keeps pages out of caches."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        self.zones = available_timezones()

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Activate what the person chose; without a choice the browser decides."""
        user = request.user
        if isinstance(user, AnonymousUser):
            return self.get_response(request)
        if user.language in dict(settings.LANGUAGES):
            translation.activate(user.language)
            request.LANGUAGE_CODE = translation.get_language() or user.language
        zone = user.time_zone if user.time_zone in self.zones else ""
        with timezone.override(ZoneInfo(zone)) if zone else nullcontext():
            response = self.get_response(request)
        response.headers["Cache-Control"] = "no-store"
        return response


class SeenPasswordMiddleware:
    """Lets people whose password was printed or chosen by others do nothing but change it."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass on; the check needs the name of the view."""
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, _view: View, _args: Args, _kwargs: Kwargs
    ) -> HttpResponse | None:
        """Send them to the form."""
        match = request.resolver_match
        name = match.view_name if match else ""
        user = request.user
        if isinstance(user, AnonymousUser) or not user.must_change_password:
            return None
        return (
            None
            if name in WITH_A_SEEN_PASSWORD
            else redirect("account_change_password")
        )


class SecondFactorMiddleware:
    """Where served over HTTPS, people who decide must have set up TOTP first; all, if so set."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass on; the check needs the name of the view."""
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, _view: View, _args: Args, _kwargs: Kwargs
    ) -> HttpResponse | None:
        """Send people who need a second factor and have none to its set-up."""
        match = request.resolver_match
        name = match.view_name if match else ""
        if not settings.SERVED_OVER_HTTPS or name.startswith(BEFORE_LOG_IN):
            return None
        user = request.user
        if isinstance(user, AnonymousUser) or getattr(request, "token", None):
            # Whoever made the token had passed here.
            return None
        if not settings.SECOND_FACTOR_FOR_ALL and not decides(user):
            return None
        if get_mfa_adapter().is_mfa_enabled(user):
            return None
        return redirect("mfa_activate_totp")


class PermissionMiddleware:
    """Refuses what the permission manifest does not allow; see ``MANIFEST``."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass on; the check needs the name of the view."""
        return self.get_response(request)

    def process_view(
        self, request: PermittedRequest, _view: View, _args: Args, _kwargs: Kwargs
    ) -> HttpResponse | None:
        """Set ``request.permission``, or refuse.

        Raises:
            PermissionDenied: the manifest has no entry for this URL name.
        """
        match = request.resolver_match
        name = match.view_name if match else ""
        permission = MANIFEST.get(name)
        if permission is None:
            logger.error("url_not_in_manifest", extra={"url_name": name})
            raise PermissionDenied
        if request.method not in permission.methods:
            return HttpResponseNotAllowed(sorted(permission.methods))
        if not permission.public and not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        request.permission = permission
        return None


def decides(user: User) -> bool:
    """Whether the person can approve, administer a team, or administer the panel."""
    return (
        user.is_superuser
        or RoleGrant.objects.filter(
            membership__user=user, role__in=SECOND_FACTOR_ROLES
        ).exists()
    )
