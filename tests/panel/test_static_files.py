"""A style sheet that imports others is served as one, and changes its name when they change."""

from pathlib import Path

import pytest
from django.contrib.staticfiles.finders import get_finders
from django.core.files.storage import FileSystemStorage

from panel.static_files import Sources, StaticFiles, whole_sheet

SHEETS = {
    "css/all.css": '@import url("first.css");\n@import url("second.css");\np { top: 0 }\n',
    "css/first.css": "a { color: red }\n",
    "css/second.css": "b { color: blue }\n",
}


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    for name, text in SHEETS.items():
        sheet = tmp_path / "source" / name
        sheet.parent.mkdir(parents=True, exist_ok=True)
        sheet.write_text(text)
    storage = FileSystemStorage(tmp_path / "source")
    return {name: (storage, name) for name in SHEETS}


def collected(sources: Sources, place: Path) -> str:
    """Collect as ``collectstatic`` does; the name under which the sheet is served."""
    files = StaticFiles(location=str(place))
    for name, (storage, path) in sources.items():
        target = place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with storage.open(path) as source:
            target.write_bytes(source.read())
    for _name, _hashed, processed in files.post_process(sources):
        assert not isinstance(processed, Exception)
    return str(files.stored_name("css/all.css"))


def test_imports_stand_where_they_were_imported(sources: Sources) -> None:
    assert whole_sheet("css/all.css", sources) == (
        "a { color: red }\nb { color: blue }\np { top: 0 }\n"
    )


def test_a_sheet_without_imports_stays_as_it_is(sources: Sources) -> None:
    assert whole_sheet("css/first.css", sources) is None


def test_an_absent_import_is_named(sources: Sources) -> None:
    rest = {name: source for name, source in sources.items() if "first" not in name}
    with pytest.raises(KeyError, match=r"css/first\.css"):
        whole_sheet("css/all.css", rest)


def test_the_served_sheet_is_whole_and_follows_what_it_imports(
    sources: Sources, tmp_path: Path
) -> None:
    place = tmp_path / "served"
    before = collected(sources, place)
    assert (place / before).read_text() == whole_sheet("css/all.css", sources)

    (tmp_path / "source" / "css" / "second.css").write_text("b { color: green }\n")
    after = collected(sources, place)

    assert after != before
    assert "green" in (place / after).read_text()


def test_the_panels_own_sheet_imports_what_is_there() -> None:
    own = {
        name: (storage, name)
        for finder in get_finders()
        for name, storage in finder.list([])
        if name.startswith("css/")
    }
    sheet = whole_sheet("css/panel.css", own)
    assert sheet
    assert "@import" not in sheet
