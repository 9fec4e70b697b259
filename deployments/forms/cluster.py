"""The policy of a cluster, as lines of text that a person edits."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from deployments.forms.directories import DirectoryField, absolute_directory
from deployments.planning.snapshot import LOG_ROOT
from deployments.services.clusters import ClusterPolicy

ARROW = "->"
LARGEST_TEXT = 10_000


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


class RewritesField(forms.CharField):
    """Lines of ``prefix -> replacement``."""

    widget = forms.Textarea(attrs={"rows": 4, "spellcheck": "false"})

    def clean(self, value: object) -> tuple[tuple[str, str], ...]:
        """The pairs, in the order of the lines.

        Raises:
            ValidationError: a line without an arrow, an empty side, or a prefix twice.
        """
        pairs = [self._pair(line) for line in _lines(super().clean(value))]
        prefixes = [prefix for prefix, _replacement in pairs]
        for prefix in prefixes:
            if prefixes.count(prefix) > 1:
                raise ValidationError(
                    _("“%(prefix)s” stands twice; keep one of the lines.")
                    % {"prefix": prefix}
                )
        return tuple(pairs)

    def _pair(self, line: str) -> tuple[str, str]:
        prefix, arrow, replacement = (part.strip() for part in line.partition(ARROW))
        spaced = any(len(part.split()) != 1 for part in (prefix, replacement))
        if not arrow or spaced:
            raise ValidationError(
                _(
                    "“%(line)s” is no rewrite; write: vllm/vllm-openai -> registry.example/mirror/vllm-openai."
                )
                % {"line": line}
            )
        return prefix, replacement


class PathsField(forms.CharField):
    """Lines of absolute directories."""

    widget = forms.Textarea(attrs={"rows": 3, "spellcheck": "false"})

    def clean(self, value: object) -> tuple[str, ...]:
        """The directories without a slash at the end, each once.

        Raises:
            ValidationError: a path that is relative, the root, climbs, or is the system's.
        """
        paths = [absolute_directory(line) for line in _lines(super().clean(value))]
        return tuple(dict.fromkeys(paths))


class ClusterForm(forms.Form):
    """What a team admin decides for every plan on the cluster."""

    requires_other_approver = forms.BooleanField(
        required=False,
        label=gettext_lazy("A plan needs the approval of another person"),
        help_text=gettext_lazy(
            "Neither who submitted it nor who wrote the revision may then approve it. Open requests keep the rule they were made under."
        ),
    )
    image_rewrites = RewritesField(
        required=False,
        max_length=LARGEST_TEXT,
        label=gettext_lazy("Image rewrites"),
        help_text=gettext_lazy(
            "For sites without internet: one “prefix -> replacement” a line; the longest prefix that fits wins."
        ),
    )
    model_roots = PathsField(
        required=False,
        max_length=LARGEST_TEXT,
        label=gettext_lazy("Model directories"),
        help_text=gettext_lazy(
            "Directories on the hosts that plans may mount weights from, one a line."
        ),
    )
    log_root = DirectoryField(
        required=False,
        max_length=255,
        label=gettext_lazy("Directory for log files"),
        help_text=gettext_lazy(
            "On every host; below it each replica of a deployment on Ascend has its own directory, for CANN's plogs. Empty: /var/log/draftboard."
        ),
    )
    split_cards = forms.BooleanField(
        required=False,
        label=gettext_lazy("Deployments may share a card of Atlas A3"),
        help_text=gettext_lazy(
            "A card has two dies, and each counts as a device. Otherwise plans take whole cards."
        ),
    )
    example = forms.CharField(
        required=False,
        max_length=255,
        label=gettext_lazy("Try an image"),
        help_text=gettext_lazy("Shows what the rewrites above would make of it."),
    )
    shown_version = forms.IntegerField(widget=forms.HiddenInput)

    @staticmethod
    def initial_of(policy: ClusterPolicy, version: int) -> dict[str, Any]:
        """The policy as the fields show it."""
        rewrites = [f"{prefix} {ARROW} {to}" for prefix, to in policy.image_rewrites]
        return {
            "requires_other_approver": policy.requires_other_approver,
            "image_rewrites": "\n".join(rewrites),
            "model_roots": "\n".join(policy.model_roots),
            "split_cards": policy.split_cards,
            "log_root": policy.log_root,
            "shown_version": version,
        }

    @property
    def policy(self) -> ClusterPolicy:
        """The policy of a valid form."""
        return ClusterPolicy(
            requires_other_approver=self.cleaned_data["requires_other_approver"],
            image_rewrites=self.cleaned_data["image_rewrites"],
            model_roots=self.cleaned_data["model_roots"],
            split_cards=self.cleaned_data["split_cards"],
            log_root=self.cleaned_data["log_root"] or LOG_ROOT,
        )
