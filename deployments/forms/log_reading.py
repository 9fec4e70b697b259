"""What is read: a log, a scrape of metrics or a benchmark's output, pasted or as a file."""

from datetime import timedelta, timezone

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from deployments.forms.check import platform_title
from deployments.forms.launch_link import packed, unpacked
from deployments.planning.rules.launch.settings import PLATFORM_NAMES

LARGEST_BYTES = 16 * 1024 * 1024
LARGEST_PASTE = "1 MB"
FIRST_YEAR, LAST_YEAR = 2020, 2100
_OFFSETS = (-480, -300, 0, 60, 120, 330, 420, 480, 540, 600)
"""Minutes east of UTC that teams most often live at."""


def _named(minutes: int) -> str:
    hours, rest = divmod(abs(minutes), 60)
    sign = "-" if minutes < 0 else "+"
    return f"UTC{sign}{hours:02d}:{rest:02d}" if minutes else "UTC"


class LogForm(forms.Form):
    """A log pasted or as a file, and what is known about it that it may not say."""

    content = forms.CharField(
        required=False,
        strip=False,
        label=_("Log, metrics or benchmark output"),
        help_text=_("Nothing is stored. More than 1 MB goes into a file."),
        widget=forms.Textarea(
            attrs={
                "rows": 10,
                "spellcheck": "false",
                "autocapitalize": "off",
                "autocomplete": "off",
            }
        ),
    )
    upload = forms.FileField(
        required=False,
        allow_empty_file=True,
        label=_("Or a file"),
        help_text=_("At most 16 MB. It is read in place of the text above."),
    )
    platform = forms.ChoiceField(
        required=False,
        label=_("Platform"),
        choices=[
            ("", _("As the input shows")),
            *((name, platform_title(name)) for name in PLATFORM_NAMES),
        ],
    )
    year = forms.IntegerField(
        required=False,
        min_value=FIRST_YEAR,
        max_value=LAST_YEAR,
        label=_("Year of the log"),
        help_text=_("vLLM prints month and day only."),
    )
    zone = forms.ChoiceField(
        required=False,
        label=_("Time zone of the log"),
        choices=[
            ("", _("Not known")),
            *((str(minutes), _named(minutes)) for minutes in _OFFSETS),
        ],
    )

    def clean(self) -> None:
        """Take the file before the text; one of them must be there, and not be too large."""
        upload = self.cleaned_data.get("upload")
        content: bytes = (self.cleaned_data.get("content") or "").encode(
            "utf-8", "replace"
        )
        if upload is not None:
            content = upload.read(LARGEST_BYTES + 1)
        if len(content) > LARGEST_BYTES:
            self.add_error(
                "upload",
                _(
                    "The file is larger than 16 MB: send its last part, such as “tail -c 16M”, or read it with manage.py read_log."
                ),
            )
        elif not content.strip() and not self.errors:
            self.add_error("content", _("Paste a log, or choose a file."))
        self.cleaned_data["log"] = content

    @property
    def log(self) -> bytes:
        """What is read."""
        found = self.cleaned_data["log"]
        return found if isinstance(found, bytes) else b""

    @property
    def platform_name(self) -> str:
        """The platform that was chosen; empty for none."""
        return str(self.cleaned_data.get("platform") or "")

    @property
    def year_given(self) -> int | None:
        """The year that the log does not print."""
        year = self.cleaned_data.get("year")
        return year if isinstance(year, int) else None

    @property
    def zone_given(self) -> timezone | None:
        """The time zone that the log does not print."""
        minutes = self.cleaned_data.get("zone")
        return timezone(timedelta(minutes=int(minutes))) if minutes else None


def linked_log(query: QueryDict) -> LogForm:
    """The form that a link fills; its content is empty where nobody can unpack it."""
    fields = {name: query.get(name, "") for name in ("platform", "year", "zone")}
    return LogForm({**fields, "content": unpacked(query.get("log", "")) or ""})


def log_query(text: str, form: LogForm) -> str:
    """The query that shows the answer to this input again; empty where it is too long."""
    said = {
        name: str(form.cleaned_data.get(name) or "")
        for name in ("platform", "year", "zone")
    }
    return packed("log", text, said)
