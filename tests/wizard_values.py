"""What tests of the wizard build from: shipped models, hosts without tables, addresses."""

from urllib.parse import urlencode

from django.http import QueryDict

from deployments.forms.wizard.form import WizardForm
from deployments.models import Cluster, Host, TargetModel, Team
from deployments.planning.catalog import TargetModel as CatalogEntry
from deployments.selectors.wizard import ClusterChoice, HostChoice, WizardChoices
from deployments.services.catalog import shipped_documents
from tests.planning.builders import shipped

GLM, QWEN, LLAMA = (
    "zai-org/GLM-5.2",
    "Qwen/Qwen3-8B",
    "meta-llama/Llama-3.1-8B-Instruct",
)
HOSTS = ("gpu-1", "gpu-2", "gpu-3")

DOCUMENTS = {str(document["key"]): document for document in shipped_documents()}


def model_row(key: str) -> TargetModel:
    """A row of the shipped catalog that no table holds."""
    entry = shipped(key)
    return TargetModel(
        key=entry.key,
        name=entry.name,
        family=entry.family,
        parameters=entry.parameters,
        has_mtp=entry.has_mtp,
        document=DOCUMENTS[key],
    )


def entry_of(key: str) -> CatalogEntry:
    """The shipped entry."""
    return shipped(key)


def cluster_choice(
    *names: str, platform: str = "nvidia", devices: int = 8, closed: str = ""
) -> ClusterChoice:
    """A cluster that no table holds, with hosts of one platform."""
    row = Cluster(team=Team(name="Serving"), name="prod", slug="prod")
    hosts = tuple(
        HostChoice(
            row=Host(cluster=row, name=name, platform=platform),
            devices=devices,
            free=devices,
        )
        for name in names or HOSTS
    )
    return ClusterChoice(
        team=row.team,
        row=row,
        host_names=tuple(host.name for host in hosts),
        platforms=frozenset({platform}),
        hosts=hosts,
        closed=closed,
    )


def choices(cluster: ClusterChoice | None = None) -> WizardChoices:
    """Three shipped models and one cluster."""
    return WizardChoices(
        models=tuple(model_row(key) for key in (GLM, QWEN, LLAMA)),
        clusters=(cluster or cluster_choice(),),
    )


def form_of(offered: WizardChoices, address: str) -> WizardForm:
    """The form of an address, read."""
    form = WizardForm(QueryDict(address), offered)
    form.is_valid()
    return form


def query(**values: object) -> str:
    """A query string; lists repeat their key."""
    return urlencode(values, doseq=True)
