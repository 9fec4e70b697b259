"""How a host is reached: its address, and credentials that are written and never shown again."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext_lazy

from deployments.models import Cluster, Platform
from deployments.planning.engine_address import (
    DOCKER_SOCKET,
    SSH_PORT,
    TLS_PORT,
    EngineAddress,
    Way,
    read_address,
    read_name,
    read_port,
    read_user,
)
from deployments.planning.errors import PlanningError
from deployments.selectors.texts import say_error
from deployments.services.host_credentials import (
    LONGEST_PEM,
    CredentialsError,
    HostCredentials,
    ssh_credentials,
    tls_credentials,
)
from deployments.services.hosts import NewHost

HOST_SLUG_LONGEST = 63


class SecretArea(forms.Textarea):
    """A text area that never shows what was typed into it again."""

    def format_value(self, value: object) -> str | None:
        """Nothing, whatever was entered."""
        del value
        return None


_AREA = {
    "rows": 5,
    "class": "mono",
    "spellcheck": "false",
    "autocomplete": "off",
}
_Read = TypeVar("_Read")


class WayForm(forms.Form):
    """The address of a Docker Engine and what opens it; ``way`` decides which fields there are."""

    reached = forms.CharField(
        max_length=253,
        label=gettext_lazy("Name or IP address"),
        help_text=gettext_lazy(
            "As the certificate of the host names it, or as SSH reaches it."
        ),
    )
    port = forms.CharField(max_length=5, label=gettext_lazy("Port"))
    user = forms.CharField(
        max_length=32,
        label=gettext_lazy("Account"),
        help_text=gettext_lazy(
            "A member of the group docker, or root. Either may do everything on that machine."
        ),
    )
    socket = forms.CharField(
        max_length=100,
        label=gettext_lazy("Docker's socket on the host"),
    )
    authority = forms.CharField(
        required=False,
        max_length=LONGEST_PEM,
        label=gettext_lazy("Authority (CA) of the host's certificate"),
        help_text=gettext_lazy("PEM. The panel trusts this one and no other."),
        widget=forms.Textarea(attrs=_AREA),
    )
    certificate = forms.CharField(
        required=False,
        max_length=LONGEST_PEM,
        label=gettext_lazy("Client certificate of the panel"),
        help_text=gettext_lazy(
            "PEM, issued for client authentication by the CA in dockerd's --tlscacert."
        ),
        widget=forms.Textarea(attrs=_AREA),
    )
    key = forms.CharField(
        required=False,
        max_length=LONGEST_PEM,
        label=gettext_lazy("Private key"),
        help_text=gettext_lazy(
            "Without a passphrase. It is encrypted, and nobody sees it again."
        ),
        widget=SecretArea(attrs=_AREA),
    )

    def __init__(
        self,
        data: QueryDict | None,
        way: Way,
        *,
        initial: dict[str, object] | None = None,
        keeps: bool = False,
    ) -> None:
        """``keeps`` allows empty credentials where some are kept already."""
        port = TLS_PORT if way is Way.TLS else SSH_PORT
        defaults: dict[str, object] = {"port": port, "socket": DOCKER_SOCKET}
        super().__init__(data, initial={**defaults, **(initial or {})}, label_suffix="")
        self.way, self.keeps = way, keeps
        self.address: EngineAddress | None = None
        self.credentials: HostCredentials | None = None
        unused = ("user", "socket") if way is Way.TLS else ("authority", "certificate")
        for name in unused:
            del self.fields[name]
        if way is Way.SSH:
            self.fields["key"].help_text = gettext_lazy(
                "Leave it empty and the panel makes a key for this host; the next page shows its public half."
            )

    def clean_reached(self) -> str:
        """A name or an IP address.

        Raises:
            ValidationError: it is neither.
        """
        return _read(read_name, self.cleaned_data["reached"].strip("[] "))

    def clean_port(self) -> int:
        """A port.

        Raises:
            ValidationError: it is none.
        """
        return _read(read_port, self.cleaned_data["port"].strip())

    def clean_user(self) -> str:
        """An account.

        Raises:
            ValidationError: it is none.
        """
        return _read(read_user, self.cleaned_data["user"].strip())

    def clean_socket(self) -> str:
        """A plain path.

        Raises:
            ValidationError: it is none.
        """
        return _read(read_address, f"unix://{self.cleaned_data['socket'].strip()}").path

    def clean(self) -> dict[str, Any]:
        """Put the address together and read the credentials; errors stand at their fields."""
        cleaned: dict[str, Any] = super().clean() or {}
        if not self.errors:
            self.address = EngineAddress(
                way=self.way,
                name=cleaned["reached"],
                port=cleaned["port"],
                user=cleaned.get("user", ""),
                path=cleaned.get("socket", ""),
            )
        given = [cleaned.get(name) for name in ("authority", "certificate", "key")]
        if self.keeps and not any(given):
            return cleaned
        try:
            self.credentials = (
                tls_credentials(*(words or "" for words in given))
                if self.way is Way.TLS
                else ssh_credentials(cleaned.get("key") or "")
            )
        except CredentialsError as error:
            self.add_error(error.field, str(error))
        return cleaned


class NewHostForm(WayForm):
    """A host that is to be added to a cluster."""

    cluster = forms.ChoiceField(label=gettext_lazy("Cluster"))
    name = forms.SlugField(
        max_length=HOST_SLUG_LONGEST,
        label=gettext_lazy("Name in the panel"),
        help_text=gettext_lazy("Letters, digits, dash and underscore, such as gpu-01."),
    )
    platform = forms.ChoiceField(
        choices=Platform.choices, label=gettext_lazy("Platform")
    )
    field_order = (
        "cluster", "name", "platform", "reached", "port", "user", "socket", "authority",
        "certificate", "key",
    )  # fmt: skip

    def __init__(
        self,
        data: QueryDict | None,
        way: Way,
        clusters: Iterable[Cluster],
        *,
        initial: dict[str, object] | None = None,
    ) -> None:
        super().__init__(data, way, initial=initial)
        self.clusters = {str(one.pk): one for one in clusters}
        field = self.fields["cluster"]
        if isinstance(field, forms.ChoiceField):
            field.choices = [
                (key, f"{one.team.name} / {one.name}")
                for key, one in self.clusters.items()
            ]

    @property
    def new_host(self) -> NewHost:
        """What a valid form asks for.

        Raises:
            ValueError: the form is not valid.
        """
        if self.address is None or self.credentials is None:
            raise ValueError("not valid")
        return NewHost(
            name=self.cleaned_data["name"],
            platform=Platform(self.cleaned_data["platform"]),
            address=self.address,
            credentials=self.credentials,
        )


class ShownForm(forms.Form):
    """What a page showed when somebody confirmed it."""

    shown = forms.CharField(max_length=1024, widget=forms.HiddenInput)


def initial_of(address: str) -> dict[str, object]:
    """The fields of a stored address."""
    place = read_address(address)
    return {
        "reached": place.name,
        "port": place.port,
        "user": place.user,
        "socket": place.path,
    }


def _read(reader: Callable[[str], _Read], words: str) -> _Read:
    try:
        return reader(words)
    except PlanningError as error:
        raise ValidationError(say_error(error)) from error
