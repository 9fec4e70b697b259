"""A person's keys for programs: which there are, make one, revoke one."""

import uuid

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from deployments.forms.tokens import TokenForm
from deployments.models import TokenScope
from deployments.selectors.texts import say_error
from deployments.selectors.tokens import tokens_of
from deployments.services.errors import UseCaseError
from deployments.services.tokens import create_token, revoke_token
from deployments.views.answers import refusal_status
from deployments.views.people import person


@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """List them; a new one is made once the person has proved who they are."""
    if request.method != "POST":
        return _page(request, TokenForm())
    answer: HttpResponse = _proved(request)
    return answer


@reauthentication_required  # type: ignore[untyped-decorator]
def _proved(request: HttpRequest) -> HttpResponse:
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    value = form.cleaned_data
    try:
        made = create_token(
            person(request),
            value["name"],
            TokenScope(value["scope"]),
            days=int(value["days"]),
            is_robot=value["is_robot"],
        )
    except UseCaseError as error:
        form.add_error(None, say_error(error))
        return _page(request, form, status=refusal_status(error))
    return _page(request, TokenForm(), key=made.key)


@require_POST
def revoke(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Revoke one.

    Raises:
        Http404: the person has no such token.
    """
    row = revoke_token(person(request), pk)
    if row is None:
        raise Http404
    messages.success(
        request, _("The token “%(name)s” is revoked.") % {"name": row.name}
    )
    return redirect("settings-tokens")


def _page(
    request: HttpRequest, form: TokenForm, *, key: str = "", status: int = 200
) -> HttpResponse:
    context = {"form": form, "key": key, "tokens": tokens_of(person(request))}
    return render(request, "settings/tokens.html", context, status=status)
