"""Where in its containers the engines of a deployment log to, when not to standard output."""

import posixpath

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from deployments.models import FileLog
from deployments.models.file_log import path_in

FORBIDDEN = ("/proc", "/sys", "/dev")
LONGEST_ROLE = "combined"
LONGEST = FileLog._meta.get_field("path").max_length


class FileLogForm(forms.Form):
    """The path; empty is standard output."""

    path = forms.CharField(
        label=_("Log file in the container"),
        max_length=LONGEST,
        required=False,
        help_text=_(
            "Such as /workspace/logs/{role}_rank{rank}.log, where a replica's own role and rank are "
            "put in. Empty: standard output, as everything that the panel plans does."
        ),
        widget=forms.TextInput(attrs={"class": "field", "spellcheck": "false"}),
    )

    def clean_path(self) -> str:
        """An absolute path as it is written shortest, of a file that could be a log."""
        path = str(self.cleaned_data["path"]).strip()
        if not path:
            return ""
        if not path.startswith("/") or path.endswith("/"):
            raise ValidationError(
                _("Name the file by its whole path, which begins with a slash.")
            )
        if not path.isprintable() or ".." in path.split("/"):
            raise ValidationError(
                _(
                    "Name the file itself: no “..” and no control characters in its path."
                )
            )
        short = "/" + posixpath.normpath(path).lstrip("/")
        if any(short == one or short.startswith(f"{one}/") for one in FORBIDDEN):
            raise ValidationError(
                _("Nothing below /proc, /sys or /dev is a log: name another file.")
            )
        filled = path_in(short, LONGEST_ROLE, 9999)
        if "{" in filled or "}" in filled or len(filled) > (LONGEST or 0):
            raise ValidationError(
                _(
                    "Of words in braces only {role} and {rank} are put in: write the rest of a "
                    "path of at most %(longest)d characters as it is."
                )
                % {"longest": LONGEST}
            )
        return short
