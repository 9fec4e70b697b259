"""Checkpoints on disk, as vLLM loads them."""

import json
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import PreTrainedTokenizerFast


def write_checkpoint(
    folder: Path,
    config: Mapping[str, object],
    tensors: Mapping[str, torch.Tensor],
    tokenizer: PreTrainedTokenizerFast,
) -> None:
    """Write configuration, weights in bfloat16 and tokenizer, over what was there."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(config, indent=2, sort_keys=True) + "\n"
    (folder / "config.json").write_text(text, encoding="utf-8")
    rounded = {
        name: value.detach().to(torch.bfloat16).contiguous().clone()
        for name, value in tensors.items()
    }
    save_file(rounded, folder / "model.safetensors", metadata={"format": "pt"})
    tokenizer.save_pretrained(folder)
