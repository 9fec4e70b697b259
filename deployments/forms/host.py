"""What the Docker Engine of a host cannot tell: where it is reached, and where the weights lie."""

import ipaddress
import re

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from deployments.forms.directories import DirectoryField
from deployments.models import Host
from deployments.services.hosts import HostFacts

HOST_NAME = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*\Z")
INTERFACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,14}\Z")


class HostForm(forms.Form):
    """Facts that a team admin enters by hand; each goes into plans and their digests."""

    model_root = DirectoryField(
        required=False,
        max_length=255,
        label=gettext_lazy("Model directory"),
        help_text=gettext_lazy(
            "The directory on this host that holds one directory per checkpoint; plans mount from it, read-only."
        ),
    )
    address = forms.CharField(
        required=False,
        max_length=255,
        label=gettext_lazy("Address"),
        help_text=gettext_lazy(
            "What clients and other hosts reach: an IP address or a name. Replicas on several hosts need it."
        ),
    )
    interface = forms.CharField(
        required=False,
        max_length=15,
        label=gettext_lazy("Network interface"),
        help_text=gettext_lazy(
            "The interface that carries this address, such as eth0. Gloo, HCCL and NCCL are bound to it when a plan spans hosts."
        ),
    )

    def clean_address(self) -> str:
        """An IP address or a host name.

        Raises:
            ValidationError: it is neither.
        """
        address: str = self.cleaned_data["address"]
        if not address or HOST_NAME.match(address):
            return address
        try:
            return str(ipaddress.ip_address(address))
        except ValueError as error:
            raise ValidationError(
                _("“%(address)s” is no address; write 192.0.2.10 or gpu-01.example.")
                % {"address": address}
            ) from error

    def clean_interface(self) -> str:
        """A name that Linux gives to an interface.

        Raises:
            ValidationError: Linux has no such names.
        """
        name: str = self.cleaned_data["interface"]
        if name and not INTERFACE.match(name):
            raise ValidationError(
                _("“%(name)s” is no interface name; `ip link` on the host lists them.")
                % {"name": name}
            )
        return name

    @staticmethod
    def initial_of(host: Host) -> dict[str, str]:
        """The facts as they stand."""
        return {
            "model_root": host.model_root,
            "address": host.address,
            "interface": host.interface,
        }

    @property
    def facts(self) -> HostFacts:
        """The facts of a valid form."""
        return HostFacts(**self.cleaned_data)
