"""Where live replicas answer, for a Prometheus of the team's own: HTTP service discovery."""

from http import HTTPStatus

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from deployments.models import User
from deployments.selectors.service_discovery import reader_of, target_groups

BEARER = "bearer "
LONGEST_KEY = 500


@login_not_required
@require_safe
def targets(request: HttpRequest) -> JsonResponse:
    """The live replicas of the person's teams; by session, or by a key in ``Authorization: Bearer``."""
    user = _reader(request)
    if user is None:
        said = (
            "Send Authorization: Bearer with a token of Settings, "
            "or a key of manage.py service_discovery_key."
        )
        answer = JsonResponse({"error": said}, status=HTTPStatus.UNAUTHORIZED)
        answer["WWW-Authenticate"] = "Bearer"
        return answer
    return JsonResponse(target_groups(user), safe=False)


def _reader(request: HttpRequest) -> User | None:
    header = request.headers.get("Authorization", "")
    if getattr(request, "token", None) is None and header.lower().startswith(BEARER):
        return reader_of(header[len(BEARER) :].strip()[:LONGEST_KEY])
    return request.user if isinstance(request.user, User) else None
