"""Llama's decoder layer and the two kinds of draft module built from it.

Parameters are named as vLLM's loaders expect them, so that a module's own state is the checkpoint.
Sources: the model files ``llama_eagle3``, ``mimo`` and ``mimo_mtp`` of vLLM 0.32.0.
"""

import torch
from torch import nn
from torch.nn import functional

HIDDEN = 128
HEADS = 4
KV_HEADS = 2
HEAD_SIZE = 32
INNER = 256
LAYERS = 4
EPSILON = 1e-5
ROPE_BASE = 10_000.0
AUXILIARY_LAYERS = (1, 2, 3)
"""Before which of the target's layers EAGLE-3 reads the hidden states."""


class Attention(nn.Module):
    """Grouped-query self-attention with rotary positions; the input may be wider than the output."""

    def __init__(self, width: int, hidden: int, *, bias: bool) -> None:
        super().__init__()
        self.q_proj = nn.Linear(width, HEADS * HEAD_SIZE, bias=bias)
        self.k_proj = nn.Linear(width, KV_HEADS * HEAD_SIZE, bias=bias)
        self.v_proj = nn.Linear(width, KV_HEADS * HEAD_SIZE, bias=bias)
        self.o_proj = nn.Linear(HEADS * HEAD_SIZE, hidden, bias=False)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """Attend to what came before."""
        rows, length, _ = states.shape
        query, key, value = (
            projection(states).view(rows, length, -1, HEAD_SIZE).transpose(1, 2)
            for projection in (self.q_proj, self.k_proj, self.v_proj)
        )
        seen = functional.scaled_dot_product_attention(
            rotated(query), rotated(key), value, is_causal=True, enable_gqa=True
        )
        return self.o_proj(seen.transpose(1, 2).reshape(rows, length, -1))


class FeedForward(nn.Module):
    """The gated two-layer network."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(hidden, INNER, bias=False)
        self.up_proj = nn.Linear(hidden, INNER, bias=False)
        self.down_proj = nn.Linear(INNER, hidden, bias=False)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """Apply it position by position."""
        return self.down_proj(
            functional.silu(self.gate_proj(states)) * self.up_proj(states)
        )


class Layer(nn.Module):
    """One decoder layer without the norm in front of the attention's input."""

    def __init__(
        self, width: int = HIDDEN, hidden: int = HIDDEN, *, bias: bool = False
    ) -> None:
        super().__init__()
        self.self_attn = Attention(width, hidden, bias=bias)
        self.mlp = FeedForward(hidden)
        self.input_layernorm = nn.RMSNorm(hidden, eps=EPSILON)
        self.post_attention_layernorm = nn.RMSNorm(hidden, eps=EPSILON)

    def through(self, read: torch.Tensor, stream: torch.Tensor) -> torch.Tensor:
        """Add to the residual stream what attention to ``read`` and the network say."""
        stream = stream + self.self_attn(read)
        return stream + self.mlp(self.post_attention_layernorm(stream))


class Eagle3Layer(Layer):
    """EAGLE-3's only layer: it reads the token's embedding and the hidden state side by side."""

    def __init__(self, hidden: int = HIDDEN) -> None:
        super().__init__(2 * hidden, hidden)
        self.hidden_norm = nn.RMSNorm(hidden, eps=EPSILON)

    def forward(self, embedded: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        """Carry the hidden state one token further."""
        read = torch.cat([self.input_layernorm(embedded), self.hidden_norm(state)], -1)
        return self.through(read, state)


class Eagle3Head(nn.Module):
    """An EAGLE-3 head with its own copy of the embedding and the output matrix."""

    def __init__(self, vocabulary: int, hidden: int = HIDDEN) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(vocabulary, hidden)
        self.fc = nn.Linear(len(AUXILIARY_LAYERS) * hidden, hidden, bias=False)
        self.midlayer = Eagle3Layer(hidden)
        self.norm = nn.RMSNorm(hidden, eps=EPSILON)
        self.lm_head = nn.Linear(hidden, vocabulary, bias=False)

    def forward(self, tokens: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        """Return the next hidden states; ``logits`` turns them into a guess."""
        return self.midlayer(self.embed_tokens(tokens), state)

    def logits(self, state: torch.Tensor) -> torch.Tensor:
        """Score every token of the vocabulary."""
        return self.lm_head(self.norm(state))


class MtpLayer(Layer):
    """MiMo's multi-token prediction layer, which lives inside the target's checkpoint."""

    def __init__(self) -> None:
        super().__init__(bias=True)
        self.token_layernorm = nn.RMSNorm(HIDDEN, eps=EPSILON)
        self.hidden_layernorm = nn.RMSNorm(HIDDEN, eps=EPSILON)
        self.final_layernorm = nn.RMSNorm(HIDDEN, eps=EPSILON)
        self.input_proj = nn.Linear(2 * HIDDEN, HIDDEN, bias=False)

    def forward(self, embedded: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        """Return normed hidden states, ready for the target's output matrix."""
        both = torch.cat(
            [self.hidden_layernorm(state), self.token_layernorm(embedded)], -1
        )
        stream = self.input_proj(both)
        return self.final_layernorm(self.through(self.input_layernorm(stream), stream))


def rotated(heads: torch.Tensor) -> torch.Tensor:
    """Turn each half-split pair by an angle that grows with the position."""
    length, size = heads.shape[-2:]
    rates = ROPE_BASE ** -(torch.arange(0, size, 2) / size)
    angles = torch.outer(torch.arange(length), rates)
    cos, sin = angles.cos(), angles.sin()
    left, right = heads.chunk(2, dim=-1)
    return torch.cat([left * cos - right * sin, right * cos + left * sin], -1)
