"""What the pages of the wizard show: the steps with their answers, the step itself, the preview."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from deployments.forms.wizard.draft import Draft
from deployments.forms.wizard.form import shown_fields
from deployments.forms.wizard.spec import chosen_hosts, workload_from
from deployments.forms.wizard.steps import PLATFORM, Step
from deployments.forms.wizard.workloads import BY_KEY
from deployments.models import User
from deployments.planning.launch.command import readable_command
from deployments.planning.plan import Plan, PlannedReplica, Role
from deployments.selectors.texts import listed
from deployments.selectors.wizard_catalog import platform_names
from deployments.selectors.wizard_methods import speculation_text
from deployments.selectors.wizard_review import (
    findings_by_severity,
    findings_text,
    number_ranges,
)
from deployments.templatetags.figures import count, parameters
from deployments.views.plan_steps import count_context, planned_values, step_context

Context = dict[str, Any]
NUMBERS = {step: number for number, step in enumerate(Step, start=1)}


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLine:
    """One step on the left with its answer; ``settled`` is false while nothing was chosen."""

    key: Step
    number: int
    title: str
    answer: str
    settled: bool
    current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandView:
    """The command of one role, on the host of its first replica."""

    role: str
    host: str
    text: str


def page_context(user: User, draft: Draft) -> Context:
    """Everything on the page of a step."""
    context = preview_context(draft)
    steps = list(Step)
    place = steps.index(draft.step)
    has_fields = draft.step is not Step.METHOD or draft.plan is not None
    return {
        **context,
        **step_context(user, draft),
        "heading": _headings(draft)[draft.step],
        "next_step": steps[place + 1] if place + 1 < len(steps) else None,
        "next_title": str(titles()[steps[place + 1]]).lower()
        if place + 1 < len(steps)
        else "",
        "carried": draft.form.carried(shows_fields=has_fields),
        "step_template": f"plan/step_{draft.step.value}.html",
    }


def preview_context(draft: Draft) -> Context:
    """The steps with their answers and the preview beside the step."""
    plan = draft.plan
    return {
        "draft": draft,
        "form": draft.form,
        "plan": plan,
        "entry": draft.form.entry,
        "step": draft.step.value,
        "steps": step_lines(draft),
        "address": draft.form.address(draft.step),
        "errors": _error_lines(draft),
        "weights": _weights(draft),
        "findings": findings_by_severity(plan) if plan else [],
        "findings_text": findings_text(plan) if plan else "",
        "commands": _commands(plan) if plan else [],
        "missing": _missing(draft),
        "places": _places(plan) if plan else [],
        "planned": planned_values(plan) if plan else [],
        **count_context(draft),
        "slots": shown_fields(draft.form),
    }


def titles() -> dict[Step, str]:
    """The names of the steps."""
    return {
        Step.MODEL: _("Model"),
        Step.HARDWARE: _("Hardware"),
        Step.WORKLOAD: _("Workload"),
        Step.METHOD: _("Method"),
        Step.DETAILS: _("Details"),
        Step.REVIEW: _("Review"),
    }


def step_lines(draft: Draft) -> list[StepLine]:
    """Every step with its answer so far."""
    answers = {
        Step.MODEL: _model_answer(draft),
        Step.HARDWARE: _hardware_answer(draft),
        Step.WORKLOAD: _workload_answer(draft),
        Step.METHOD: speculation_text(draft.plan) if draft.plan else "",
        Step.DETAILS: _details_answer(draft),
        Step.REVIEW: findings_text(draft.plan) if draft.plan else "",
    }
    return [
        StepLine(
            key=step,
            number=NUMBERS[step],
            title=title,
            answer=answers[step] or _("not chosen yet"),
            settled=bool(answers[step]),
            current=step is draft.step,
        )
        for step, title in titles().items()
    ]


def _headings(draft: Draft) -> dict[Step, str]:
    name = draft.spec.name if draft.spec else ""
    method = _("How should %(name)s draft?") if name else _("How should it draft?")
    details = _("Which settings for %(name)s?") if name else _("Which settings for it?")
    return {
        Step.MODEL: _("Which model?"),
        Step.HARDWARE: _("Where should it run?"),
        Step.WORKLOAD: _("What will be asked of it?"),
        Step.METHOD: method % {"name": name},
        Step.DETAILS: details % {"name": name},
        Step.REVIEW: _("Is this what should run?"),
    }


def _model_answer(draft: Draft) -> str:
    entry = draft.form.entry
    if entry is None:
        return ""
    checkpoint = draft.plan.checkpoint if draft.plan else draft.form.value("checkpoint")
    size = parameters(entry.parameters) if entry.parameters is not None else ""
    return listed(filter(None, (entry.name, str(checkpoint or ""), size)))


def _hardware_answer(draft: Draft) -> str:
    hosts = chosen_hosts(draft.form)
    if not hosts:
        return ""
    if draft.form.value("place") == PLATFORM:
        platform = platform_names([str(draft.form.value("platform"))])
        return _("%(count)s x %(platform)s, files only") % {
            "count": len(hosts),
            "platform": platform,
        }
    return listed(hosts)


def _workload_answer(draft: Draft) -> str:
    workload = workload_from(draft.form)
    preset = BY_KEY.get(str(draft.form.value("preset")))
    return _("%(preset)s: %(input)s in, %(output)s out, %(concurrency)s at once") % {
        "preset": preset.title if preset else _("Own numbers"),
        "input": count(workload.input_tokens),
        "output": count(workload.output_tokens),
        "concurrency": count(workload.concurrency),
    }


def _details_answer(draft: Draft) -> str:
    untouched = {"model", "checkpoint", "place", "cluster", "host", "preset", "method"}
    others = {"q", "has", "find", "pin", "drafter", "input_tokens", "output_tokens"}
    skip = untouched | others | {"concurrency", "goal", "canary"}
    chosen = {
        key
        for key, _value in draft.form.state()
        if key not in skip and not key.startswith("platform")
    }
    if not chosen:
        return _("recommended values")
    return _("%(count)s set by hand") % {"count": len(chosen)}


def _error_lines(draft: Draft) -> list[tuple[str, str, str]]:
    """(field, label, sentence) of everything that could not be read."""
    form = draft.form
    return [
        (name, str(form.fields[name].label), str(sentence))
        for name, sentences in form.errors.items()
        if name in form.fields
        for sentence in sentences
    ]


def _weights(draft: Draft) -> list[tuple[str, int | None, str]]:
    """(what, bytes, source) of what the hosts must load, as the catalog knows it."""
    entry, plan = draft.form.entry, draft.plan
    if entry is None or plan is None or plan.practice:
        return []
    checkpoint = entry.checkpoint(plan.checkpoint)
    rows = [(_("Checkpoint"), checkpoint.size_bytes, checkpoint.source)]
    if plan.decision.drafter is not None:
        drafter = entry.drafter(plan.decision.drafter)
        rows.append((_("Drafter"), drafter.size_bytes, drafter.source))
    return rows


def _places(plan: Plan) -> list[tuple[PlannedReplica, str]]:
    return [(one, number_ranges(one.devices)) for one in plan.replicas]


def _commands(plan: Plan) -> list[CommandView]:
    seen: dict[Role, PlannedReplica] = {}
    for replica in plan.replicas:
        seen.setdefault(replica.role, replica)
    return [
        CommandView(
            role=role.value,
            host=replica.host,
            text=readable_command(replica.container.command),
        )
        for role, replica in seen.items()
    ]


def _missing(draft: Draft) -> tuple[Step, str] | None:
    """The first step that must be answered before anything can be planned."""
    if draft.form.entry is None:
        return Step.MODEL, _("Choose a model to see a plan.")
    if not chosen_hosts(draft.form):
        return Step.HARDWARE, _(
            "Choose hosts, or a platform without a host, to see a plan."
        )
    return None
