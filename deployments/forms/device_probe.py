"""How the hosts of a cluster are probed for accelerators."""

import re

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from deployments.models import ProbeSettings
from deployments.services.probe_settings import ProbeChoice

REFERENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,254}\Z")


class ProbeForm(forms.Form):
    """What a team admin decides."""

    image = forms.CharField(
        required=False,
        max_length=255,
        label=gettext_lazy("Image of the probe"),
        help_text=gettext_lazy(
            "Any image with /bin/sh that is on the hosts; on AMD one with rocm-smi. Empty: the image of the engine itself, where a host has it."
        ),
        widget=forms.TextInput(attrs={"spellcheck": "false"}),
    )
    repeats = forms.BooleanField(
        required=False,
        label=gettext_lazy("Look at the devices every ten minutes"),
        help_text=gettext_lazy(
            "Otherwise only when somebody asks on the page of a host."
        ),
    )
    privileged = forms.BooleanField(
        required=False,
        label=gettext_lazy("The probe may look at devices that others hold"),
        help_text=gettext_lazy(
            "On Ascend its container is then privileged, and a device belongs to the container that used it first: leave this off unless that is known to be harmless on these hosts."
        ),
    )

    def clean_image(self) -> str:
        """A reference as Docker writes it, or nothing.

        Raises:
            ValidationError: it is no reference.
        """
        image: str = self.cleaned_data["image"]
        if image and REFERENCE.match(image) is None:
            raise ValidationError(
                _(
                    "“%(image)s” is no image; write registry.example/vllm-ascend:v0.23.0."
                )
                % {"image": image}
            )
        return image

    @staticmethod
    def initial_of(settings: ProbeSettings) -> dict[str, object]:
        """The settings as they stand."""
        return {
            "image": settings.image,
            "repeats": settings.repeats,
            "privileged": settings.privileged,
        }

    @property
    def choice(self) -> ProbeChoice:
        """The choice of a valid form."""
        return ProbeChoice(**self.cleaned_data)
