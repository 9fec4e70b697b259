"""The sentences in a release's warning that say that a container was restarted outside the panel."""

from collections.abc import Iterator

from deployments.planning.text import NOTHING, Text, sentences, text

_NOTE = text("{name} on {host} was restarted outside the panel.", name="", host="")
_JOINED = sentences(_NOTE, _NOTE)


def restart_note(name: str, host: str) -> Text:
    """Say that somebody restarted a container."""
    return _NOTE.filled({"name": name, "host": host})


def tells_restart(warning: Text) -> bool:
    """Whether a warning has such a note."""
    return any(one.template == _NOTE.template for one in _parts(warning))


def without_restarts(warning: Text) -> Text:
    """What is left of a warning when such notes are closed."""
    kept = [one for one in _parts(warning) if one.template != _NOTE.template]
    return sentences(*kept) if kept else NOTHING


def _parts(said: Text) -> Iterator[Text]:
    """The sentences that ``sentences`` put together."""
    values = dict(said.values)
    if said.template != _JOINED.template:
        yield said
        return
    for name in ("sentences", "next"):
        one = values[name]
        yield from _parts(one if isinstance(one, Text) else Text(str(one)))
