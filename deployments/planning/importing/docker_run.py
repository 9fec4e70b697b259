"""``docker run``: its options, the image, and the command behind it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from deployments.planning.importing.container import Container, read_mount, read_port
from deployments.planning.importing.words import Word

ENGINES = frozenset(("docker", "podman", "nerdctl"))
_SWITCHES = frozenset(
    [
        "-d",
        "-i",
        "-t",
        "-it",
        "-ti",
        "-itd",
        "-dit",
        "-tid",
        "-idt",
        "-dti",
        "-tdi",
        "--rm",
        "--init",
        "--privileged",
        "--detach",
        "--interactive",
        "--tty",
        "--no-healthcheck",
        "--oom-kill-disable",
        "--read-only",
        "--sig-proxy",
        "--quiet",
        "-q",
    ]
)
_SHORT = {
    "-v": "--volume",
    "-p": "--publish",
    "-e": "--env",
    "-w": "--workdir",
    "-u": "--user",
    "-h": "--hostname",
    "--net": "--network",
}


@dataclass(slots=True)
class _Options:
    values: dict[str, list[str]] = field(default_factory=dict)
    environment: dict[str, Word] = field(default_factory=dict)
    outside: Mapping[str, Word] = field(default_factory=dict)

    def add(self, name: str, value: str, word: Word) -> None:
        name = _SHORT.get(name, name)
        self.values.setdefault(name, []).append(value)
        if name == "--env" and "=" in value:
            key, _, text = value.partition("=")
            offset = word.text.find(key + "=") + len(key) + 1
            start = word.start + offset if word.has_place and not word.quoted else -1
            self.environment[key] = Word(text=text, start=start, end=word.end)
        elif name == "--env" and value in self.outside:
            self.environment[value] = self.outside[value]

    def last(self, name: str) -> str | None:
        found = self.values.get(name)
        return found[-1] if found else None

    def all(self, name: str) -> list[str]:
        return self.values.get(name, [])


def is_docker_run(words: tuple[Word, ...]) -> int | None:
    """Return where the options of a ``run`` begin, ``None`` when this is no such command."""
    texts = [word.text for word in words[:6]]
    for index, text in enumerate(texts):
        if text.rpartition("/")[2] in ENGINES:
            following = texts[index + 1 : index + 3]
            if following[:1] in (["run"], ["create"]):
                return index + 2
            if following in (["container", "run"], ["container", "create"]):
                return index + 3
            return None
    return None


def read_docker_run(
    words: tuple[Word, ...], outside: Mapping[str, Word]
) -> tuple[Container, dict[str, Word], tuple[Word, ...]]:
    """Return the container, its environment, and the words behind the image.

    ``outside`` is the environment of the command itself: ``-e NAME`` takes the value from there.
    """
    options = _Options(outside=outside)
    at = 0
    while at < len(words):
        word = words[at]
        if not word.text.startswith("-"):
            break
        at += _option(words, at, options)
    image = words[at] if at < len(words) else None
    return _container(options, image), options.environment, words[at + 1 :]


def _option(words: tuple[Word, ...], at: int, options: _Options) -> int:
    word = words[at]
    name, equals, inline = word.text.partition("=")
    if equals:
        options.add(name, inline, word)
        return 1
    if word.text in _SWITCHES:
        options.add(word.text, "true", word)
        return 1
    if (
        word.text[:2] in _SHORT
        and not word.text.startswith("--")
        and len(word.text) > 2
    ):
        options.add(word.text[:2], word.text[2:], word)
        return 1
    if at + 1 < len(words):
        options.add(name, words[at + 1].text, words[at + 1])
    return 2


def _container(options: _Options, image: Word | None) -> Container:
    mounts = [read_mount(text) for text in options.all("--volume")]
    mounts += [_long_mount(text) for text in options.all("--mount")]
    entrypoint = options.last("--entrypoint")
    return Container(
        image=image.text if image else None,
        image_word=image,
        name=options.last("--name"),
        entrypoint=None if entrypoint is None else tuple(entrypoint.split()),
        devices=tuple(text.partition(":")[0] for text in options.all("--device")),
        mounts=tuple(one for one in mounts if one is not None),
        ports=tuple(
            port for text in options.all("--publish") for port in read_port(text)
        ),
        gpus=options.last("--gpus"),
        runtime=options.last("--runtime"),
        host_network=options.last("--network") == "host",
        host_ipc=options.last("--ipc") == "host",
        shm_size=options.last("--shm-size"),
        privileged=options.last("--privileged") not in (None, "false"),
        start=image.start if image else -1,
    )


def _long_mount(text: str) -> tuple[str, str] | None:
    parts = dict(part.partition("=")[::2] for part in text.split(","))
    source = parts.get("source") or parts.get("src")
    target = parts.get("target") or parts.get("dst") or parts.get("destination")
    return (source, target) if source and target else None
