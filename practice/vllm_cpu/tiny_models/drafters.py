"""Drafters for the tiny targets, trained on what their target says."""

import torch
from torch import nn
from transformers import LlamaForCausalLM, PreTrainedModel

from practice.vllm_cpu.tiny_models.layers import (
    AUXILIARY_LAYERS,
    Eagle3Head,
    MtpLayer,
)
from practice.vllm_cpu.tiny_models.training import Guess, Said, fit

PASSES = 3
"""How often EAGLE-3 reads its own hidden state while it learns, as it does when it serves."""


def make_draft_model(
    draft: LlamaForCausalLM, target: PreTrainedModel, said: Said, steps: int
) -> LlamaForCausalLM:
    """Begin with what the target has of the draft's layers, then imitate the target."""
    if steps:
        own = draft.state_dict()
        draft.load_state_dict(
            {name: target.state_dict()[name] for name in own}, strict=True
        )
    pieces = said.pieces()

    def guess() -> Guess:
        piece = next(pieces)
        return draft(piece.tokens).logits, piece.choices

    fit("draft", draft.train(), guess, steps)
    return draft


def make_eagle3(target: PreTrainedModel, said: Said, steps: int) -> Eagle3Head:
    """Predict the target's next choice from its embedding and three of its hidden states."""
    torch.manual_seed(3)
    head = Eagle3Head(target.config.vocab_size)
    with torch.no_grad():
        head.embed_tokens.weight.copy_(target.model.embed_tokens.weight)
        head.lm_head.weight.copy_(target.lm_head.weight)
    head.embed_tokens.requires_grad_(requires_grad=False)
    pieces = said.pieces()

    def guess() -> Guess:
        piece = next(pieces)
        read = torch.cat([piece.states[layer] for layer in AUXILIARY_LAYERS], -1)
        state = head.fc(read)[:, :-1]
        tokens, logits, right = piece.tokens[:, 1:], [], []
        for number in range(1, PASSES + 1):
            state = head(tokens, state)
            logits.append(head.logits(state))
            right.append(piece.choices[:, number:])
            tokens, state = tokens[:, 1:], state[:, :-1]
        return torch.cat(logits, 1), torch.cat(right, 1)

    fit("eagle3", head, guess, steps)
    return head


def make_mtp(target: PreTrainedModel, said: Said, steps: int) -> MtpLayer:
    """Predict one token beyond the target's own from its last hidden state."""
    torch.manual_seed(4)
    layer = MtpLayer()
    embedding: nn.Embedding = target.model.embed_tokens
    head: nn.Linear = target.lm_head
    pieces = said.pieces()

    def guess() -> Guess:
        piece = next(pieces)
        with torch.no_grad():
            embedded = embedding(piece.tokens[:, 1:])
        state = layer(embedded, piece.states[-1][:, :-1])
        return head(state), piece.choices[:, 1:]

    fit("mtp", layer, guess, steps)
    return layer
