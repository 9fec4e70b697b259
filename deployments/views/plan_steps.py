"""What each step of the wizard shows in the middle of its page."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _

from deployments.forms.wizard.draft import Draft
from deployments.forms.wizard.form import offers_practice, searches_clusters
from deployments.forms.wizard.spec import chosen_hosts, role_hosts
from deployments.forms.wizard.specification import specification
from deployments.forms.wizard.steps import PLATFORM, Step
from deployments.forms.wizard.workloads import PRESETS
from deployments.models import User
from deployments.planning.decision import OFF
from deployments.planning.engines.arguments import flag_values
from deployments.planning.launch.command import readable_command
from deployments.planning.launch.files import launch_files
from deployments.planning.methods import FACTS
from deployments.planning.plan import Plan, Role
from deployments.planning.platforms.images import is_practice
from deployments.planning.revision import Topology
from deployments.selectors.canaries import tried
from deployments.selectors.changes import setting_changes
from deployments.selectors.gains import GainFigures, gain_figures, planned_counts
from deployments.selectors.texts import say
from deployments.selectors.wizard import MOST_CLUSTERS, cluster_options
from deployments.selectors.wizard_catalog import (
    checkpoint_options,
    drafter_options,
    families,
    listed_options,
    model_options,
)
from deployments.selectors.wizard_methods import (
    answer_of,
    compare,
    method_cards,
    pinned_methods,
    speculation_text,
)
from deployments.selectors.wizard_review import (
    approvers_of,
    intent,
    placement_text,
    running_plan,
)
from deployments.selectors.wizard_switches import switches_of

Context = dict[str, Any]
SIZES = ("--max-num-seqs", "--max-num-batched-tokens", "--max-model-len")


def step_context(user: User, draft: Draft) -> Context:
    """What the middle of the step's page needs."""
    return _BUILDERS[draft.step](user, draft)


def model_step(user: User, draft: Draft) -> Context:
    """The catalog, and the checkpoints of the chosen model."""
    form = draft.form
    fleet = {
        platform for cluster in form.choices.clusters for platform in cluster.platforms
    }
    key = str(form.value("model") or "")
    options = model_options(
        form.choices.models,
        search=str(form.value("q") or ""),
        only=str(form.value("has") or "any"),
        fleet=fleet,
        chosen=key,
    )
    hosts = draft.ground.hosts if draft.ground else ()
    checkpoints = (
        checkpoint_options(
            form.entry,
            hosts,
            chosen=str(form.value("checkpoint") or ""),
            practice=draft.spec is not None and is_practice(draft.spec.image),
        )
        if form.entry
        else []
    )
    others = {"checkpoint": "", "drafter": "", "pin": ""}
    shown = listed_options(options)
    return {
        "options": [
            (option, form.address(Step.MODEL, model=option.row.key, **others))
            for option in shown
        ],
        "left_out": len(options) - len(shown),
        "families": [
            (family, count, form.address(Step.MODEL, q=family))
            for family, count in families(form.choices.models)
        ],
        "catalog_size": len(form.choices.models),
        "checkpoints": checkpoints,
    }


def hardware_step(user: User, draft: Draft) -> Context:
    """Clusters with their hosts, or a platform without hosts."""
    form = draft.form
    chosen = chosen_hosts(form)
    no_hosts: dict[str, str | list[str]] = {
        "host": [],
        "prefill_host": [],
        "decode_host": [],
    }
    clusters = cluster_options(
        form.choices.clusters,
        search=str(form.value("find") or ""),
        chosen=form.cluster_choice,
    )
    return {
        "place_links": [
            (
                title,
                f"?{form.address(Step.HARDWARE, place=place)}",
                form.value("place") == place,
            )
            for place, title in form.fields["place"].choices  # type: ignore[attr-defined]
        ],
        "without_host": form.value("place") == PLATFORM,
        "clusters": [
            (cluster, form.address(Step.HARDWARE, cluster=cluster.key, **no_hosts))
            for cluster in clusters[:MOST_CLUSTERS]
        ],
        "left_out": max(0, len(clusters) - MOST_CLUSTERS),
        "searches_clusters": searches_clusters(form),
        "has_clusters": bool(form.choices.clusters),
        "chosen_cluster": form.cluster_choice,
        "hosts": [
            (host, host.name in chosen)
            for host in (form.cluster_choice.hosts if form.cluster_choice else ())
        ],
        "offers_practice": offers_practice(form),
    }


def workload_step(user: User, draft: Draft) -> Context:
    """The presets, and what each of them would change in the plan."""
    answers = _workload_answers(draft)
    return {
        "presets": PRESETS,
        "own_numbers": draft.form.value("preset") == "own",
        "answers": answers,
        "same_answer": len({(line[2], *line[3]) for line in answers}) == 1,
    }


def method_step(user: User, draft: Draft) -> Context:
    """The path of the decision tree, a card for each method, and two side by side."""
    undecided, entry = draft.undecided(), draft.form.entry
    if draft.plan is None or undecided is None or entry is None:
        return {"cards": []}
    asked = str(draft.form.value("method") or "auto")
    hosts = draft.ground.hosts if draft.ground else ()
    measured = draft.ground.measured if draft.ground else ()
    cards = method_cards(draft.plan, undecided, entry, asked, hosts, measured=measured)
    pins = pinned_methods(draft.form.cleaned_data.get("pin") or ())
    return {
        "cards": cards,
        "concurrency": next((c.gain.concurrency for c in cards if c.gain), None),
        "asked": asked,
        "path": undecided.decision.path,
        "answer": answer_of(undecided.decision),
        "answer_text": speculation_text(undecided),
        "pins": pins,
        "pinnable": [
            (OFF, _("Off")),
            *((m.value, say(f.title)) for m, f in FACTS.items()),
        ],
        "comparison": compare(cards, entry, pins),
        "drafters": drafter_options(entry, asked),
    }


