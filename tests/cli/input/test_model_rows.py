import numpy as np
import pandas as pd
import pytest

import tanbark


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 80), unit="D")
    smokes = rng.random(80) < 0.5
    return pd.DataFrame(
        {"sex": rng.choice(["f", "m"], 80), "age": rng.normal(50, 10, 80).round(2), "smokes": smokes, "when": when}
    ).assign(grade=rng.integers(1, 5, 80))


def test_a_model_fitted_in_python_reads_a_file_as_its_frame(run, frame, tmp_path):
    y = np.where(frame.age > 50, "ill", "well")
    model = tanbark.EvidenceBN().fit(frame, y)
    tanbark.save(model, tmp_path / "m.tanbark")
    frame.assign(age=[f" {age} " if i % 2 else f"+{age}" for i, age in enumerate(frame.age)]).to_csv(
        "t.csv", index=False
    )
    run("predict", "m.tanbark", "t.csv", "-o", "out.csv")
    found = pd.read_csv("out.csv")[["p(ill)", "p(well)"]].to_numpy()
    np.testing.assert_allclose(found, model.predict_proba(frame), rtol=1e-12)
    frame.to_parquet("t.parquet", index=False)
    run("predict", "m.tanbark", "t.parquet", "-o", "out.csv")
    np.testing.assert_allclose(pd.read_csv("out.csv")[["p(ill)", "p(well)"]], model.predict_proba(frame), rtol=1e-12)


def test_a_model_fitted_to_a_file_reads_a_frame_as_the_file(run, frame, tmp_path):
    frame.assign(y=np.where(frame.age > 50, "ill", "well")).to_csv("t.csv", index=False)
    run("fit", "t.csv", "-t", "y", "--cv", 0)
    model = tanbark.load("t.tanbark")
    run("predict", "t.tanbark", "t.csv", "-o", "out.csv")
    found = pd.read_csv("out.csv")[["p(ill)", "p(well)"]].to_numpy()
    np.testing.assert_allclose(model.predict_proba(frame), found, rtol=1e-12)


def test_labels_of_any_type_survive_a_text_file(run, tmp_path):
    for labels in ([0, 1], [True, False], [2**60, 2**60 + 1], [0.5, 1.5], ["NA", "?"], ["1", "01"]):
        X = pd.DataFrame({"a": pd.Series(labels * 20, dtype=object if isinstance(labels[0], bool) else None)})
        y = np.array(labels * 20)
        if isinstance(labels[0], float):
            y = y.astype(str)
        tanbark.save(tanbark.NaiveBayes(class_prior=None).fit(X, pd.Series(y, name="y")), tmp_path / "m.tanbark")
        X.assign(y=y).to_csv("t.csv", index=False)
        said = run("predict", "m.tanbark", "t.csv", "-o", "out.csv").stderr
        assert "accuracy 100.0% on 40 rows" in said
