"""A command for people to read: one flag with its value on a line."""

from collections.abc import Sequence

from deployments.planning.launch.script import BREAK, command_lines


def readable_command(command: Sequence[str]) -> str:
    """Write an argument vector as a shell command over several lines; pasted, it runs the same."""
    return BREAK.join(command_lines(command))
