"""Who is told how far a search is."""

import pytest

from tanbark.progress import listener, listening, silent


def test_whoever_listens_is_told_inside_and_nobody_afterwards():
    assert listener() is silent
    with listening(print):
        assert listener() is print
        with listening(repr):
            assert listener() is repr
        assert listener() is print
    assert listener() is silent


def test_after_an_error_nobody_listens_any_more():
    with pytest.raises(KeyError), listening(print):
        raise KeyError
    assert listener() is silent
