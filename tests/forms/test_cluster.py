"""Reading a policy from lines of text."""

import pytest

from deployments.forms.cluster import ClusterForm
from deployments.services.clusters import ClusterPolicy

REWRITES = "vllm/vllm-openai -> registry.example/a\n\n quay.io/->registry.example/q/ "


def form(**changes: str) -> ClusterForm:
    """The form with these fields filled."""
    return ClusterForm({"shown_version": "1", **changes})


def test_lines_become_a_policy_and_back() -> None:
    """Empty lines and spaces do not matter; order does."""
    read = form(
        image_rewrites=REWRITES,
        model_roots="/data/models/\n/data/models\n/var/models",
        split_cards="on",
        log_root="/data/logs/",
    )
    assert read.is_valid(), read.errors
    assert read.policy == ClusterPolicy(
        requires_other_approver=False,
        image_rewrites=(
            ("vllm/vllm-openai", "registry.example/a"),
            ("quay.io/", "registry.example/q/"),
        ),
        model_roots=("/data/models", "/var/models"),
        split_cards=True,
        log_root="/data/logs",
    )
    initial = ClusterForm.initial_of(read.policy, 3)
    again = ClusterForm({key: str(value) for key, value in initial.items() if value})
    assert again.is_valid(), again.errors
    assert again.policy == read.policy
    assert again.cleaned_data["shown_version"] == 3


@pytest.mark.parametrize(
    "line",
    ["vllm/vllm-openai", "-> there", "here ->", "two words -> there", "a -> b\na -> c"],
)
def test_a_line_that_is_no_rewrite_is_refused(line: str) -> None:
    """The message shows the line and how to write one."""
    assert "image_rewrites" in form(image_rewrites=line).errors


@pytest.mark.parametrize(
    "path",
    [
        *("models", "/", "//", "/data/../etc", "/a:b", "/a,b", "/a//b"),
        *("/etc", "/var/run/docker.sock", "/proc/1", "/dev", "/root/x", "/var"),
    ],
)
def test_a_directory_that_plans_must_not_mount_is_refused(path: str) -> None:
    """Relative, climbing, with what mounts split at, or the system's own."""
    assert "model_roots" in form(model_roots=path).errors


def test_log_files_go_to_a_plain_directory_or_where_they_usually_do() -> None:
    """Nothing written means the usual place, never no place."""
    empty = form()
    assert empty.is_valid(), empty.errors
    assert empty.policy.log_root == "/var/log/draftboard"
    for path in ("logs", "/", "/a:b", "/etc", "/var/lib/x"):
        assert "log_root" in form(log_root=path).errors


def test_an_endless_text_is_refused() -> None:
    """A policy is some lines, not a file."""
    assert "model_roots" in form(model_roots="/a\n" * 5000).errors
