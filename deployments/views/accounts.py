"""Everybody who has an account: disable one, let somebody in again. For admins of the panel."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from deployments.forms.members import AccountForm
from deployments.models import User
from deployments.selectors.accounts import account_rows, accounts_page, administers
from deployments.selectors.texts import say_error
from deployments.services.accounts import disable_account, enable_account
from deployments.services.errors import NotAllowedError, UseCaseError
from deployments.views.answers import refusal_status
from deployments.views.people import person


@require_safe
def accounts(request: HttpRequest) -> HttpResponse:
    """The accounts by name; whoever administers nothing is told so and sees none."""
    return _page(request)


@require_POST
def disable(request: HttpRequest) -> HttpResponse:
    """Close an account: sessions and tokens end with it."""
    return _change(request, active=False)


@require_POST
def enable(request: HttpRequest) -> HttpResponse:
    """Let somebody in again."""
    return _change(request, active=True)


def _change(request: HttpRequest, *, active: bool) -> HttpResponse:
    user, form = person(request), AccountForm(request.POST)
    try:
        # Asked before the form is read: who may not, learns of no account.
        if not administers(user):
            raise NotAllowedError(_("This needs an admin of the panel."))
        if not form.is_valid():
            raise Http404
        row = User.objects.filter(pk=form.cleaned_data["account"]).first()
        if row is None:
            raise Http404
        if active:
            enable_account(user, row)
            said = _("%(name)s can log in again.")
        else:
            disable_account(user, row, reason=form.cleaned_data["reason"])
            said = _("%(name)s is out: sessions and tokens have ended.")
    except UseCaseError as error:
        return _page(request, error=say_error(error), status=refusal_status(error))
    messages.success(request, said % {"name": row})
    return redirect("account-list")


def _page(request: HttpRequest, *, error: str = "", status: int = 200) -> HttpResponse:
    user = person(request)
    # No database takes this sign in a text.
    text = request.GET.get("q", "").replace("\0", "")[:100]
    page = accounts_page(user, text, request.GET.get("page", "1"))
    context = {
        "administers": administers(user),
        "page": page,
        "rows": account_rows(user, page),
        "text": text,
        "error": error,
    }
    return render(request, "teams/accounts.html", context, status=status)
