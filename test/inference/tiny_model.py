"""A transformers model of random weights and a tokenizer trained on a few lines, for tests."""

from __future__ import annotations

from pathlib import Path

TEXTS = [
    "You are a person at home. A robot asks you questions to find out what you want.",
    "You answer each in your own words. What you truly want is: a cup of cocoa",
    "What would you like? I'd like something sweet. Hot or cold? Something hot to drink, please.",
    "Anything else? No, thank you. the plate put in the drawer, a bowl of noodles",
]
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def make_tiny_model(folder: Path, template: str | None = TEMPLATE, window: int = 0) -> Path:
    """A two-layer model in ``folder``; ``window`` gives it sliding attention.

    Its heads have size 32, the least that vLLM does on a CPU.
    """
    import tokenizers
    import torch
    from tokenizers import decoders, models, pre_tokenizers, trainers
    from transformers import MistralConfig, MistralForCausalLM, PreTrainedTokenizerFast

    bpe = tokenizers.Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    bpe.train_from_iterator(
        TEXTS,
        trainers.BpeTrainer(
            vocab_size=400,
            special_tokens=["<|im_start|>", "<|im_end|>"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe, eos_token="<|im_end|>", pad_token="<|im_end|>"
    )
    if template is not None:
        tokenizer.chat_template = template
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = MistralConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=8192,
        sliding_window=window or None,
    )
    model = MistralForCausalLM(config)
    # Weights as they come leave every token about as likely as another.
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3.0) if parameter.ndim > 1 else None
    model.save_pretrained(folder)
    return folder
