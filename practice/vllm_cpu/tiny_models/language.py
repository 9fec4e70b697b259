"""The language that the tiny models speak, and their tokenizer.

Lines about hosts and deployments with a fixed grammar and a few free slots: a tiny model learns it
in seconds, and a drafter can be anything from clueless to nearly always right.
"""

import random
from collections.abc import Iterator

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

VOCABULARY = 448
OTHER_VOCABULARY = 384
POSITIONS = 2048
PAD, BEGIN, END, USER, ASSISTANT = (
    "<|pad|>",
    "<|begin|>",
    "<|end|>",
    "<|user|>",
    "<|assistant|>",
)
CHAT_TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] if message['role'] == 'assistant' "
    "else 'user' }}|>{{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
LINES = (
    "Host {host} has {count} devices and {few} of them are free.",
    "Replica {few} of {deployment} drafts {few} tokens with {method}.",
    "The deployment {deployment} serves {model} on host {host}.",
    "Of {count} drafted tokens {few} were accepted on host {host}.",
    "{method} needs {need} for {model}.",
    "A release of {deployment} went live after {count} seconds.",
)
SLOTS = {
    "host": [f"gpu-{number:02}" for number in range(1, 9)]
    + ["npu-01", "npu-02", "cpu-01"],
    "count": [str(number) for number in range(8, 100, 7)],
    "few": [str(number) for number in range(1, 8)],
    "deployment": ["chat", "search", "code", "summaries", "translation", "support"],
    "method": ["MTP", "EAGLE-3", "A draft model", "The n-gram method"],
    "model": ["Qwen3", "DeepSeek-V3.1", "GLM-5.2", "Kimi-K2.6", "Llama-3.1"],
    "need": ["its own weights", "a matching head", "the same vocabulary", "no drafter"],
}


def sentences(count: int, seed: int) -> Iterator[str]:
    """Say so many lines; the same seed says the same."""
    choose = random.Random(seed)  # noqa: S311 - repeatable, nothing to keep secret
    for _ in range(count):
        chosen = {name: choose.choice(values) for name, values in SLOTS.items()}
        yield choose.choice(LINES).format(**chosen)


def make_tokenizer(vocabulary: int = VOCABULARY) -> PreTrainedTokenizerFast:
    """Train a byte-level tokenizer; it can spell any text, and the language's words shortly."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[PAD, BEGIN, END, USER, ASSISTANT],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(sentences(4000, seed=1), trainer)
    size = tokenizer.get_vocab_size()
    if size != vocabulary:
        raise ValueError(
            f"The language gives only {size} of {vocabulary} tokens: add words to it."
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        bos_token=BEGIN,
        eos_token=END,
        chat_template=CHAT_TEMPLATE,
        model_max_length=POSITIONS,
    )


class Reader:
    """Hands out pieces of the language's text as token numbers, repeatably."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast, seed: int = 2) -> None:
        text = "\n".join(sentences(3000, seed))
        self.tokens = torch.tensor(tokenizer(text, verbose=False)["input_ids"])
        self.choose = torch.Generator().manual_seed(seed)

    def batch(self, rows: int, length: int) -> torch.Tensor:
        """Return so many pieces of one length, from anywhere in the text."""
        last = len(self.tokens) - length
        starts = torch.randint(last, (rows,), generator=self.choose).tolist()
        return torch.stack([self.tokens[start : start + length] for start in starts])
