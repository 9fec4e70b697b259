"""The devices of a host: the output of its tool, or how many of what."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from deployments.planning.errors import PlanningError
from deployments.selectors.texts import say_error
from deployments.telemetry.accelerators import (
    LONGEST_OUTPUT,
    MOST_DEVICES,
    Accelerator,
    read_accelerators,
)

GIB = 1024**3
MOST_GIB = 4096


class HostDevicesForm(forms.Form):
    """Either the pasted output, or a number of equal devices."""

    output = forms.CharField(
        required=False,
        max_length=LONGEST_OUTPUT,
        label=gettext_lazy("Output of the host's tool"),
        help_text=gettext_lazy(
            "npu-smi info, nvidia-smi, or rocm-smi --showproductname --showmeminfo vram --csv; run it on the host itself, where every device is seen."
        ),
        widget=forms.Textarea(attrs={"rows": 10, "spellcheck": "false"}),
    )
    count = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=MOST_DEVICES,
        label=gettext_lazy("Or: number of devices"),
        help_text=gettext_lazy("On Atlas A3 dies, two a card. 0 for a host without."),
    )
    name = forms.CharField(
        required=False, max_length=80, label=gettext_lazy("Name of each")
    )
    memory = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_GIB,
        label=gettext_lazy("Memory of each in GiB"),
    )

    def clean(self) -> dict[str, Any]:
        """Read what was entered; the result is ``found``.

        Raises:
            ValidationError: neither of the two was entered, or the output shows no device.
        """
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        if cleaned.get("output"):
            try:
                self.found: Sequence[Accelerator] = read_accelerators(
                    cleaned["output"]
                ).devices
            except PlanningError as error:
                self.add_error("output", say_error(error))
            return cleaned
        if cleaned.get("count") is None:
            raise ValidationError(
                _("Paste an output, or say how many devices there are.")
            )
        memory = cleaned.get("memory")
        self.found = [
            Accelerator(
                number=number,
                name=cleaned.get("name") or "",
                memory_bytes=None if memory is None else memory * GIB,
            )
            for number in range(cleaned["count"])
        ]
        return cleaned
