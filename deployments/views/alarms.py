"""Alarms: the list, one of them, and saying that somebody knows."""

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from deployments.forms.alarms import AcknowledgeForm
from deployments.models import Alarm, AlarmKind, TableKey
from deployments.selectors.alarms import alarm_page, alarms_for
from deployments.selectors.deployments import deployment_page
from deployments.selectors.tables.alarms import ALARMS
from deployments.selectors.texts import say_error
from deployments.services.alarms import acknowledge_alarm
from deployments.services.errors import ConflictError, UseCaseError
from deployments.views.answers import refusal_status
from deployments.views.deployments import wizard_address
from deployments.views.people import PanelRequest, person, refuse_without_role
from deployments.views.tables import act_on_rows, show_table

WORTH_TURNING_OFF = (AlarmKind.SILENT_ZERO, AlarmKind.BELOW_BAND)


@require_safe
def alarm_list(request: PanelRequest) -> HttpResponse:
    """Every alarm of the person's teams as a table, the open ones unless others are asked for."""
    return show_table(request, ALARMS, "alarms/list.html")


@require_safe
def alarm(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """One alarm with its figures."""
    row = _find(request, pk)
    return _page(request, row, AcknowledgeForm(initial={"note": row.note}))


@require_POST
def acknowledge(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Say that somebody knows of it."""
    row = _find(request, pk)
    refuse_without_role(request, row.deployment.team)
    form = AcknowledgeForm(request.POST)
    if not form.is_valid():
        return _page(request, row, form, status=422)
    try:
        acknowledge_alarm(person(request), row, form.cleaned_data["note"])
    except UseCaseError as error:
        messages.error(request, say_error(error))
        return _page(request, row, form, status=refusal_status(error))
    messages.success(request, _("The others see now that you know of it."))
    return redirect("alarm", pk=pk)


@require_POST
def acknowledge_selected(request: HttpRequest) -> HttpResponse:
    """Say that somebody knows of each selected alarm, with the same note."""
    user = person(request)
    note = request.POST.get("note", "")

    def know(pk: uuid.UUID, _key: str) -> None:
        row = alarms_for(user).filter(pk=pk).first()
        if row is None:
            raise ConflictError(_("Only alarms of your teams are acknowledged."))
        acknowledge_alarm(user, row, note)

    return act_on_rows(request, TableKey.ALARMS, know, _acknowledged)


def _acknowledged(count: int) -> str:
    return ngettext(
        "%(count)s alarm is acknowledged.", "%(count)s alarms are acknowledged.", count
    ) % {"count": count}


def _find(request: HttpRequest, pk: uuid.UUID) -> Alarm:
    return get_object_or_404(alarms_for(person(request)), pk=pk)


def _page(
    request: HttpRequest, row: Alarm, form: AcknowledgeForm, status: int = 200
) -> HttpResponse:
    user = person(request)
    page = alarm_page(user, row)
    offers_off = page.may_acknowledge and row.kind in WORTH_TURNING_OFF
    context = {
        "page": page,
        "form": form,
        "without": wizard_address(deployment_page(user, row.deployment), 0)
        if offers_off
        else "",
    }
    return render(request, "alarms/alarm.html", context, status=status)
