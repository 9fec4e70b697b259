#!/usr/bin/env python
"""The command line of the panel; works in a checkout without any configuration."""

import os
import sys

from panel.lab.defaults import apply_lab_defaults


def main() -> None:
    """Run one management command, with the lab's settings where none are given."""
    apply_lab_defaults()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "panel.settings")
    from django.core.management import execute_from_command_line  # noqa: PLC0415

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
