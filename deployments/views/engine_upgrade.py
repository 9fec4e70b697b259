"""Upgrade the engine of a deployment: choose a version, see what it changes, prepare the revision."""

import uuid
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from deployments.forms.engine_upgrade import EngineUpgradeForm
from deployments.forms.wizard.spec import address_of_spec
from deployments.forms.wizard.steps import Step
from deployments.planning.launch.files import launch_files
from deployments.planning.plan import Finding, Plan, Severity
from deployments.planning.rules.launch.rule import LaunchFinding
from deployments.selectors.changes import (
    command_changes,
    file_changes,
    setting_changes,
)
from deployments.selectors.engine_upgrade import (
    EngineUpgrade,
    UpgradeError,
    engine_choice,
    engine_upgrade,
    upgradable,
)
from deployments.selectors.upgrade_words import effect_lines, fact_lines, verdict
from deployments.views.people import person

COMPOSE = "docker-compose.yaml"


@require_safe
def upgrade(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """The versions, and what the chosen one would change of this deployment."""
    user = person(request)
    deployment = upgradable(user, pk)
    if deployment is None:
        raise Http404
    context: dict[str, Any] = {"deployment": deployment}
    try:
        choice = engine_choice(deployment)
    except UpgradeError as error:
        return _page(request, {**context, "problem": str(error)}, status=422)
    form = EngineUpgradeForm(request.GET, choice)
    context |= {"choice": choice, "form": form}
    if not form.is_valid():
        return _page(request, {**context, "problem": form.problem}, status=422)
    if not form.version:
        return _page(request, context)
    try:
        found = engine_upgrade(user, choice, form.version, form.cleaned_data["image"])
    except UpgradeError as error:
        return _page(request, {**context, "problem": str(error)}, status=422)
    return _page(request, context | _compared(found))


def _compared(found: EngineUpgrade) -> dict[str, Any]:
    after = found.after
    step = Step.DETAILS if found.blocked else Step.REVIEW
    query = address_of_spec(found.spec, found.choice.deployment.row.cluster, step)
    context: dict[str, Any] = {
        "upgrade": found,
        "verdict": verdict(found),
        "effects": effect_lines(found.effects),
        "surroundings": fact_lines(found),
        "prepare": f"{reverse('plan')}?{query}",
    }
    if after is None:
        return context
    drifted = found.before is not None and setting_changes(
        found.choice.stored, found.before
    )
    severities = list(Severity)
    findings: list[Finding | LaunchFinding] = [*after.findings, *found.lint]
    findings.sort(key=lambda one: severities.index(one.severity))
    return context | {
        "findings": findings,
        "settings": setting_changes(found.base, after),
        "commands": [one for one in command_changes(found.base, after) if one.changed],
        "files": [
            one
            for one in file_changes(_files(found.base), _files(after))
            if one.changed
        ],
        "drifted": drifted or (),
    }


def _files(plan: Plan) -> dict[str, str]:
    """The compose files by path: one for each host."""
    return {
        path: content for path, content in launch_files(plan) if path.endswith(COMPOSE)
    }


def _page(
    request: HttpRequest, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    return render(request, "deployments/upgrade.html", context, status=status)
