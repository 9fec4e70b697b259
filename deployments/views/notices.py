"""Channels for notices: a person's own, and those of a team; what was given up is looked at here, too."""

import uuid
from collections.abc import Callable

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from deployments.forms.notices import (
    ChannelChangeForm,
    ChannelForm,
    NoticeLanguageForm,
)
from deployments.models import NoticeChannel, NoticeDelivery, Team, TeamRole, User
from deployments.selectors.access import has_role
from deployments.selectors.notices import (
    channel_lines,
    dead_deliveries,
    newest_deliveries,
    teams_of,
)
from deployments.selectors.texts import say_error
from deployments.services.errors import UseCaseError
from deployments.services.notices.channels import (
    add_channel,
    change_channel,
    remove_channel,
    send_test,
    set_language,
)
from deployments.services.notices.dead_letters import (
    discard_delivery,
    retry_delivery,
)
from deployments.views.answers import refusal_status
from deployments.views.people import PanelRequest, person, refuse_without_role


@require_http_methods(["GET", "HEAD", "POST"])
def own(request: PanelRequest) -> HttpResponse:
    """The person's own channels, and a form for another."""
    if request.method == "POST":
        return _add(request, None)
    return _page(request, None, ChannelForm())


@require_http_methods(["GET", "HEAD", "POST"])
def of_team(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """The channels of a team, for its members; its admins add some."""
    team = _team(request, pk)
    if request.method == "POST":
        refuse_without_role(request, team)
        return _add(request, team)
    return _page(request, team, ChannelForm())


@require_POST
def language(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Choose the language of the team's channels."""
    team = _team(request, pk)
    refuse_without_role(request, team)
    form = NoticeLanguageForm(request.POST)
    if not form.is_valid():
        return _page(request, team, ChannelForm(), status=422)
    set_language(person(request), team, form.cleaned_data["language"])
    messages.success(request, _("The language is kept."))
    return redirect("team-notices", pk=team.pk)


@require_http_methods(["GET", "HEAD", "POST"])
def channel(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """One channel: its name, what it tells of, and a new address."""
    row = _channel(request, pk)
    if request.method != "POST":
        return _channel_page(request, row, ChannelChangeForm(row=row))
    _refuse_strangers(request, row)
    form = ChannelChangeForm(request.POST, row=row)
    if not form.is_valid():
        return _channel_page(request, row, form, status=422)
    try:
        change_channel(
            person(request),
            row,
            name=form.cleaned_data["name"],
            events=form.events_wanted,
            destination=form.new_destination,
        )
    except UseCaseError as error:
        form.add_error(None, say_error(error))
        return _channel_page(request, row, form, status=refusal_status(error))
    messages.success(request, _("The channel is changed."))
    return _back(row)


@require_POST
def test(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Send a test over one channel."""
    row = _channel(request, pk)
    said = _("A test is on its way. Load this page again to see what became of it.")
    return _act(request, row, lambda user: send_test(user, row), said)


@require_POST
def remove(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Forget one channel."""
    row = _channel(request, pk)
    said = _("The channel is removed, with what waited for it.")
    return _act(request, row, lambda user: remove_channel(user, row), said)


@require_POST
def retry(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Try once more what was given up."""
    row = _delivery(request, pk)
    said = _("It is tried again.")
    return _act(request, row.channel, lambda user: retry_delivery(user, row), said)


@require_POST
def discard(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Put away what was given up."""
    row = _delivery(request, pk)
    said = _("It is put away.")
    return _act(request, row.channel, lambda user: discard_delivery(user, row), said)


def _add(request: PanelRequest, team: Team | None) -> HttpResponse:
    form = ChannelForm(request.POST)
    if not form.is_valid():
        return _page(request, team, form, status=422)
    try:
        row = add_channel(
            person(request),
            team,
            kind=form.channel_kind,
            name=form.cleaned_data["name"],
            destination=form.destination,
            events=form.events_wanted,
        )
    except UseCaseError as error:
        form.add_error(None, say_error(error))
        return _page(request, team, form, status=refusal_status(error))
    messages.success(
        request,
        _("“%(name)s” is added. Send a test to see that it works.")
        % {"name": row.name},
    )
    return _back(row)


def _act(
    request: PanelRequest,
    row: NoticeChannel,
    act: Callable[[User], None],
    said: str,
) -> HttpResponse:
    _refuse_strangers(request, row)
    try:
        act(person(request))
    except UseCaseError as error:
        status, words = refusal_status(error), say_error(error)
        return _page(request, row.team, ChannelForm(), status=status, error=words)
    messages.success(request, said)
    return _back(row)


def _back(row: NoticeChannel) -> HttpResponse:
    if row.team_id is not None:
        return redirect("team-notices", pk=row.team_id)
    return redirect("notices")


def _refuse_strangers(request: PanelRequest, row: NoticeChannel) -> None:
    """Own channels need no role: nobody else finds them."""
    if row.team is not None:
        refuse_without_role(request, row.team)


def _team(request: PanelRequest, pk: uuid.UUID) -> Team:
    return get_object_or_404(teams_of(person(request)), pk=pk)


def _channel(request: PanelRequest, pk: uuid.UUID) -> NoticeChannel:
    rows = NoticeChannel.objects.for_user(request.user).select_related("team")
    return get_object_or_404(rows, pk=pk)


def _delivery(request: PanelRequest, pk: uuid.UUID) -> NoticeDelivery:
    rows = NoticeDelivery.objects.for_user(request.user)
    return get_object_or_404(rows.select_related("channel__team", "notice"), pk=pk)


def _page(
    request: PanelRequest,
    team: Team | None,
    form: ChannelForm,
    *,
    status: int = 200,
    error: str = "",
) -> HttpResponse:
    user = person(request)
    chosen = {"language": (team.notice_language if team else "") or "en"}
    context = {
        "team": team,
        "form": form,
        "error": error,
        "channels": channel_lines(user, team),
        "dead": dead_deliveries(user, team),
        "newest": newest_deliveries(user, team),
        "may_change": team is None or has_role(user, team, TeamRole.ADMIN),
        "language_form": NoticeLanguageForm(initial=chosen),
        "teams": [] if team else teams_of(user),
        "without_links": not settings.PANEL_URL,
    }
    return render(request, "notices/page.html", context, status=status)


def _channel_page(
    request: PanelRequest,
    row: NoticeChannel,
    form: ChannelChangeForm,
    *,
    status: int = 200,
) -> HttpResponse:
    may = row.team is None or has_role(person(request), row.team, TeamRole.ADMIN)
    context = {"row": row, "form": form, "may_change": may}
    return render(request, "notices/channel.html", context, status=status)
