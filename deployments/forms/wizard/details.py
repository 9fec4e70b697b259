"""The fields of the wizard's fifth step: settings that the planner decides where left empty."""

from typing import TYPE_CHECKING

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from deployments.forms.wizard.environment import LONGEST as LONGEST_ENVIRONMENT
from deployments.forms.wizard.environment import EnvironmentField
from deployments.forms.wizard.fields import (
    NamesField,
    NumberField,
    OneOfField,
    Spelling,
    TextField,
)
from deployments.forms.wizard.flags import LONGEST, FlagsField
from deployments.forms.wizard.switches import SwitchesField
from deployments.planning.endpoint_key import OPEN
from deployments.planning.engines.profile import shipped_profiles
from deployments.planning.revision import Topology
from deployments.planning.versions import FINAL, parse_version

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

    from deployments.forms.wizard.fields import Choices

PLATFORM_IMAGE, PRACTICE_IMAGE, OWN_IMAGE = "platform", "practice", "own"
ROLES = ("combined", "prefill", "decode")
SLUG = Spelling(
    r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?",
    _(
        "use small letters, digits and hyphens, and begin and end with a letter or digit."
    ),
)


def engine_choices() -> "Choices":
    """The engine versions newest first, in groups: releases before release candidates."""
    choices: Choices = [("", _("The platform's default"))]
    groups: dict[tuple[str, bool], list[tuple[str, StrOrPromise]]] = {}
    for profile in reversed(shipped_profiles()):
        candidate = parse_version(profile.version).stage < FINAL
        groups.setdefault((profile.engine, candidate), []).append(
            (profile.name, f"{profile.engine} {profile.version}")
        )
    for (engine, candidate), versions in sorted(groups.items()):
        title = format_lazy(_("{engine}, release candidates"), engine=engine)
        choices.append((title if candidate else engine, versions))
    return choices


