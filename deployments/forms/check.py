"""What is checked, and for which platform and engine; empty choices are guessed from the input."""

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from deployments.forms.launch_link import unpacked
from deployments.planning.engines.profile import VLLM, VLLM_ASCEND
from deployments.planning.importing.limits import LARGEST_BYTES
from deployments.planning.platforms import PLATFORMS
from deployments.planning.rules.launch.settings import PLATFORM_NAMES, LintSettings
from deployments.selectors.engine_profiles import own_profiles_for

LONGEST_VERSION = 40
_WIDE = {"cuda": "CUDA", "rocm": "ROCm", "xpu": "XPU", "ascend": "Ascend"}


def platform_title(name: str) -> str:
    """The name of a platform, or of a family of them, for people."""
    known = PLATFORMS.get(name)
    return _WIDE.get(name) or (str(known.title) if known else name)


class CheckForm(forms.Form):
    """An input pasted or as a file of at most 1 MB, and what is known about where it runs."""

    content = forms.CharField(
        required=False,
        strip=False,
        label=_("Command, script, docker run line, compose file or manifest"),
        help_text=_(
            "Nothing in it is run, and nothing is stored. What stands below a line “--- output ---” is read as the program's log."
        ),
        widget=forms.Textarea(
            attrs={
                "rows": 12,
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
        help_text=_("At most 1 MB. It is read in place of the text above."),
    )
    platform = forms.ChoiceField(
        required=False,
        label=_("Platform"),
        choices=[
            ("", _("As the input shows")),
            *((name, platform_title(name)) for name in PLATFORM_NAMES),
        ],
    )
    engine = forms.ChoiceField(
        required=False,
        label=_("Engine"),
        choices=[
            ("", _("As the input shows")),
            (VLLM, VLLM),
            (VLLM_ASCEND, VLLM_ASCEND),
        ],
    )
    version = forms.CharField(
        required=False,
        max_length=LONGEST_VERSION,
        label=_("Engine version"),
        help_text=_(
            "Such as 0.32.0, 0.23.0rc1 or 0.20.x. Left empty, the image tag says."
        ),
    )

    def clean(self) -> None:
        """Take the file before the text; one of them must be there."""
        upload = self.cleaned_data.get("upload")
        content: bytes = (self.cleaned_data.get("content") or "").encode(
            "utf-8", "replace"
        )
        if upload is not None:
            content = upload.read(LARGEST_BYTES + 1)
        if not content.strip() and not self.errors:
            self.add_error("content", _("Paste a launch, or choose a file."))
        self.cleaned_data["launch"] = content.replace(b"\r\n", b"\n")

    @property
    def launch(self) -> bytes:
        """What is checked."""
        found = self.cleaned_data["launch"]
        return found if isinstance(found, bytes) else b""

    def settings(self) -> LintSettings:
        """What is said about platform and engine.

        Raises:
            PlanningError: the own profile of that version cannot be read by this panel.
        """
        value = self.cleaned_data.get
        engine = value("engine") or None
        version = (value("version") or "").strip() or None
        return LintSettings(
            platform=value("platform") or None,
            engine=engine,
            engine_version=version,
            own=own_profiles_for(f"{engine or VLLM}=={version}" if version else None),
        )


def linked_form(query: QueryDict) -> CheckForm:
    """The form that a link of this panel fills; its content is empty where nobody can unpack it."""
    fields = {name: query.get(name, "") for name in ("platform", "engine", "version")}
    return CheckForm({**fields, "content": unpacked(query.get("launch", "")) or ""})
