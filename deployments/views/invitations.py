"""The page of an invitation: whoever has its link makes an account, once."""

from http import HTTPStatus

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from deployments.forms.members import AcceptForm
from deployments.models import Invitation, TeamRole
from deployments.selectors.members import invitation_of
from deployments.selectors.texts import say_error
from deployments.services.errors import UseCaseError
from deployments.services.invitations import accept


@login_not_required
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Show to which team it leads, and make the account.

    Raises:
        Http404: the link was used, has ended, or never was one.
    """
    row = invitation_of(token)
    if row is None:
        raise Http404
    if request.method != "POST" or request.user.is_authenticated:
        return _page(request, row, AcceptForm(initial={"email": row.email}))
    form = AcceptForm(request.POST)
    if not form.is_valid():
        return _page(request, row, form, HTTPStatus.UNPROCESSABLE_ENTITY)
    value = form.cleaned_data
    try:
        accept(
            token,
            name=value["name"],
            email=value["email"],
            password=value["password"],
        )
    except UseCaseError as error:
        form.add_error(None, say_error(error))
        return _page(request, row, form, HTTPStatus.CONFLICT)
    messages.success(request, _("Your account is made. Log in with it."))
    return redirect("account_login")


def _page(
    request: HttpRequest,
    row: Invitation,
    form: AcceptForm,
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    roles = [TeamRole(role).label for role in row.roles]
    context = {"invitation": row, "roles": roles, "form": form}
    answer = render(request, "teams/invitation.html", context, status=status)
    # The link is a secret: no other page is told of it, and nothing keeps it.
    answer.headers["Referrer-Policy"] = "no-referrer"
    answer.headers["Cache-Control"] = "no-store"
    return answer
