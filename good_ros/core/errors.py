"""Errors that a user can act on.

Each message is one line that says what is wrong and what to do about it.
"""


def one_line(error: BaseException) -> str:
    """What an error says, without its line breaks."""
    return " ".join(str(error).split())


class GoodError(Exception):
    """Base of every error that good_ros raises on purpose."""


class InputError(GoodError):
    """What a person, a front end or a file supplied cannot be used."""


class ModelError(GoodError):
    """A language model is missing, damaged, unreachable or answers nonsense."""


class ModelTimeout(ModelError):
    """A model call did not finish before its deadline."""


class ModelCancelled(ModelError):
    """A model call was stopped because its result is no longer wanted."""


class MalformedReply(ModelError):
    """A model's reply does not have the form that was asked for."""


class CannotScore(ModelError):
    """A back end cannot give log-probabilities of given text."""


class WorldError(GoodError):
    """A world cannot be set up or has been lost (not: an action that failed)."""


class SpeechError(GoodError):
    """What hearing or speaking needs is missing, damaged or has been lost."""
