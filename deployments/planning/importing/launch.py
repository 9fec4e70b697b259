"""One launch as it was read, and the figures that follow from its flags."""

from dataclasses import dataclass, field

from deployments.planning.canonical import Json
from deployments.planning.importing.arguments import Argument, Arguments
from deployments.planning.importing.commands import Scope
from deployments.planning.importing.container import Container
from deployments.planning.importing.speculation import Speculation
from deployments.planning.importing.words import Word

VLLM_SERVE = "vllm serve"
API_SERVER = "vllm.entrypoints.openai.api_server"
PYTHON_CALL = "LLM"
VLLM_PROGRAMS = frozenset((VLLM_SERVE, API_SERVER, PYTHON_CALL))
SGLANG = "sglang"
ATOM = "atom"


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A server that the input starts. ``program`` says which; ``words`` begin with it."""

    program: str
    model: str | None
    model_word: Word | None
    arguments: Arguments
    environment: dict[str, Word]
    speculation: Speculation | None
    words: tuple[Word, ...]
    scope: Scope = field(default_factory=Scope)
    container: Container | None = None
    redirected: str | None = None

    @property
    def is_vllm(self) -> bool:
        """Whether vLLM serves it."""
        return self.program in VLLM_PROGRAMS

    @property
    def start(self) -> int:
        """Where the launch begins in the input, -1 when it has no place."""
        places = [word.start for word in self.words if word.has_place]
        return min(places, default=-1)

    def flag(self, name: str) -> Argument | None:
        """The use of a flag that counts."""
        return self.arguments.last(name)

    def has(self, name: str) -> bool:
        """Whether a switch is on: given, and not taken back by its ``--no-`` form later."""
        names = (name, f"--no-{name.removeprefix('--')}")
        used = [one for one in self.arguments.flags if one.name in names]
        return bool(used) and used[-1].name == name and used[-1].value != "false"

    def value(self, name: str) -> str | None:
        """The value of a flag with variables of the same input replaced."""
        argument = self.arguments.last(name)
        if argument is None or argument.value is None:
            return None
        return self.scope.resolve(argument.value)

    def number(self, name: str) -> int | None:
        """The value of a flag as a whole number; ``8k`` and ``1M`` are read as vLLM reads them."""
        return whole_number(self.value(name))

    def variable(self, name: str) -> str | None:
        """The value of an environment variable that reaches the engine."""
        word = self.environment.get(name)
        return None if word is None else self.scope.resolve(word.text)

    @property
    def flags(self) -> dict[str, Json]:
        """Canonical flags: text, ``True`` for switches, a list when repeated."""
        found: dict[str, Json] = {}
        for one in self.arguments.flags:
            value: Json = True if one.value is None else one.value
            if one.name not in found:
                found[one.name] = value
                continue
            before = found[one.name]
            found[one.name] = [
                *(before if isinstance(before, list) else [before]),
                value,
            ]
        return found

    @property
    def tokens_per_request(self) -> int:
        """Tokens of one request in a decode step: the drafted ones and the target's own."""
        count = self.speculation.num_speculative_tokens if self.speculation else 0
        return (count or 0) + 1

    @property
    def decode_tokens_per_step(self) -> int | None:
        """Tokens of a full decode batch; ``None`` without max_num_seqs."""
        batch = self.number("--max-num-seqs")
        return None if batch is None else batch * self.tokens_per_request

    @property
    def tensor_parallel_size(self) -> int:
        """1 when not given or not a number."""
        return self.number("--tensor-parallel-size") or 1

    @property
    def pipeline_parallel_size(self) -> int:
        """1 when not given or not a number."""
        return self.number("--pipeline-parallel-size") or 1

    @property
    def devices_required(self) -> int:
        """Devices of this process group on this host."""
        context = self.number("--prefill-context-parallel-size") or 1
        ranks = self.number("--data-parallel-size") or 1
        if self.flag("--data-parallel-rank") is not None:
            ranks = 1
        local = self.number("--data-parallel-size-local")
        return (
            self.tensor_parallel_size
            * self.pipeline_parallel_size
            * context
            * (ranks if local is None else max(1, local))
        )

    @property
    def document(self) -> dict[str, Json]:
        """The object that ``lint_launch`` prints."""
        needed = self.decode_tokens_per_step
        return {
            "program": self.program,
            "model": self.model,
            "flags": self.flags,
            "env": {name: word.text for name, word in self.environment.items()},
            "image": self.container.image if self.container else None,
            "speculation": self.speculation.document if self.speculation else None,
            "max_num_seqs": self.number("--max-num-seqs"),
            "decode_tokens_per_step": needed,
            "required_capture_size": needed,
            "devices_required": self.devices_required,
        }


_FACTORS = {
    "k": 1_000,
    "m": 1_000_000,
    "g": 1_000_000_000,
    "K": 1 << 10,
    "M": 1 << 20,
    "G": 1 << 30,
}


def whole_number(text: str | None) -> int | None:
    """Read ``64``, ``8k`` (8,000) or ``8K`` (8,192); ``None`` for anything else."""
    if text is None or not text or len(text) > 12:
        return None
    digits, factor = (
        (text[:-1], _FACTORS[text[-1]]) if text[-1] in _FACTORS else (text, 1)
    )
    if not digits.isascii() or not digits.removeprefix("-").isdigit():
        return None
    return int(digits) * factor
