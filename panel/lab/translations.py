"""Message catalogs: made ready for use with Babel, so that nobody needs gettext to run."""

from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

__all__ = ["compile_catalogs"]

LOCALES = Path(__file__).resolve().parent.parent.parent / "locale"


def compile_catalogs(directory: Path = LOCALES) -> int:
    """Compile each catalog that is newer than its compiled form; return how many."""
    done = 0
    for source in sorted(directory.glob("*/LC_MESSAGES/*.po")):
        target = source.with_suffix(".mo")
        if target.exists() and target.stat().st_mtime >= source.stat().st_mtime:
            continue
        with source.open("rb") as file:
            catalog = read_po(file, locale=source.parent.parent.name)
        draft = target.with_suffix(".mo.new")
        with draft.open("wb") as file:
            write_mo(file, catalog)
        draft.replace(target)
        done += 1
    return done


if __name__ == "__main__":
    compile_catalogs()
