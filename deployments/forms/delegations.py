"""An absence as a form: who decides in which team, and until when."""

from collections.abc import Iterable
from datetime import datetime, time, timedelta

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from deployments.models import Membership


class AbsenceForm(forms.Form):
    """One member of one of the person's teams, and the last day."""

    member = forms.ChoiceField(label=_("Who decides for you"))
    last_day = forms.DateField(
        label=_("Until the end of"),
        widget=forms.DateInput(attrs={"class": "field", "type": "date"}),
        help_text=_("A day in your time zone, at most 90 days ahead."),
    )

    def __init__(
        self, data: object = None, *, members: Iterable[Membership] = ()
    ) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        self._members = {str(one.pk): one for one in members}
        choices = [(pk, f"{one.team}: {one.user}") for pk, one in self._members.items()]
        self.fields["member"].choices = choices  # type: ignore[attr-defined]

    @property
    def chosen(self) -> Membership:
        """Who decides, and in which team."""
        return self._members[self.cleaned_data["member"]]

    @property
    def ends_at(self) -> datetime:
        """The midnight that ends the last day."""
        day = self.cleaned_data["last_day"] + timedelta(days=1)
        return timezone.make_aware(datetime.combine(day, time.min))