def details_step(user: User, draft: Draft) -> Context:
    """Settings in groups, with what the planner takes where a field is empty."""
    form = draft.form
    apart = form.value("topology") == Topology.DISAGGREGATED.value
    prefill, decode = role_hosts(form)
    roles = [Role.PREFILL, Role.DECODE] if apart else [Role.COMBINED]
    spec, ground = draft.spec, draft.ground
    switches = (
        switches_of(form.entry, ground.hosts, spec.checkpoint, spec.features)
        if form.entry and spec and ground
        else []
    )
    return {
        "switches": switches,
        "apart": apart,
        "own_image": form.value("image_source") == "own",
        "role_groups": [
            (role.value, [form[name] for name in _role_names(role)]) for role in roles
        ],
        "role_hosts": [
            (
                form["prefill_host"],
                [(name, name in prefill) for name in chosen_hosts(form)],
            ),
            (
                form["decode_host"],
                [(name, name in decode) for name in chosen_hosts(form)],
            ),
        ],
    }


def review_step(user: User, draft: Draft) -> Context:
    """Everything that would run, what it changes, and who decides."""
    plan, entry = draft.plan, draft.form.entry
    without = draft.form.address(Step.REVIEW, canary="")
    if plan is None or entry is None:
        trying = draft.spec is not None and draft.spec.canary is not None
        return {"without_canary": without if trying else ""}
    cluster = draft.inputs.cluster if draft.inputs else None
    running = running_plan(cluster, plan.deployment) if cluster else None
    return {
        "cluster": cluster,
        "closed": draft.form.cluster_choice.closed if draft.form.cluster_choice else "",
        "intent": intent(plan, entry, placement_text(plan)),
        "canary": tried(plan),
        "without_canary": without,
        "running": running[0] if running else None,
        "changes": setting_changes(running[1], plan) if running else (),
        "replicas": [
            (replica, readable_command(replica.container.command))
            for replica in plan.replicas
        ],
        "files": [
            (path, text) for path, text in launch_files(plan) if path != "plan.json"
        ],
        "yaml": specification(draft),
        "approvers": approvers_of(user, draft.inputs.cluster, draft.inputs.team)
        if draft.inputs
        else None,
        "choose_environment": draft.form.cluster_choice is not None
        and plan.revision["number"] == 1
        and draft.form.cluster_choice.told_apart,
    }


_BUILDERS: dict[Step, Callable[[User, Draft], Context]] = {
    Step.MODEL: model_step,
    Step.HARDWARE: hardware_step,
    Step.WORKLOAD: workload_step,
    Step.METHOD: method_step,
    Step.DETAILS: details_step,
    Step.REVIEW: review_step,
}


def _workload_answers(
    draft: Draft,
) -> list[tuple[str, bool, str, list[str], GainFigures | None]]:
    """(workload, chosen, speculation, sizes, gain) for each preset, planned and not guessed."""
    if draft.spec is None or draft.plan is None:
        return []
    current = draft.form.value("preset")
    rows = [(str(preset.title), preset.key, preset.workload) for preset in PRESETS]
    if current == "own":
        rows.append((_("Own numbers"), "own", draft.spec.workload))
    answers = []
    for title, key, workload in rows:
        plan = draft.variant(replace(draft.spec, workload=workload))
        if plan is not None:
            said, gain = speculation_text(plan), gain_figures(plan.gain)
            answers.append((title, key == current, said, _sizes(plan), gain))
    return answers


def _sizes(plan: Plan) -> list[str]:
    """Values of the size flags of the replica that writes replies; empty is the engine's own."""
    replica = [one for one in plan.replicas if not one.canary][-1]
    flags = flag_values(replica.container.command)
    return [flags.get(name) or "" for name in SIZES]


def count_context(draft: Draft) -> Context:
    """What each count of the planned method brings, on the step that sets the count."""
    plan, entry = draft.plan, draft.form.entry
    if draft.step is not Step.DETAILS or plan is None or entry is None:
        return {"counts": ()}
    hosts = draft.ground.hosts if draft.ground else ()
    measured = draft.ground.measured if draft.ground else ()
    return {
        "counts": planned_counts(plan, entry, hosts, measured),
        "asked": plan.gain.concurrency if plan.gain else 0,
    }


def planned_values(plan: Plan) -> list[tuple[str, str]]:
    """(setting, value) as planned, for people who leave fields empty; an empty value is unset."""
    replica = plan.replicas[-1]
    image = replica.container.image.reference
    engine = f"{plan.engine} {plan.engine_version}"
    sizes = zip(SIZES, _sizes(plan), strict=True)
    return [
        (_("Image"), image),
        (_("Engine version"), engine),
        *((name, value) for name, value in sizes),
    ]


def _role_names(role: Role) -> list[str]:
    settings = ["devices", "tp", "pp", "dp", "port"]
    if role is not Role.COMBINED:
        settings.insert(0, "tokens")
    return [f"{role.value}_{setting}" for setting in settings]
