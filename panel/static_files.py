"""How static files are stored: hashed, compressed, and a style sheet with its imports in it.

A browser asks for each imported sheet one after the other before it paints. The sheets stay apart
in the source, where each is a room of its own; what is served holds them all.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from django.core.files.storage import Storage
from whitenoise.storage import CompressedManifestStaticFilesStorage

IMPORT = re.compile(r'@import url\("(?P<name>[\w./-]+\.css)"\);\n')

Sources = Mapping[str, tuple[Storage, str]]
"""The storage of the source and the path in it, by the name of a static file."""


class StaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Puts imported style sheets in the place of their ``@import`` before files are hashed."""

    def post_process(
        self,
        paths: Sources,
        dry_run: bool = False,  # noqa: FBT001, FBT002 (Django's own signature)
        **options: object,
    ) -> Iterator[Any]:
        """Write the sheets that import others, then go on as before.

        Raises:
            KeyError: a sheet imports one that is not there; the message is its name.
        """
        sources = dict(paths)
        if not dry_run:
            for name in paths:
                if name.endswith(".css") and (text := whole_sheet(name, paths)):
                    Path(self.path(name)).write_text(text)
                    # Django hashes what it reads from here, which is now the collected file.
                    sources[name] = (self, name)
        yield from super().post_process(sources, dry_run, **options)


def whole_sheet(name: str, sources: Sources) -> str | None:
    """Give the sheet with its imports in their place; None where it has none.

    Raises:
        KeyError: it imports a sheet that is not among the sources.
    """
    text = _read(name, sources)
    folder = PurePosixPath(name).parent
    whole = IMPORT.sub(lambda found: _read(str(folder / found["name"]), sources), text)
    return None if whole == text else whole


def _read(name: str, sources: Sources) -> str:
    storage, path = sources[name]
    with storage.open(path) as source:
        content: bytes = source.read()
    return content.decode()
