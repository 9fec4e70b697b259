"""WizardForm: the whole state of the wizard, read from an address and written back to one."""

import re
from collections.abc import Iterator

from django.http import QueryDict
from django.utils.translation import gettext as _

from deployments.forms.wizard.details import (
    OWN_IMAGE,
    ROLES,
    DetailsFields,
    role_fields,
)
from deployments.forms.wizard.fields import NamesField, OneOfField, shown
from deployments.forms.wizard.steps import (
    CLUSTER,
    PLATFORM,
    HardwareFields,
    MethodFields,
    ModelFields,
    Step,
    WorkloadFields,
)
from deployments.forms.wizard.switches import SwitchesField, told_apart
from deployments.forms.wizard.workloads import OWN
from deployments.models import TargetModel
from deployments.planning.catalog import TargetModel as CatalogEntry
from deployments.planning.endpoint_key import OPEN, SECRET_NAME
from deployments.planning.errors import PlanningError
from deployments.planning.methods import Method
from deployments.planning.revision import Topology, Workload
from deployments.selectors.planning_inputs import catalog_entry
from deployments.selectors.texts import say_error
from deployments.selectors.wizard import FEW_CLUSTERS, ClusterChoice, WizardChoices

NOT_STATE = frozenset(
    {"step", "to", "digest", "comment", "csrfmiddlewaretoken", "role"}
)
ONLY_ON = {"q": Step.MODEL, "has": Step.MODEL, "find": Step.HARDWARE}
"""What narrows a list on one step and is no choice."""
PINS = 2
LONGEST_NAME = 40


class WizardForm(
    DetailsFields, MethodFields, WorkloadFields, HardwareFields, ModelFields
):
    """All fields of all steps. What is wrong is said at its field; the rest stays usable."""

    def __init__(
        self, data: QueryDict, choices: WizardChoices, *, step: Step | None = None
    ) -> None:
        super().__init__(data, label_suffix="")
        self.query = data
        self.step = step or self.step_of(data)
        self.choices = choices
        self.cluster_choice: ClusterChoice | None = None
        self.model_row: TargetModel | None = None
        self.entry: CatalogEntry | None = None
        for role in ROLES:
            self.fields.update(role_fields(role))
        engines = self.fields["engine"]
        if isinstance(engines, OneOfField):
            engines.also(choices.engines)
        keys = self.fields["api_key"]
        if isinstance(keys, OneOfField):
            keys.also(self._secret_names())
        unasked = Workload()
        for name in ("input_tokens", "output_tokens", "concurrency"):
            self.fields[name].widget.attrs["placeholder"] = getattr(unasked, name)

    def _secret_names(self) -> list[str]:
        """Stored secrets, and a name that the address gives: exported files need none stored."""
        given = self.query.get("api_key", "").strip()
        named = given if given != OPEN and SECRET_NAME.fullmatch(given) else ""
        return sorted({*self.choices.secrets, named} - {""})

    @property
    def unknown_keys(self) -> list[str]:
        """Keys of the address that no field reads; they are left out of every link."""
        known = NOT_STATE | self.fields.keys()
        return [shown(key) for key in self.query if key not in known]

    @staticmethod
    def step_of(query: QueryDict) -> Step:
        """The step that an address asks for, else the first."""
        wanted = query.get("to") or query.get("step") or ""
        return Step(wanted) if wanted in set(Step) else Step.MODEL

    def raw(self, name: str) -> list[str]:
        """What the address says for a field, once each, empty values left out."""
        values = [value for value in self.query.getlist(name) if value.strip()]
        if isinstance(self.fields[name], SwitchesField):
            return told_apart(values)
        if isinstance(self.fields[name], NamesField):
            return list(dict.fromkeys(values))
        return values[-1:]

    def state(self) -> Iterator[tuple[str, str]]:
        """Every (key, value) that differs from an untouched form, in the order of the steps."""
        for name, field in self.fields.items():
            # Most are untouched, and a page of models asks this for each of its links.
            if name not in self.query or ONLY_ON.get(name, self.step) is not self.step:
                continue
            for value in self.raw(name):
                if value != getattr(field, "first", ""):
                    yield name, value

    def address(self, step: Step | str, **changed: str | list[str]) -> str:
        """The query string of this state at a step, with some values changed or taken out."""
        query = QueryDict(mutable=True)
        query["step"] = str(step)
        for key, value in self.state():
            if key not in changed:
                query.appendlist(key, value)
        for key, values in changed.items():
            texts = [values] if isinstance(values, str) else values
            query.setlist(key, [text for text in texts if text])
        return query.urlencode()

    def carried(self, *, shows_fields: bool = True) -> list[tuple[str, str]]:
        """What the form of this step must carry along unseen: all that it does not show."""
        shown_here = shown_fields(self) if shows_fields else set()
        return [(key, value) for key, value in self.state() if key not in shown_here]

    def value(self, name: str) -> object:
        """The read value of a field, ``None`` where it is empty or wrong."""
        return self.cleaned_data.get(name)

    def clean(self) -> None:
        """Check what fields alone cannot: repetition, and that what is named exists."""
        self._refuse_repeated()
        self._find_cluster()
        self._find_model()
        self._check_hosts()
        self._check_pins()

    def _refuse_repeated(self) -> None:
        for name, field in self.fields.items():
            values = {text for text in self.query.getlist(name) if text.strip()}
            if len(values) > 1 and not isinstance(field, NamesField):
                self.add_error(
                    name,
                    _(
                        "The address gives two values, “%(first)s” and “%(second)s”; choose one."
                    )
                    % dict(
                        zip(
                            ("first", "second"),
                            map(shown, sorted(values)),
                            strict=False,
                        )
                    ),
                )

    def _find_cluster(self) -> None:
        key = self.cleaned_data.get("cluster") or ""
        if not key or self.cleaned_data.get("place") != CLUSTER:
            return
        cluster = self.choices.cluster(key)
        if cluster is None:
            self.add_error(
                "cluster",
                _("There is no cluster %(key)s among yours; choose one of the list.")
                % {"key": shown(key)},
            )
            return
        self.cluster_choice = cluster

    def _find_model(self) -> None:
        key = self.cleaned_data.get("model") or ""
        row = self.choices.model(key, self.cluster_choice) if key else None
        if row is None:
            if key:
                self.add_error(
                    "model",
                    _("The catalog has no model “%(key)s”; choose one of the list.")
                    % {"key": shown(key)},
                )
            return
        self.model_row = row
        self.fields["name"].widget.attrs["placeholder"] = suggested_name(key)
        try:
            self.entry = catalog_entry(row)
        except PlanningError as error:
            self.add_error("model", say_error(error))
            return
        self._check_weights(self.entry)

    def _check_weights(self, entry: CatalogEntry) -> None:
        for name, find in (
            ("checkpoint", entry.checkpoint),
            ("drafter", entry.drafter),
        ):
            key = self.cleaned_data.get(name)
            if not key:
                continue
            try:
                find(key)
            except PlanningError as error:
                self.add_error(name, say_error(error))

    def _check_hosts(self) -> None:
        if self.cleaned_data.get("place") != CLUSTER or "cluster" in self.errors:
            return
        for name in ("host", "prefill_host", "decode_host"):
            chosen = self.cleaned_data.get(name) or ()
            unknown = [host for host in chosen if not self._knows_host(host)]
            if unknown and (self.cluster_choice is not None or name == "host"):
                self.add_error(name, self._no_such_host(unknown[0]))

    def _knows_host(self, name: str) -> bool:
        return (
            self.cluster_choice is not None
            and self.cluster_choice.host(name) is not None
        )

    def _no_such_host(self, name: str) -> str:
        if self.cluster_choice is None:
            return _("Choose the cluster of %(host)s first.") % {"host": shown(name)}
        return _(
            "The cluster %(cluster)s has no host “%(host)s”; choose one of the list."
        ) % {
            "cluster": self.cluster_choice.row.name,
            "host": shown(name),
        }

    def _check_pins(self) -> None:
        pins = self.cleaned_data.get("pin") or ()
        known = {*Method, "off"}
        unknown = [pin for pin in pins if pin not in known]
        if unknown:
            self.add_error(
                "pin",
                _("“%(pin)s” is no method to compare; choose from the cards.")
                % {"pin": shown(unknown[0])},
            )
        elif len(pins) > PINS:
            self.add_error("pin", _("Two methods stand side by side; take one away."))


