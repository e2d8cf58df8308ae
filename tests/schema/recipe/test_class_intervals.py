"""Classes that are intervals of a number, compared with pandas."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tanbark
from tanbark import Category, Encoder, NaiveBayes, Recipe, Schema
from tanbark.schema.recipe.recipe import InputColumn

CUTS = st.lists(st.integers(-50, 50), min_size=1, max_size=5, unique=True).map(sorted)


@given(CUTS, st.lists(st.one_of(st.none(), st.integers(-60, 60)), max_size=20))
def test_each_number_is_in_the_interval_of_pandas(cuts, numbers):
    recipe = Recipe(class_cuts=cuts)
    values = np.array([np.nan if number is None else number for number in numbers], float)
    places = pd.cut(values, [-np.inf, *cuts, np.inf], labels=False)
    expected = [None if np.isnan(place) else recipe.class_labels[int(place)] for place in places]
    assert recipe.intervals_of(values) == expected


def test_the_cut_points_are_stored_with_the_schema_and_the_model(tmp_path):
    recipe = Recipe(class_cuts=[9, 20])
    y = recipe.intervals_of([3, 9, 15, 30, 100, 12] * 10)
    model = NaiveBayes(encoder=Encoder(coerce=recipe)).fit(np.arange(60)[:, None] % 4, y)
    assert model.classes_.tolist() == ["<= 9", "(9, 20]", "> 20"]
    assert model.counts_.class_counts.tolist() == [20, 20, 20]
    assert Schema.from_dict(model.schema_.to_dict()) == model.schema_
    tanbark.save(model, tmp_path / "m.tanbark")
    assert tanbark.load(tmp_path / "m.tanbark").schema_.recipe.class_cuts == (9.0, 20.0)


def test_a_recipe_without_cut_points_is_stored_as_before():
    assert "class_cuts" not in Recipe().to_dict()
    assert Recipe.from_dict(Recipe().to_dict()).class_labels == ()


@pytest.mark.parametrize("cuts", [[2, 1], [1, 1], [1, float("nan")], [float("inf")], ["1"], [True], "12", 5])
def test_cut_points_that_do_not_increase_are_refused(cuts):
    with pytest.raises(ValueError, match="class_cuts must be"):
        Recipe(class_cuts=cuts)


def test_other_classes_are_refused():
    recipe = Recipe(inputs=(InputColumn("a"),), class_cuts=(1,))
    with pytest.raises(ValueError, match=r"the class 'low' is not one of the intervals of the class, '<= 1', '> 1'"):
        Schema([Category("a", (0, 1))], classes=("low", "> 1"), recipe=recipe)
