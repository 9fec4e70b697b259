"""Brings the data of a lab up to date before anything is served."""

import io
import json
import os
import sys

import django
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command

from panel.lab.translations import compile_catalogs

__all__ = ["PASSWORD_PREFIX", "main"]

PASSWORD_PREFIX = "one-time-password "  # noqa: S105 - how a line begins, no password


def main() -> int:
    """Run each step, print what a person should know; return the exit status.

    The line with the new password, if there is one, is the last one and begins with
    ``PASSWORD_PREFIX``: the caller shows it at the end.
    """
    compile_catalogs()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "panel.settings")
    try:
        django.setup()
    except (ImproperlyConfigured, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    try:
        _run("migrate", verbosity=0, interactive=False)
        _run("createcachetable")
        _say(_run("load_catalog"))
        first = json.loads(_run("bootstrap", "--json"))
        _say(_run("register_local_host"))
        _run("collectstatic", verbosity=0, interactive=False)
    except CommandError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if first["password"]:
        _say(PASSWORD_PREFIX + json.dumps(first))
    return 0


def _run(name: str, *arguments: str, **options: object) -> str:
    """Run a management command and return what it printed."""
    output = io.StringIO()
    call_command(name, *arguments, stdout=output, **options)
    return output.getvalue().strip()


def _say(text: str) -> None:
    if text:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
