"""The wizard's answers as a deployment spec in YAML, and a deployment spec as the wizard's answers."""

from dataclasses import fields, replace

from django.http import QueryDict

from deployments.forms.wizard.draft import Draft, export_hosts
from deployments.forms.wizard.form import WizardForm
from deployments.forms.wizard.spec import address_at, address_of_spec, spec_from
from deployments.forms.wizard.steps import PLATFORM
from deployments.models import Cluster, TargetModel, User
from deployments.planning.canonical import Json
from deployments.planning.deployment_spec import parse_deployment_spec
from deployments.planning.errors import PlanningError
from deployments.planning.platforms.devices import device_memory
from deployments.planning.revision import RevisionSpec
from deployments.planning.snapshot import LOG_ROOT, HostSnapshot
from deployments.planning.spec_document import settled, spec_document
from deployments.planning.spec_text import read_document_text, written_spec
from deployments.planning.text import text
from deployments.selectors.wizard import WizardChoices, wizard_choices

GIB = 1 << 30


def specification(draft: Draft) -> str:
    """The deployment spec of a draft with model and hosts; empty before."""
    if draft.spec is None or draft.ground is None:
        return ""
    cluster = draft.inputs.cluster if draft.inputs is not None else None
    hosts = {host.name: host for host in draft.ground.hosts}
    named = [name for role in draft.spec.roles for name in role.hosts]
    known = [hosts[name] for name in dict.fromkeys(named) if name in hosts]
    place = f"{cluster.team.slug}/{cluster.slug}" if cluster is not None else None
    decided = draft.ground.settings
    return written_spec(
        spec_document(
            draft.spec,
            known,
            place,
            split_cards=decided.split_cards,
            log_root=decided.log_root,
        )
    )


def address_of_text(user: User, written: str) -> str:
    """The address at which the wizard shows a deployment spec.

    Raises:
        PlanningError: it cannot be read, names what the person does not have, or says something
            that the wizard has no field for; nothing is left out silently.
    """
    document = read_document_text(written)
    read, hosts, settings = parse_deployment_spec(document)
    spec = settled(replace(read, model=_model_key(user, read.model)))
    place = document.get("cluster") if isinstance(document, dict) else None
    cluster = _cluster(user, str(place)) if place is not None else None
    if settings.split_cards and (cluster is None or not cluster.split_cards):
        raise PlanningError(
            text(
                "split_cards is decided by the policy of a cluster; name one that allows it, or plan "
                "it with manage.py plan_deployment."
            )
        )
    decided = cluster.log_root if cluster is not None else LOG_ROOT
    if settings.log_root not in (LOG_ROOT, decided):
        raise PlanningError(
            text(
                "log_root is decided by the policy of a cluster; name one whose logs go to {path}, or "
                "plan it with manage.py plan_deployment.",
                path=settings.log_root,
            )
        )
    choices = wizard_choices(
        user,
        model_key=spec.model,
        cluster_key=str(cluster.pk) if cluster is not None else "",
        engine=spec.engine or "",
    )
    return address_of_read(spec, hosts, cluster, choices)


def address_of_read(
    spec: RevisionSpec,
    hosts: tuple[HostSnapshot, ...],
    cluster: Cluster | None,
    choices: WizardChoices,
) -> str:
    """The address of a settled spec, on a cluster or for the platform of its hosts.

    Raises:
        PlanningError: as ``address_of_text``.
    """
    if cluster is not None:
        return _checked(spec, choices, address_of_spec(spec, cluster), hosts=None)
    renamed, exported = _numbered(spec, hosts)
    address = address_at(renamed, _platform(exported))
    return _checked(renamed, choices, address, hosts=exported)


