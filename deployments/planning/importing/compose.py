"""Services of a compose file, containers of a Kubernetes manifest, bodies of a Docker API."""

from dataclasses import dataclass

import yaml

from deployments.planning.importing.container import (
    Container,
    PublishedPort,
    read_mount,
    read_port,
)
from deployments.planning.importing.lexer import Lexer
from deployments.planning.importing.limits import Budget
from deployments.planning.importing.words import Word
from deployments.planning.importing.yaml_nodes import (
    Node,
    entries,
    items,
    scalar,
    walk,
    word,
)

_GPU_RESOURCES = ("nvidia.com/gpu", "amd.com/gpu", "huawei.com/Ascend910")


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """One container with the whole command that it runs, entrypoint left out."""

    container: Container
    environment: dict[str, Word]
    words: tuple[Word, ...]
    environment_file: str | None = None


def read_services(
    text: str, documents: list[Node], offset: int, budget: Budget
) -> list[Service]:
    """Return every container that any document describes; ``offset`` is where the YAML begins."""
    reader = _Reader(text, offset, budget)
    found: list[Service] = []
    for top in documents:
        for node in walk(top, budget):
            values = {key.lower(): value for key, value in entries(node).items()}
            if reader.is_service(values):
                found.append(reader.service(values, node))
    return found


class _Reader:
    def __init__(self, text: str, offset: int, budget: Budget) -> None:
        self.text = text
        self.offset = offset
        self.budget = budget

    @staticmethod
    def is_service(values: dict[str, Node]) -> bool:
        """Whether a mapping describes a container: an image, with a command of some kind."""
        commands = {"command", "args", "cmd", "entrypoint"} & set(values)
        return scalar(values.get("image")) is not None or (
            bool(commands)
            and all(
                isinstance(values[key], yaml.ScalarNode | yaml.SequenceNode)
                for key in commands
            )
        )

    def service(self, values: dict[str, Node], node: Node) -> Service:
        """Read one container."""
        name = scalar(values.get("container_name")) or scalar(values.get("name"))
        kubernetes = "args" in values or isinstance(
            values.get("resources"), yaml.MappingNode
        )
        entry = values.get("command" if kubernetes else "entrypoint")
        command = values.get("args" if kubernetes else "command") or values.get("cmd")
        entrypoint = None if entry is None else self._command(entry)
        files = values.get("env_file")
        return Service(
            container=self._container(values, node, name, entrypoint),
            environment=self._environment(
                values.get("environment") or values.get("env")
            ),
            words=tuple(
                one
                for one in (*(entrypoint or ()), *self._command(command))
                if one.text
            ),
            environment_file=scalar(files)
            or next((scalar(one) for one in items(files)), None),
        )

    def _container(
        self,
        values: dict[str, Node],
        node: Node,
        name: str | None,
        entrypoint: tuple[Word, ...] | None,
    ) -> Container:
        host = entries(values.get("hostconfig"))
        network = scalar(values.get("network_mode")) or scalar(host.get("NetworkMode"))
        return Container(
            image=scalar(values.get("image")),
            image_word=word(values.get("image"), self.offset),
            name=name,
            entrypoint=None
            if entrypoint is None
            else tuple(one.text for one in entrypoint),
            devices=tuple(
                text.partition(":")[0] for text in self._texts(values.get("devices"))
            ),
            mounts=tuple(self._mounts(values.get("volumes"), host)),
            ports=tuple(self._ports(values.get("ports"))),
            gpus=self._gpus(values),
            runtime=scalar(values.get("runtime")),
            host_network=network == "host",
            host_ipc=scalar(values.get("ipc")) == "host",
            shm_size=scalar(values.get("shm_size")),
            privileged=scalar(values.get("privileged")) == "true",
            compose=True,
            start=node.start_mark.index + self.offset,
        )

    def _command(self, node: Node | None) -> tuple[Word, ...]:
        if isinstance(node, yaml.SequenceNode):
            members = (word(one, self.offset) for one in items(node))
            return tuple(one for one in members if one is not None)
        text = scalar(node)
        if text is None or node is None:
            return ()
        start, end = node.start_mark.index, node.end_mark.index
        raw = self.text[start:end]
        style = getattr(node, "style", None)
        if style in ("|", ">"):
            start += raw.find("\n") + 1
        elif raw != text:
            return _split(text, self.budget, None)
        return _split(self.text[start:end], self.budget, start + self.offset)

    def _environment(self, node: Node | None) -> dict[str, Word]:
        found: dict[str, Word] = {}
        for key, value in entries(node).items():
            found[key] = word(value, self.offset) or Word(text="")
        for member in items(node):
            pair = entries(member)
            name, given = scalar(pair.get("name")), word(pair.get("value"), self.offset)
            text = scalar(member)
            if name:
                found[name] = given or Word(text="")
            elif text and "=" in text:
                key, _, rest = text.partition("=")
                found[key] = Word(text=rest.replace("$$", "$"))
        return found

    @staticmethod
    def _texts(node: Node | None) -> list[str]:
        return [text for text in (scalar(one) for one in items(node)) if text]

    def _mounts(
        self, node: Node | None, host: dict[str, Node]
    ) -> list[tuple[str, str]]:
        found = [read_mount(text) for text in self._texts(node)]
        found += [read_mount(text) for text in self._texts(host.get("Binds"))]
        for member in items(node):
            pair = entries(member)
            source, target = scalar(pair.get("source")), scalar(pair.get("target"))
            if target:
                found.append((source or "", target))
        return [one for one in found if one is not None]

    def _ports(self, node: Node | None) -> list[PublishedPort]:
        found = [port for text in self._texts(node) for port in read_port(text)]
        for member in items(node):
            pair = entries(member)
            target, published = (
                scalar(pair.get("target")),
                scalar(pair.get("published")),
            )
            if target and target.isdigit() and len(target) < 6:
                outside = published if published and published.isdigit() else None
                found.append(
                    PublishedPort(
                        host=int(outside[:6]) if outside else None,
                        container=int(target),
                    )
                )
        return found

    def _gpus(self, values: dict[str, Node]) -> str | None:
        direct = scalar(values.get("gpus"))
        if direct or items(values.get("gpus")):
            return direct or "all"
        reserved = entries(
            entries(entries(values.get("deploy")).get("resources")).get("reservations")
        )
        for device in items(reserved.get("devices")):
            pair = entries(device)
            ids = self._texts(pair.get("device_ids"))
            return (
                f"device={','.join(ids)}" if ids else scalar(pair.get("count")) or "all"
            )
        limits = entries(entries(values.get("resources")).get("limits"))
        for name in _GPU_RESOURCES:
            if scalar(limits.get(name)):
                return scalar(limits.get(name))
        return None


def _split(text: str, budget: Budget, offset: int | None) -> tuple[Word, ...]:
    lexer = Lexer(text, 0, len(text), budget)
    words = []
    for token in lexer.tokens:
        if token.word is None:
            continue
        one = token.word
        words.append(
            Word(
                text=one.text.replace("$$", "$"),
                start=-1 if offset is None else one.start + offset,
                end=-1 if offset is None else one.end + offset,
                quoted=one.quoted,
                damaged=one.damaged,
            )
        )
    return tuple(words)
