"""Many profiles as one document: a base and what each release changes of the one before."""

import json
from collections.abc import Iterator, Mapping, Sequence

from deployments.planning.canonical import Json

Document = dict[str, Json]
NAMED = ("arguments", "keys", "spellings", "metrics")
"""Lists of entries with a ``name``; they are compared entry by entry."""
WITHOUT, WITH = "without", "with"
ON = "vllm_version"


def pack(documents: Sequence[Document], under: Mapping[str, Document]) -> Document:
    """Turn full documents, oldest first, into a base and differences.

    ``under`` are the documents of the vLLM releases below, by version: then every release is a
    difference to its own (``vllm_version``) and there is no base.
    """
    first = documents[0]
    previous = under.get(str(first[ON]), first)
    rows: list[Json] = []
    for document in documents if under else documents[1:]:
        previous = under.get(str(document[ON]), previous)
        rows.append(_difference(previous, document))
        previous = document
    packed: Document = {"engine": first["engine"]}
    if not under:
        packed["base"] = first
    packed["differences"] = rows
    return packed


def unpack(packed: Mapping[str, Json], under: Mapping[str, Document]) -> list[Document]:
    """Turn a base and differences back into full documents; entries are shared between them."""
    base = packed.get("base")
    found: list[Document] = [base] if isinstance(base, dict) else []
    rows = packed["differences"]
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict):
            below = under.get(str(row.get(ON)))
            found.append(_applied(below or found[-1], row))
    return found


def written(packed: Mapping[str, Json]) -> str:
    """The JSON text of a packed document, one entry a line so that a change reads as a change."""
    return "\n".join(_lines(packed, 0)) + "\n"


def _difference(old: Document, new: Document) -> Document:
    row: Document = {"version": new["version"], ON: new[ON]}
    for field, value in new.items():
        if field in NAMED:
            change = _named_change(_by_name(old[field]), _by_name(value))
            if change:
                row[field] = change
        elif old.get(field) != value and field not in row:
            row[field] = value
    return row


def _named_change(old: dict[str, Json], new: dict[str, Json]) -> Document:
    change: Document = {}
    gone: list[Json] = [name for name in old if name not in new]
    come = [entry for name, entry in new.items() if old.get(name) != entry]
    if gone:
        change[WITHOUT] = gone
    if come:
        change[WITH] = come
    return change


def _applied(old: Document, row: Mapping[str, Json]) -> Document:
    new = {**old, **{field: row[field] for field in row if field not in NAMED}}
    for field in NAMED:
        change = row.get(field)
        if isinstance(change, dict):
            new[field] = _named_applied(old[field], change)
    return new


def _named_applied(listed: Json, change: Mapping[str, Json]) -> list[Json]:
    entries = _by_name(listed)
    gone = change.get(WITHOUT)
    for name in gone if isinstance(gone, list) else []:
        entries.pop(str(name), None)
    entries.update(_by_name(change.get(WITH)))
    return [entries[name] for name in sorted(entries)]


def _by_name(listed: Json) -> dict[str, Json]:
    rows = listed if isinstance(listed, list) else []
    return {str(row["name"]): row for row in rows if isinstance(row, dict)}


def _lines(value: Mapping[str, Json], depth: int) -> Iterator[str]:
    """Objects at depth, lists of objects with one entry a line, all else on one line."""
    pad = " " * depth
    yield f"{pad}{{" if depth == 0 else "{"
    last = len(value) - 1
    for position, (key, inner) in enumerate(value.items()):
        comma = "" if position == last else ","
        yield f"{pad} {json.dumps(key)}: {_text(inner, depth + 1)}{comma}"
    yield f"{pad}}}"


def _text(value: Json, depth: int) -> str:
    pad = " " * depth
    if isinstance(value, dict) and _is_wide(value):
        return "\n".join(_lines(value, depth)).lstrip()
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        rows = ",\n".join(f"{pad} {_text(item, depth + 1)}" for item in value)
        return f"[\n{rows}\n{pad}]"
    return json.dumps(value, ensure_ascii=False)


def _is_wide(value: Mapping[str, Json]) -> bool:
    return any(
        isinstance(inner, dict)
        or (isinstance(inner, list) and any(isinstance(item, dict) for item in inner))
        for inner in value.values()
    )