class DetailsFields(forms.Form):
    """Step 5: the settings a person may change; left empty, the planner decides."""

    name = TextField(
        longest=40,
        spelling=SLUG,
        label=_("Deployment name"),
        help_text=_(
            "Names the containers and the deployment in the panel. A name that exists makes the next revision of it."
        ),
    )
    served_model_name = TextField(
        longest=120,
        spelling=Spelling(
            r"[A-Za-z0-9][A-Za-z0-9._:/@+-]*",
            _("use letters, digits and . _ : / @ + - only."),
        ),
        label=_("Served model name"),
        help_text=_(
            "What clients write as “model” in a request (--served-model-name). Left empty, the planner takes the model's own name."
        ),
    )
    tokens = NumberField(
        low=1,
        high=64,
        label=_("num_speculative_tokens"),
        help_text=_(
            "Tokens drafted per step. Each one more costs a draft, and is accepted less often than the one before."
        ),
        unit=_("tokens"),
    )
    topology = OneOfField(
        choices=[
            (Topology.COMBINED.value, _("Combined")),
            (Topology.DISAGGREGATED.value, _("Prefill and decode apart")),
        ],
        label=_("Topology"),
        help_text=_(
            "Combined, every host reads prompts and writes replies. Apart, prefill hosts read prompts and hand the KV cache to decode hosts, which write the replies; only decode gains from drafting."
        ),
    )
    prefill_host = NamesField(
        label=_("Prefill hosts"),
        help_text=_(
            "These read the prompts. They carry the same drafter as decode, where it has weights."
        ),
    )
    decode_host = NamesField(
        label=_("Decode hosts"),
        help_text=_("These write the replies. Here drafting pays."),
    )
    image_source = OneOfField(
        choices=[
            (PLATFORM_IMAGE, _("The platform's image")),
            (PRACTICE_IMAGE, _("The practice image")),
            (OWN_IMAGE, _("Another image")),
        ],
        label=_("Image"),
        help_text=_(
            "What the containers run. The practice image serves no real model: it prints recorded lines of a real engine, to try the panel without accelerators."
        ),
    )
    image = TextField(
        longest=255,
        spelling=Spelling(
            r"[a-z0-9][A-Za-z0-9._/:@-]*",
            _("write an image reference such as registry.example/vllm-openai:v0.32.0."),
        ),
        label=_("Image reference"),
        help_text=_(
            "With “Another image”: repository with tag or digest. The cluster's image rewrites still apply."
        ),
    )
    engine = OneOfField(
        choices=engine_choices(),
        label=_("Engine version"),
        help_text=_(
            "The release that the image holds. It decides which flags and methods exist; the profile of each is read from its own sources."
        ),
        widget=forms.Select,
    )
    max_model_len = NumberField(
        low=1,
        high=10_000_000,
        label=_("max_model_len"),
        help_text=_(
            "Longest prompt and reply together. Longer needs more KV cache for each request."
        ),
        unit=_("tokens"),
    )
    max_num_seqs = NumberField(
        low=1,
        high=65_536,
        label=_("max_num_seqs"),
        help_text=_(
            "Requests in one step of one rank. With drafting a request counts num_speculative_tokens + 1 tokens in each step."
        ),
        unit=_("requests"),
    )
    max_num_batched_tokens = NumberField(
        low=1,
        high=10_000_000,
        label=_("max_num_batched_tokens"),
        help_text=_(
            "Tokens in one step of one rank; long prompts are cut into such pieces. A decode host needs max_num_seqs times (num_speculative_tokens + 1)."
        ),
        unit=_("tokens"),
    )
    memory_percent = NumberField(
        low=1,
        high=99,
        label=_("Memory share"),
        help_text=_(
            "Part of each device's memory that the engine may use (gpu_memory_utilization). What weights leave of it is KV cache."
        ),
        unit="%",
    )
    api_key = OneOfField(
        choices=[("", _("None")), (OPEN, _("None, on purpose"))],
        label=_("API key of the endpoint"),
        help_text=_(
            "A stored secret that clients must send. The plan holds its name; exported files ask for the key itself."
        ),
        widget=forms.Select,
    )
    features = SwitchesField(
        label=_("Feature switches"),
        help_text=_(
            "What the model can do besides writing text. The catalog knows the flags of each, and what is on unasked."
        ),
    )
    extra_flags = FlagsField(
        longest=LONGEST,
        label=_("Extra flags"),
        help_text=_(
            "One flag a line, such as --max-logprobs 5. Each is checked against the engine version; flags that the panel sets itself are refused."
        ),
        widget=forms.Textarea(attrs={"rows": 4}),
    )
    environment = EnvironmentField(
        longest=LONGEST_ENVIRONMENT,
        label=_("Environment variables"),
        help_text=_(
            "NAME=value, one a line, for the engines' containers. What the plan sets itself, what loads code and secrets are refused."
        ),
        widget=forms.Textarea(attrs={"rows": 3}),
    )


def _role_number(
    low: int, high: int, label: "StrOrPromise", help_text: "StrOrPromise"
) -> NumberField:
    return NumberField(low=low, high=high, label=label, help_text=help_text)


def role_fields(role: str) -> dict[str, forms.Field]:
    """The numbers of one role, named ``<role>_<setting>``."""
    fields: dict[str, forms.Field] = {
        f"{role}_devices": _role_number(
            1,
            64,
            _("Devices on each host"),
            _(
                "Accelerators that the role takes on each of its hosts. On Ascend every die counts as one."
            ),
        ),
        f"{role}_tp": _role_number(
            1,
            1024,
            _("Tensor parallel size"),
            _(
                "Devices that share one copy of the weights. More of them hold a larger model, and spend more time talking."
            ),
        ),
        f"{role}_dp": _role_number(
            1,
            4096,
            _("Data parallel size"),
            _(
                "Ranks that each serve requests of their own. Experts are shared between them where expert parallelism is on."
            ),
        ),
        f"{role}_pp": _role_number(
            1,
            64,
            _("Pipeline parallel size"),
            _(
                "Stages that the layers are cut into, on devices of one host. Few ways of drafting go with more than one."
            ),
        ),
        f"{role}_port": _role_number(
            1,
            65_535,
            _("Port"),
            _(
                "Host port of the role's first API server. Left empty, the planner takes a free one."
            ),
        ),
    }
    if role != "combined":
        fields[f"{role}_tokens"] = _role_number(
            0,
            64,
            _("num_speculative_tokens"),
            _(
                "Tokens drafted per step in this role, where it differs. 0 leaves drafting out of it."
            ),
        )
    return fields
