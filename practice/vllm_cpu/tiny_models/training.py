"""A few hundred steps of gradient descent, and what a target says for its drafters to imitate."""

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional
from transformers import PreTrainedModel

from practice.vllm_cpu.tiny_models.language import Reader

ROWS = 16
LENGTH = 96
PROMPT = 16
WARM_UP = 20
Guess = tuple[torch.Tensor, torch.Tensor]
"""Logits and the tokens that were right."""


@dataclass(frozen=True, kw_only=True)
class Said:
    """What a target said about many pieces of text.

    ``states`` are the residual streams before each layer and, last, after all of them; ``choices``
    are the tokens that it finds likeliest next.
    """

    tokens: torch.Tensor
    states: tuple[torch.Tensor, ...]
    choices: torch.Tensor

    def pieces(self, rows: int = ROWS) -> Iterator["Said"]:
        """Yield a few rows at a time, over and over."""
        start, count = 0, len(self.tokens)
        while True:
            part = slice(start, start + rows)
            states = tuple(state[part] for state in self.states)
            yield Said(
                tokens=self.tokens[part], states=states, choices=self.choices[part]
            )
            start = (start + rows) % (count - rows + 1)


def fit(name: str, module: nn.Module, guess: Callable[[], Guess], steps: int) -> None:
    """Train so many steps; none leaves the random numbers."""
    if not steps:
        return
    begin = time.monotonic()
    optimizer = torch.optim.AdamW(module.parameters(), lr=3e-3, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min(1.0, (step + 1) / WARM_UP) * max(0.1, 1 - step / steps),
    )
    loss = share = float("nan")
    for _ in range(steps):
        logits, right = guess()
        error = functional.cross_entropy(logits.flatten(0, 1), right.flatten())
        optimizer.zero_grad()
        error.backward()
        nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        loss = error.item()
        share = (logits.argmax(-1) == right).float().mean().item()
    took = time.monotonic() - begin
    sys.stdout.write(
        f"  {name}: {steps} steps in {took:.0f} s, loss {loss:.2f}, right {share:.0%}\n"
    )
    sys.stdout.flush()


def fit_language(
    name: str, model: PreTrainedModel, reader: Reader, steps: int
) -> PreTrainedModel:
    """Teach a causal model the language, and round its weights as the checkpoint will."""

    def guess() -> Guess:
        tokens = reader.batch(ROWS, LENGTH)
        return model(tokens).logits[:, :-1], tokens[:, 1:]

    fit(name, model.train(), guess, steps)
    return model.to(torch.bfloat16).float().eval()


def listen(target: PreTrainedModel, reader: Reader, batches: int = 8) -> Said:
    """Let the target go on from prompts and note its states: drafters learn its own output."""
    with torch.no_grad():
        return _listen(target, reader, batches)


def _listen(target: PreTrainedModel, reader: Reader, batches: int) -> Said:
    tokens = torch.cat(
        [
            target.generate(
                reader.batch(ROWS, PROMPT),
                max_new_tokens=LENGTH - PROMPT,
                min_new_tokens=LENGTH - PROMPT,
                do_sample=False,
                pad_token_id=0,
            )
            for _ in range(batches)
        ]
        + [reader.batch(ROWS, LENGTH)]
    )
    caught: list[torch.Tensor] = []
    hook = target.model.norm.register_forward_pre_hook(
        lambda _module, given: caught.append(given[0])
    )
    output = target(tokens, output_hidden_states=True)
    hook.remove()
    # The last entry is normed already; the stream before that norm was caught.
    return Said(
        tokens=tokens,
        states=(*output.hidden_states[:-1], caught[0]),
        choices=output.logits.argmax(-1),
    )
