"""Teams, their members and roles, and who administers the panel."""

import uuid
from collections.abc import Callable

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from deployments.forms.members import (
    InvitationForm,
    InviteForm,
    MemberForm,
    MemberTokenForm,
    PlatformAdminForm,
    TakeInForm,
)
from deployments.models import Membership, Team
from deployments.selectors.members import (
    may_manage,
    member_rows,
    open_invitations,
    platform_admins,
    roles_given_by,
    teams_seen_by,
)
from deployments.selectors.texts import say, say_error
from deployments.selectors.tokens import tokens_in
from deployments.services.errors import UseCaseError
from deployments.services.invitations import (
    invite,
    mail_invitation,
    revoke_invitation,
)
from deployments.services.members import (
    remove_member,
    require_manager,
    set_platform_admin,
    set_roles,
    take_in,
)
from deployments.services.tokens import revoke_in_team
from deployments.views.answers import refusal_status
from deployments.views.people import person


@require_safe
def team_list(request: HttpRequest) -> HttpResponse:
    """The teams that the person sees, and the people who administer the panel."""
    return _list(request, PlatformAdminForm())


@require_safe
def team(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """One team: members with their roles, and invitations for who manages it."""
    return _page(request, _find(request, pk))


@require_POST
def roles(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Leave a member with the roles that were ticked."""
    row = _find(request, pk)
    form = MemberForm(request.POST)

    def act() -> str:
        member = _member(row, form)
        set_roles(person(request), member, form.wanted())
        return _("The roles of %(name)s are kept.") % {"name": member.user}

    return _act(request, row, form, act)


@require_POST
def remove(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Take a member out of the team."""
    row = _find(request, pk)
    form = MemberForm(request.POST)

    def act() -> str:
        member = _member(row, form)
        remove_member(person(request), member)
        return _("%(name)s is in this team no more.") % {"name": member.user}

    return _act(request, row, form, act)


@require_POST
def add(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Take in somebody who has an account."""
    row = _find(request, pk)
    form = TakeInForm(request.POST)

    def act() -> str:
        name = form.cleaned_data["name"]
        take_in(person(request), row, name, form.wanted())
        return _("%(name)s is in this team now.") % {"name": name}

    return _act(request, row, form, act)


@require_POST
def invite_somebody(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Make a link and send it, or show it, this once."""
    row = _find(request, pk)
    form = InviteForm(request.POST)
    try:
        require_manager(person(request), row)
        if not form.is_valid():
            return _page(request, row, invite_form=form, status=422)
        made = invite(
            person(request),
            row,
            form.wanted(),
            days=int(form.cleaned_data["days"]),
            email=form.cleaned_data["email"],
        )
    except UseCaseError as error:
        return _page(request, row, error=say_error(error), status=refusal_status(error))
    path = reverse("invitation", args=[made.token])
    link = request.build_absolute_uri(path)
    if settings.PANEL_URL:
        link = settings.PANEL_URL.rstrip("/") + path
    email = form.cleaned_data["email"]
    if not (form.cleaned_data["by_mail"] and email and settings.NOTICE_MAIL_URL):
        return _page(request, row, link=link)
    why_not = mail_invitation(made, link)
    if why_not is not None:
        said = _("The e-mail did not leave: hand the link over yourself.")
        return _page(request, row, link=link, error=f"{said} {say(why_not)}")
    messages.success(
        request, _("The invitation is on its way to %(email)s.") % {"email": email}
    )
    return redirect("team", pk=row.pk)


@require_POST
def revoke(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """End a link before anybody uses it."""
    row = _find(request, pk)
    form = InvitationForm(request.POST)

    def act() -> str:
        asked = form.cleaned_data["invitation"]
        found = get_object_or_404(open_invitations(row), pk=asked)
        revoke_invitation(person(request), found)
        return _("The invitation is revoked.")

    return _act(request, row, form, act)


@require_POST
def revoke_token(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """End a token of a member."""
    row = _find(request, pk)
    form = MemberTokenForm(request.POST)

    def act() -> str:
        ended = revoke_in_team(person(request), row, form.cleaned_data["token"])
        if ended is None:
            raise Http404
        return _("The token “%(name)s” is revoked.") % {"name": ended.name}

    return _act(request, row, form, act)


@require_POST
def platform_admin(request: HttpRequest) -> HttpResponse:
    """Make somebody a platform admin, or end that."""
    form = PlatformAdminForm(request.POST)
    if not form.is_valid():
        return _list(request, form, status=422)
    name, admin = form.cleaned_data["name"], form.cleaned_data["admin"]
    try:
        set_platform_admin(person(request), name, admin=admin)
    except UseCaseError as error:
        form.add_error(None, say_error(error))
        return _list(request, form, status=refusal_status(error))
    messages.success(request, _("Who administers the panel is kept."))
    return redirect("team-list")


def _find(request: HttpRequest, pk: uuid.UUID) -> Team:
    return get_object_or_404(teams_seen_by(person(request)), pk=pk)


def _member(row: Team, form: MemberForm) -> Membership:
    rows = Membership.objects.filter(team=row).select_related("user", "team")
    return get_object_or_404(rows, pk=form.cleaned_data["member"])


def _act(
    request: HttpRequest,
    row: Team,
    form: MemberForm | TakeInForm | InvitationForm | MemberTokenForm,
    act: Callable[[], str],
) -> HttpResponse:
    """Do it and go back to the team; what is refused is said there."""
    try:
        require_manager(person(request), row)
        if not form.is_valid():
            said = next(str(words) for texts in form.errors.values() for words in texts)
            return _page(request, row, error=said, status=422)
        messages.success(request, act())
    except UseCaseError as error:
        return _page(request, row, error=say_error(error), status=refusal_status(error))
    return redirect("team", pk=row.pk)


def _list(
    request: HttpRequest, form: PlatformAdminForm, *, status: int = 200
) -> HttpResponse:
    user = person(request)
    context = {
        "teams": teams_seen_by(user),
        "admins": platform_admins(),
        "form": form,
    }
    return render(request, "teams/list.html", context, status=status)


def _page(  # noqa: PLR0913 - all that one page may have to say
    request: HttpRequest,
    row: Team,
    *,
    status: int = 200,
    error: str = "",
    link: str = "",
    invite_form: InviteForm | None = None,
) -> HttpResponse:
    user = person(request)
    manages = may_manage(user, row)
    context = {
        "team": row,
        "manages": manages,
        "members": member_rows(user, row, manages=manages),
        "given": roles_given_by(user),
        "invitations": open_invitations(row) if manages else (),
        "tokens": tokens_in(row) if manages else (),
        "take_in": TakeInForm(auto_id="take-%s"),
        "invite": invite_form or InviteForm(initial={"roles": ["viewer"]}),
        "error": error,
        "link": link,
        "mail": bool(settings.NOTICE_MAIL_URL),
    }
    return render(request, "teams/team.html", context, status=status)
