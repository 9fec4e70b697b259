"""What the first request of a web worker would else wait for: addresses, words, templates."""

from importlib import import_module
from pathlib import Path

from django.conf import settings
from django.template import engines
from django.template.backends.django import DjangoTemplates
from django.template.loader import get_template
from django.urls import reverse
from django.utils import translation

__all__ = ["read_ahead"]


def read_ahead() -> None:
    """Read them now; no database is asked, so a worker starts without one."""
    import_module(settings.ROOT_URLCONF)
    for language, _name in settings.LANGUAGES:
        # Django reads a catalog, and orders the addresses, once for each language.
        with translation.override(language):
            translation.gettext("Draftboard")
            reverse("overview")
    for engine in engines.all():
        if isinstance(engine, DjangoTemplates):
            for folder in map(Path, engine.dirs):
                for path in sorted(folder.rglob("*.html")):
                    get_template(path.relative_to(folder).as_posix())
