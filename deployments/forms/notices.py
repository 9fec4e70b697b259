"""Channels for notices: where they lead, what they are to tell, in which language."""

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from deployments.forms.wizard.fields import printable
from deployments.models import ChannelKind, NoticeChannel, NoticeKind
from deployments.selectors.texts import say_error
from deployments.services.notices.channels import Destination, prove_destination
from deployments.services.notices.ways import BadAddressError

LONGEST_ADDRESS = 1000
WANTED = [(kind.value, kind.label) for kind in NoticeKind if kind != NoticeKind.TEST]
_SECRET = {"class": "field", "autocomplete": "new-password"}


class ChannelForm(forms.Form):
    """A new channel; a refused form comes back without address and key."""

    kind = forms.ChoiceField(
        choices=ChannelKind.choices, label=gettext_lazy("Way"), initial="email"
    )
    name = forms.CharField(
        max_length=60,
        label=gettext_lazy("Name"),
        widget=forms.TextInput(attrs={"class": "field", "autocomplete": "off"}),
    )
    address = forms.CharField(
        max_length=LONGEST_ADDRESS,
        label=gettext_lazy("Address"),
        help_text=gettext_lazy(
            "An e-mail address, or what the service shows for its bot, such as https://hooks.slack.com/services/…. Encrypted at once, and shown to nobody again."
        ),
        widget=forms.PasswordInput(attrs=_SECRET),
    )
    key = forms.CharField(
        required=False,
        max_length=200,
        label=gettext_lazy("Key"),
        help_text=gettext_lazy(
            "Needed for a signed webhook, 16 characters or more; for DingTalk the secret of a bot that asks for signatures. Others have none."
        ),
        widget=forms.PasswordInput(attrs=_SECRET),
    )
    events = forms.MultipleChoiceField(
        required=False,
        choices=WANTED,
        label=gettext_lazy("Tell of"),
        widget=forms.CheckboxSelectMultiple,
    )

    def clean_name(self) -> str:
        """The name.

        Raises:
            ValidationError: it holds signs that nobody sees.
        """
        name = " ".join(str(self.cleaned_data["name"]).split())
        if not printable(name):
            raise ValidationError(_("Use characters that can be seen."))
        return name

    def clean(self) -> None:
        """Prove that the address is one of the kind; a field that was refused is not looked at.

        Raises:
            ValidationError: it cannot be used.
        """
        super().clean()
        if self.errors or not self.cleaned_data.get("address"):
            return
        try:
            prove_destination(self.channel_kind, self.destination)
        except BadAddressError as error:
            self.add_error("address", say_error(error))

    @property
    def channel_kind(self) -> ChannelKind:
        """The way that was chosen."""
        return ChannelKind(self.cleaned_data["kind"])

    @property
    def destination(self) -> Destination:
        """Where it leads."""
        value = self.cleaned_data
        return Destination(value["address"], value.get("key", ""))

    @property
    def events_wanted(self) -> list[NoticeKind]:
        """What it is to tell of."""
        return [NoticeKind(one) for one in self.cleaned_data["events"]]


class ChannelChangeForm(ChannelForm):
    """What of a channel can be changed; without a new address the one it has stays."""

    def __init__(self, data: object = None, *, row: NoticeChannel) -> None:
        super().__init__(data, initial={"name": row.name, "events": row.events})  # type: ignore[arg-type]
        self._row = row
        del self.fields["kind"]
        self.fields["address"].required = False
        self.fields["address"].label = _("New address")
        self.fields["address"].help_text = _(
            "Empty keeps the one it has, with its key. A new address needs a new key."
        )
        self.fields["key"].label = _("New key")

    @property
    def channel_kind(self) -> ChannelKind:
        """The way that it was added with."""
        return ChannelKind(self._row.kind)

    @property
    def new_destination(self) -> Destination | None:
        """Where it leads from now on; ``None`` is where it did."""
        return self.destination if self.cleaned_data["address"] else None

    def clean_key(self) -> str:
        """The key.

        Raises:
            ValidationError: it comes without an address.
        """
        key = str(self.cleaned_data.get("key", ""))
        if key and not self.cleaned_data.get("address"):
            raise ValidationError(
                _("Enter the address anew, too: both are kept as one.")
            )
        return key


class NoticeLanguageForm(forms.Form):
    """The language of a team's channels."""

    language = forms.ChoiceField(
        choices=settings.LANGUAGES, label=gettext_lazy("Language of the notices")
    )