def suggested_name(model_key: str) -> str:
    """A deployment name made of a catalog key, without the organisation in front."""
    model = model_key.rpartition("/")[2].lower()
    slug = re.sub(r"[^a-z0-9]+", "-", model).strip("-")
    return slug[:LONGEST_NAME].strip("-") or "deployment"


def shown_fields(form: WizardForm) -> set[str]:
    """The fields that stand on the page of the form's step, as far as the choices open them."""
    value = form.cleaned_data.get
    match form.step:
        case Step.MODEL:
            return {"q", "has"} | ({"checkpoint"} if form.entry else set())
        case Step.HARDWARE:
            return _shown_hardware(form)
        case Step.WORKLOAD:
            numbers = {"input_tokens", "output_tokens", "concurrency", "goal"}
            return {"preset"} | (numbers if value("preset") == OWN else set())
        case Step.METHOD:
            return {"method", "drafter", "pin"}
        case Step.DETAILS:
            return _shown_details(form)
        case Step.REVIEW:
            return set()


def searches_clusters(form: WizardForm) -> bool:
    """Whether there are more clusters than somebody finds theirs among at a glance."""
    return len(form.choices.clusters) > FEW_CLUSTERS


def offers_practice(form: WizardForm) -> bool:
    """Whether the chosen cluster has a host without accelerators, where practice is the way in."""
    hosts = form.cluster_choice.hosts if form.cluster_choice else ()
    return any(host.row.platform == "cpu" for host in hosts)


def _shown_hardware(form: WizardForm) -> set[str]:
    if form.cleaned_data.get("place") == PLATFORM:
        return {
            name for name in HardwareFields.base_fields if name.startswith("platform")
        }
    names = {"host", "image_source"} if offers_practice(form) else {"host"}
    return names | ({"find"} if searches_clusters(form) else set())


def _shown_details(form: WizardForm) -> set[str]:
    names = set(DetailsFields.base_fields)
    if form.cleaned_data.get("image_source") != OWN_IMAGE:
        names.discard("image")
    apart = form.cleaned_data.get("topology") == Topology.DISAGGREGATED
    if not apart:
        names -= {"prefill_host", "decode_host"}
    for role in ("prefill", "decode") if apart else ("combined",):
        names.update(role_fields(role))
    return names
