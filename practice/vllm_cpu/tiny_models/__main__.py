"""Writes the tiny models: ``python -m practice.vllm_cpu.tiny_models FOLDER [--steps N]``."""

import argparse
import json
import sys
import time
from pathlib import Path

import torch
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
)

from practice.vllm_cpu.tiny_models.checkpoints import write_checkpoint
from practice.vllm_cpu.tiny_models.drafters import (
    make_draft_model,
    make_eagle3,
    make_mtp,
)
from practice.vllm_cpu.tiny_models.language import (
    OTHER_VOCABULARY,
    POSITIONS,
    VOCABULARY,
    Reader,
    make_tokenizer,
)
from practice.vllm_cpu.tiny_models.layers import (
    AUXILIARY_LAYERS,
    EPSILON,
    HEAD_SIZE,
    HEADS,
    HIDDEN,
    INNER,
    KV_HEADS,
    LAYERS,
    Eagle3Head,
)
from practice.vllm_cpu.tiny_models.training import fit_language, listen

SHAPE = {
    "vocab_size": VOCABULARY,
    "hidden_size": HIDDEN,
    "intermediate_size": INNER,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "max_position_embeddings": POSITIONS,
    "rms_norm_eps": EPSILON,
    "tie_word_embeddings": False,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "dtype": "bfloat16",
}
WRONG_HIDDEN = 256
VERSION = 1
"""Of the recipe: another one makes the models anew."""
MADE = "made.json"
"""Written last: with how many steps the folder's models were trained."""


def main(arguments: list[str]) -> int:
    """Make every model unless they are there; progress goes to standard output."""
    parser = argparse.ArgumentParser(
        prog="tiny_models", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--steps", type=int, default=300, help="of a target model (%(default)s)"
    )
    parser.add_argument(
        "--drafter-steps",
        type=int,
        help="of a drafter (as many); 0 leaves it random: nothing is accepted",
    )
    options = parser.parse_args(arguments)
    steps = options.steps
    drafter_steps = steps if options.drafter_steps is None else options.drafter_steps
    made = {"steps": steps, "drafter_steps": drafter_steps, "version": VERSION}
    stamp: Path = options.folder / MADE
    if stamp.is_file() and json.loads(stamp.read_text(encoding="utf-8")) == made:
        sys.stdout.write(f"The tiny models are in {options.folder}.\n")
        return 0
    stamp.unlink(missing_ok=True)
    # Numbers near zero make a processor many times slower; the setting is of one thread only.
    torch.set_flush_denormal(True)
    torch.set_num_threads(1)
    begin = time.monotonic()
    tokenizer = make_tokenizer()
    _llama(options.folder, tokenizer, steps, drafter_steps)
    _mimo(options.folder, tokenizer, steps, drafter_steps)
    stamp.write_text(json.dumps(made), encoding="utf-8")
    took = time.monotonic() - begin
    sys.stdout.write(f"Wrote the tiny models to {options.folder} in {took:.0f} s.\n")
    return 0


def llama_config(**more: object) -> LlamaConfig:
    """Return the configuration of the target, or of something that differs from it."""
    values = {"num_hidden_layers": LAYERS, "head_dim": HEAD_SIZE, **SHAPE, **more}
    return LlamaConfig(architectures=["LlamaForCausalLM"], **values)


def _llama(
    folder: Path, tokenizer: PreTrainedTokenizerFast, steps: int, drafter_steps: int
) -> None:
    """A Llama target with a draft model and an EAGLE-3 head, and drafters that do not fit it."""
    torch.manual_seed(1)
    reader = Reader(tokenizer)
    config = llama_config()
    target = fit_language("target", LlamaForCausalLM(config).float(), reader, steps)
    write_checkpoint(
        folder / "target", config.to_dict(), target.state_dict(), tokenizer
    )
    said = listen(target, reader)
    small = llama_config(num_hidden_layers=1)
    draft = make_draft_model(
        LlamaForCausalLM(small).float(), target, said, drafter_steps
    )
    write_checkpoint(folder / "draft", small.to_dict(), draft.state_dict(), tokenizer)
    other = llama_config(num_hidden_layers=1, vocab_size=OTHER_VOCABULARY)
    write_checkpoint(
        folder / "draft-other-vocabulary",
        other.to_dict(),
        LlamaForCausalLM(other).state_dict(),
        make_tokenizer(OTHER_VOCABULARY),
    )
    head = make_eagle3(target, said, drafter_steps)
    write_checkpoint(
        folder / "eagle3", _eagle3_config(HIDDEN), head.state_dict(), tokenizer
    )
    wrong = Eagle3Head(VOCABULARY, WRONG_HIDDEN)
    write_checkpoint(
        folder / "eagle3-wrong-hidden",
        _eagle3_config(WRONG_HIDDEN),
        wrong.state_dict(),
        tokenizer,
    )


def _eagle3_config(hidden: int) -> dict[str, object]:
    values: dict[str, object] = llama_config(
        num_hidden_layers=1, hidden_size=hidden
    ).to_dict()
    return values | {
        "architectures": ["LlamaForCausalLMEagle3"],
        "draft_vocab_size": VOCABULARY,
        "target_hidden_size": hidden,
        "eagle_config": {
            "eagle_aux_hidden_state_layer_ids": list(AUXILIARY_LAYERS),
            "use_aux_hidden_state": True,
        },
    }


def _mimo(
    folder: Path, tokenizer: PreTrainedTokenizerFast, steps: int, drafter_steps: int
) -> None:
    """A target that carries its drafter: MiMo is Qwen2 with one MTP layer in the checkpoint."""
    torch.manual_seed(2)
    reader = Reader(tokenizer, seed=5)
    config = Qwen2Config(num_hidden_layers=2, use_sliding_window=False, **SHAPE)
    target = fit_language("mtp target", Qwen2ForCausalLM(config).float(), reader, steps)
    layer = make_mtp(target, listen(target, reader), drafter_steps)
    drafting = {
        f"model.mtp_layers.0.{name}": value
        for name, value in layer.state_dict().items()
    }
    claimed = config.to_dict() | {"architectures": ["MiMoForCausalLM"]}
    tensors = target.state_dict() | drafting
    for name, depth in (("mtp", 1), ("mtp-claims-two", 2)):
        values = claimed | {"num_nextn_predict_layers": depth}
        write_checkpoint(folder / name, values, tensors, tokenizer)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
