"""From chat messages to tokens, by a model's own template, with the place of each content."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from good_ros.core.errors import ModelError
from good_ros.language.generator import Message

ApplyTemplate = Callable[[Sequence[Message], bool], str]
"""(messages, whether an assistant's turn is begun at the end) to text."""
Tokenize = Callable[[str, bool], list[int]]
"""(text, whether markers such as an end of turn are read as such) to tokens."""

PLAIN_SPEAKERS = {"user": "Robot: ", "assistant": "Human: ", "system": ""}


def chat_tokens(
    messages: Sequence[Message],
    add_assistant: bool,
    apply_template: ApplyTemplate,
    tokenize: Tokenize,
    beginning: Sequence[int] = (),
    model: str = "this model",
) -> tuple[list[int], list[tuple[int, int]]]:
    """Tokens of a chat, and each message's content as a span (start, end) in them.

    The template's own text is tokenized apart from the contents, so that a content can never
    close its turn. ``beginning`` are the tokens that every text begins with. Raises ModelError
    where the template leaves a message out.
    """
    marks = [f"\x01{i}\x02" for i in range(len(messages))]
    text = apply_template(
        [Message(m.role, mark) for m, mark in zip(messages, marks, strict=True)], add_assistant
    )
    tokens: list[int] = []
    spans: list[tuple[int, int]] = []
    for message, mark in zip(messages, marks, strict=True):
        before, found, text = text.partition(mark)
        if not found:
            raise ModelError(f"the chat template of {model} drops messages")
        tokens += tokenize(before, True)
        start = len(tokens)
        tokens += tokenize(message.content, False)
        spans.append((start, len(tokens)))
    tokens += tokenize(text, True)
    shift = len(beginning)
    if shift and tokens[:shift] != list(beginning):
        tokens = [*beginning, *tokens]
        spans = [(start + shift, end + shift) for start, end in spans]
    return tokens, spans


def plain_template(messages: Sequence[Message], add_assistant: bool) -> str:
    """A dialog as plain text, a line a message, for models that know no chat template."""
    lines = [f"{PLAIN_SPEAKERS[m.role]}{m.content}\n" for m in messages]
    return "".join(lines) + (PLAIN_SPEAKERS["assistant"] if add_assistant else "")
