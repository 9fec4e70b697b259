"""The fields of the wizard, step by step, each with its one or two sentences."""

from enum import StrEnum

from django import forms
from django.utils.translation import gettext_lazy as _

from deployments.forms.wizard.fields import (
    NamesField,
    NumberField,
    OneOfField,
    Spelling,
    TextField,
)
from deployments.forms.wizard.workloads import OWN, PRESETS
from deployments.planning.decision import AUTO, OFF
from deployments.planning.methods import FACTS
from deployments.planning.platforms import PLATFORMS
from deployments.planning.revision import Goal

CLUSTER = "cluster"
PLATFORM = "platform"
KEY = Spelling(
    r"[A-Za-z0-9][A-Za-z0-9._+/-]*", _("use letters, digits and . _ + / - only.")
)

CANARY = Spelling(
    r"[a-z0-9_]+:[0-9]{0,3}:[A-Za-z0-9._+/-]*",
    _("write method:num_speculative_tokens:drafter, the last two empty if need be."),
)


class Step(StrEnum):
    """The pages of the wizard, in their order."""

    MODEL = "model"
    HARDWARE = "hardware"
    WORKLOAD = "workload"
    METHOD = "method"
    DETAILS = "details"
    REVIEW = "review"


class ModelFields(forms.Form):
    """Step 1: what is served."""

    q = TextField(
        longest=80,
        label=_("Search the catalog"),
        help_text=_(
            "Part of a name, a family or a key. The list below shows what matches."
        ),
        widget=forms.TextInput(attrs={"type": "search"}),
    )
    has = OneOfField(
        choices=[
            ("any", _("All models")),
            ("mtp", _("With MTP layers")),
            ("drafter", _("With a trained drafter")),
            ("fits", _("For my hosts' platforms")),
        ],
        label=_("Show"),
        help_text=_(
            "Narrows the list by what the catalog says. A model that nobody has looked at counts as without."
        ),
    )
    model = TextField(
        longest=160,
        spelling=KEY,
        label=_("Target model"),
        help_text=_(
            "The model whose output is served. Drafting changes its speed, not its answers."
        ),
    )
    checkpoint = TextField(
        longest=160,
        spelling=KEY,
        label=_("Checkpoint"),
        help_text=_(
            "One set of the model's weights. Left alone, the planner takes the first that is made for the platform."
        ),
    )


class HardwareFields(forms.Form):
    """Step 2: where it runs."""

    place = OneOfField(
        choices=[
            (CLUSTER, _("Hosts of a cluster")),
            (PLATFORM, _("A platform without a host")),
        ],
        label=_("Where"),
        help_text=_(
            "Hosts can be deployed to after approval. A platform without a host gives files to download only."
        ),
    )
    find = TextField(
        longest=80,
        label=_("Search the clusters"),
        help_text=_(
            "Part of the name of a cluster, its team or one of its hosts. The list below shows what matches."
        ),
        widget=forms.TextInput(attrs={"type": "search"}),
    )
    cluster = TextField(
        longest=36,
        label=_("Cluster"),
        help_text=_(
            "The hosts that belong together, and whose people decide. Its policy says who has to approve; its image rewrites and model directories go into the plan."
        ),
    )
    host = NamesField(
        label=_("Hosts"),
        help_text=_(
            "Every host takes replicas or ranks of this deployment. Only free devices are used."
        ),
    )
    platform = OneOfField(
        choices=[
            ("", _("Choose one")),
            *((one.name, one.title) for one in PLATFORMS.values()),
        ],
        label=_("Platform"),
        help_text=_(
            "The hardware family that the files are for. It decides the image, the devices and the environment of every container."
        ),
        widget=forms.Select,
    )
    platform_hosts = NumberField(
        low=1,
        high=64,
        label=_("Hosts"),
        help_text=_(
            "How many machines of this platform the files are for. Large checkpoints need several."
        ),
    )
    platform_devices = NumberField(
        low=0,
        high=64,
        label=_("Devices on each host"),
        help_text=_(
            "Accelerators as the runtime counts them. On Ascend a device is a die: an Atlas A3 host has 16."
        ),
    )
    platform_device = TextField(
        longest=60,
        label=_("Device name"),
        help_text=_("As the driver reports it. Only shown in the plan."),
    )
    platform_memory = NumberField(
        low=1,
        high=2048,
        label=_("Memory of one device"),
        help_text=_(
            "Compared with what the checkpoint needs. Left empty, it is unknown and nothing is concluded from it."
        ),
        unit="GiB",
    )
    platform_architecture = OneOfField(
        choices=[
            ("", _("Not known")),
            ("x86_64", "x86-64"),
            ("aarch64", "aarch64"),
        ],
        label=_("Processor"),
        help_text=_(
            "The processor of the hosts. It decides the image tag on CPU hosts and the memory allocator on Ascend hosts."
        ),
        widget=forms.Select,
    )


class WorkloadFields(forms.Form):
    """Step 3: what is asked of it."""

    preset = OneOfField(
        choices=[
            *((preset.key, preset.title) for preset in PRESETS),
            (OWN, _("Numbers of my own")),
        ],
        label=_("Workload"),
        help_text=_(
            "What is typically asked, and how much of it at once. The numbers of a preset are starting values of this panel, not measurements."
        ),
    )
    input_tokens = NumberField(
        low=1,
        high=2_000_000,
        label=_("Input"),
        help_text=_(
            "Tokens of a typical prompt. Long prompts shift time to prefill, where drafting gains nothing."
        ),
        unit=_("tokens"),
    )
    output_tokens = NumberField(
        low=1,
        high=1_000_000,
        label=_("Output"),
        help_text=_("Tokens of a typical reply. These are what drafting makes faster."),
        unit=_("tokens"),
    )
    concurrency = NumberField(
        low=1,
        high=100_000,
        label=_("At once"),
        help_text=_(
            "Requests served at the same time. The more there are, the less idle time is left for drafting to use."
        ),
        unit=_("requests"),
    )
    goal = OneOfField(
        choices=[
            (Goal.BALANCED.value, _("Balanced")),
            (Goal.LATENCY.value, _("Latency: each reply fast")),
            (Goal.THROUGHPUT.value, _("Throughput: most tokens in all")),
        ],
        label=_("Goal"),
        help_text=_(
            "What matters most when the two pull apart. Drafting shortens each reply; with many requests at once it can cost throughput."
        ),
    )


class MethodFields(forms.Form):
    """Step 4: how it drafts."""

    method = OneOfField(
        choices=[
            (AUTO, _("What the decision tree says")),
            *((method.value, facts.title) for method, facts in FACTS.items()),
            (OFF, _("Off")),
        ],
        label=_("Method"),
        help_text=_(
            "vLLM's method in --speculative-config. The decision tree takes the first that is open here; any open one may be chosen instead."
        ),
    )
    drafter = TextField(
        longest=160,
        spelling=KEY,
        label=_("Drafter"),
        help_text=_(
            "Weights that draft for this model. Left alone, the planner takes the first that fits the checkpoint and the platform."
        ),
    )
    canary = TextField(
        longest=240,
        spelling=CANARY,
        label=_("Canary"),
        help_text=_(
            "What one replica tries beside the others. The panel fills it in where it proposes a canary."
        ),
    )
    pin = NamesField(
        label=_("Side by side"),
        help_text=_(
            "Two methods to compare. The comparison changes nothing in the plan."
        ),
    )
