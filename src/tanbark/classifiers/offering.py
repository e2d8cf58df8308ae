"""Methods that some settings of an estimator do not have."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import Any, Self


class offered_unless:
    """A method that is there unless a function of the estimator gives a reason, which is then the error's message.

    It is scikit-learn's `available_if`, but for the words that a person reads.
    """

    def __init__(self, reason: Callable[[Any], str | None]) -> None:
        self._reason = reason

    def __call__(self, method: Callable[..., Any]) -> Self:
        """Take the method."""
        self._method = method
        update_wrapper(self, method)
        return self

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is None:
            return self._method
        try:
            reason = self._reason(model)
        except Exception as error:
            raise AttributeError(f"{self._method.__name__} is not there with these settings ({error})") from error
        if reason is not None:
            raise AttributeError(reason)
        return MethodType(self._method, model)