def _checked(
    spec: RevisionSpec,
    choices: WizardChoices,
    address: str,
    *,
    hosts: tuple[HostSnapshot, ...] | None,
) -> str:
    """The address, once the wizard reads from it what the spec says.

    Raises:
        PlanningError: a field refuses its value, or the wizard reads something else.
    """
    form = WizardForm(QueryDict(address), choices)
    form.is_valid()
    for name, sentences in form.errors.items():
        raise PlanningError(
            text(
                "The wizard refuses {field}: {why}",
                field=name,
                why=str(next(iter(sentences))),
            )
        )
    shown = spec_from(form)
    same_hosts = hosts is None or export_hosts(form) == hosts
    lost = "" if same_hosts else "fleet"
    if shown is not None:
        for field in fields(RevisionSpec):
            if getattr(settled(shown), field.name) != getattr(spec, field.name):
                lost = lost or field.name
    if shown is None or lost:
        raise PlanningError(
            text(
                "The wizard cannot show {key} of this spec as it is written; plan it with "
                "manage.py plan_deployment.",
                key=lost or "model",
            )
        )
    return address


def _model_key(user: User, name: str) -> str:
    """The key of the one visible model of that name, with or without its organisation."""
    rows = TargetModel.objects.for_user(user).values_list("key", flat=True)
    wanted = name.lower()
    found = {key for key in rows if wanted in (key.lower(), key.lower().split("/")[-1])}
    if len(found) == 1:
        return str(found.pop())
    raise PlanningError(text("The catalog has no model {name}.", name=repr(name)))


def _cluster(user: User, place: str) -> Cluster:
    team, _slash, slug = place.rpartition("/")
    rows = Cluster.objects.for_user_or_guest(user).filter(slug=slug)
    found = list(rows.filter(team__slug=team) if team else rows)
    if len(found) == 1:
        return found[0]
    raise PlanningError(
        text(
            "There is no cluster {place} among yours; write team/cluster, or leave the key out to "
            "plan for a platform.",
            place=repr(place),
        )
    )


def _numbered(
    spec: RevisionSpec, hosts: tuple[HostSnapshot, ...]
) -> tuple[RevisionSpec, tuple[HostSnapshot, ...]]:
    """Hosts under the names that the wizard gives to those of a platform: host-1 and on."""
    names = {host.name: f"host-{rank}" for rank, host in enumerate(hosts, start=1)}
    for role in spec.roles:
        for name in role.hosts:
            if name not in names:
                raise PlanningError(
                    text(
                        "The role {role} names the host {host}, which the fleet does not have.",
                        role=role.role.value,
                        host=repr(name),
                    )
                )
    roles = tuple(
        replace(role, hosts=tuple(names[name] for name in role.hosts))
        for role in spec.roles
    )
    renamed = tuple(replace(host, name=names[host.name]) for host in hosts)
    return replace(spec, roles=roles), renamed


def _platform(hosts: tuple[HostSnapshot, ...]) -> dict[str, str]:
    """The fields of the hardware step for hosts of one kind.

    Raises:
        PlanningError: the hosts differ, or one has an address or model directory of its own.
    """
    first = hosts[0]
    odd = any(replace(host, name=first.name) != first for host in hosts)
    if odd or first.address or first.interface or first.model_root:
        raise PlanningError(
            text(
                "Without a cluster the wizard takes hosts that are all alike, without address, "
                "interface or model directory; name a cluster, or plan it with manage.py "
                "plan_deployment."
            )
        )
    memory = first.device_memory_bytes
    known = memory is None or memory == device_memory(first.platform, first.device)
    if memory is not None and not known and memory % GIB:
        raise PlanningError(
            text(
                "device_memory_bytes is no whole number of GiB, which the wizard takes."
            )
        )
    values: dict[str, Json] = {
        "place": PLATFORM,
        "platform": first.platform,
        "platform_hosts": len(hosts),
        "platform_devices": first.device_count,
        "platform_device": first.device,
        "platform_memory": None if known or memory is None else memory // GIB,
        "platform_architecture": first.architecture,
    }
    return {key: str(value) for key, value in values.items() if value is not None}
