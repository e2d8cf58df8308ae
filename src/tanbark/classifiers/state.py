"""What an estimator has learned, replaced as a whole and asked as a whole, whatever other threads do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

Estimator = TypeVar("Estimator")
Words = ParamSpec("Words")
Answer = TypeVar("Answer")


@contextmanager
def learning(estimator: Estimator) -> Iterator[Estimator]:
    """Yield a copy whose state becomes the estimator's once all that is inside has been done; else nothing changes.

    Who asks the estimator meanwhile is answered from what it was.
    """
    draft = _twin(estimator, dict(estimator.__dict__))
    try:
        yield draft
    except SystemError as error:
        # So Python calls an interrupt that comes while a kernel is handed its arguments.
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise error.__cause__ from None
        raise
    estimator.__dict__ = draft.__dict__


def of_one_state(method: Callable[Concatenate[Any, Words], Answer]) -> Callable[Concatenate[Any, Words], Answer]:
    """Let a method see one state of an estimator from its beginning to its end."""

    @wraps(method)
    def asked(self: Any, /, *args: Words.args, **kwargs: Words.kwargs) -> Answer:
        return method(as_it_is(self), *args, **kwargs)

    return asked


def as_it_is(estimator: Estimator) -> Estimator:
    """Return an estimator that stays in this state when the other learns; what it remembers they have in common."""
    return _twin(estimator, estimator.__dict__)


def _twin(estimator: Estimator, state: dict[str, Any]) -> Estimator:
    twin: Estimator = object.__new__(type(estimator))
    twin.__dict__ = state
    return twin
