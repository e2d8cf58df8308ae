"""The penalised likelihood against a plain formulation of it, and its optimum against scipy."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from evidence.plain_evidence import encoded, mixed_frame
from tanbark.evidence.design import learn_design
from tanbark.evidence.penalised_weights import Setting, Weighting, log_loss, n_parameters, scores, split_parameters
from tanbark.evidence.penalty_path import FINAL_TOLERANCE, FOLD_TOLERANCE
from tanbark.evidence.questions import Questions
from tanbark.kernels.evidence.additive_solver import penalised_loss

COLUMNS = ["length", "colour", "age"]
PARENTS = ((1,), (), (0, 1))
SETTINGS = [
    Setting(2, 3.0, 1.0, 0.5),
    Setting(2, 30.0, 10.0, None),
    Setting(1, 0.1, 100.0, 3.0),
    Setting(0, 300.0, None, None),
]
TIGHT = {"tolerance": 1e-16, "max_steps": 2000}


def small_design(rows=40, seed=0, classes=2):
    frame, y = mixed_frame(rows, seed, classes)
    weights = np.random.default_rng(seed).choice([0.5, 1.0, 2.0], rows)
    distinct = encoded(frame[COLUMNS], y, "marginalize", weights).distinct
    arity = distinct.schema.arity.tolist()
    totals = [np.bincount(np.minimum(c, a), distinct.each, a + 1)[:-1] for c, a in zip(distinct.codes, arity)]
    log_prior = np.log(np.bincount(distinct.classes, distinct.each) / distinct.each.sum())
    return learn_design(distinct, Questions.learn(distinct.schema, totals), PARENTS, log_prior, 2.0, 1).design


class Plain:
    """The penalised loss, with an explicit shift of the weights of each depth, as a function of the free variables."""

    def __init__(self, design, setting):
        rows, (_, depths, classes) = design.cells.shape[1], design.evidence.shape
        attributes, corrections = len(design.start) - 1, design.corrections
        first = depths * attributes + classes
        self.design, self.depths = design, min(setting.depth + 1, depths)
        self.slopes = np.zeros((rows, classes, n_parameters(design)))
        for row in range(rows):
            for k in range(classes):
                slope = self.slopes[row, k]
                slope[depths * attributes + k] = 1
                for u in range(attributes):
                    cell = design.cells[u, row]
                    if cell < 0:
                        continue
                    code = design.cell_codes[cell]
                    for d in range(depths):
                        slope[d * attributes + u] = design.evidence[cell, d, k]
                    for line in range(2):
                        slope[first + (2 * u + line) * classes + k] = corrections.features[code, line]
                    for at in [*corrections.bins[code], design.cell_edges[cell]]:
                        if at >= 0:
                            slope[first + at * classes + k] += 1
        self.penalty = np.zeros(self.slopes.shape[2])
        self.weights = np.arange(self.depths * attributes)
        self.penalty[depths * attributes : first] = 1.0
        lines = first + 2 * attributes * classes
        edges = first + corrections.n_codes * classes
        if setting.correction_penalty is not None:
            self.penalty[first:lines] = 0.03 * setting.correction_penalty
            self.penalty[lines:edges] = setting.correction_penalty
            if setting.edge_penalty is not None:
                self.penalty[edges:] = setting.edge_penalty
        self.free = self.penalty > 0
        self.free[self.weights] = True
        self.weight_penalty = setting.weight_penalty

    def loss(self, x, shifts):
        design = self.design
        z = design.log_prior + self.slopes @ x
        wrong = logsumexp(z, axis=1) - z[np.arange(len(z)), design.classes]
        away = x[self.weights].reshape(self.depths, -1) - 1 - shifts[:, None]
        penalty = self.weight_penalty * (away**2).sum() + 2 * (shifts**2).sum() + (self.penalty * x**2).sum()
        return design.weights @ wrong + penalty / 2

    def gradient(self, x, shifts):
        """Return the derivatives in the free variables and in the shifts."""
        design = self.design
        z = design.log_prior + self.slopes @ x
        p = np.exp(z - logsumexp(z, axis=1, keepdims=True))
        p[np.arange(len(z)), design.classes] -= 1
        of_x = np.einsum("rk,rkj->j", design.weights[:, None] * p, self.slopes) + self.penalty * x
        away = x[self.weights].reshape(self.depths, -1) - 1 - shifts[:, None]
        of_x[self.weights] += self.weight_penalty * away.ravel()
        return np.append(of_x[self.free], 2 * shifts - self.weight_penalty * away.sum(axis=1))

    def profiled(self, x):
        """Return the loss with the best shifts, by a search over each."""
        away = x[self.weights].reshape(self.depths, -1) - 1
        found = minimize(
            lambda a: self.weight_penalty * ((away - a[:, None]) ** 2).sum() + 2 * (a**2).sum(),
            np.zeros(self.depths),
            tol=1e-14,
        )
        return self.loss(x, found.x)

    def optimum(self, method, **options):
        """Return the least loss that scipy finds over the free variables and the shifts, and the variables."""
        n = int(self.free.sum())
        x = np.zeros(len(self.free))

        def unpack(v):
            x[self.free] = v[:n]
            return x, v[n:]

        start = np.append(
            np.where(np.isin(np.arange(len(x)), self.weights), 1.0, 0.0)[self.free], np.zeros(self.depths)
        )
        bounds = [(0, None)] * len(self.weights) + [(None, None)] * (len(start) - len(self.weights))
        found = minimize(
            lambda v: self.loss(*unpack(v)), start, jac=lambda v: self.gradient(*unpack(v)), method=method,
            bounds=bounds, options=options,
        )  # fmt: skip
        return found.fun, unpack(found.x)[0]


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_loss_and_its_gradient_are_those_of_the_plain_formula(setting):
    design = small_design(classes=3)
    plain, weighting = Plain(design, setting), Weighting(design, design.weights, setting)
    rng = np.random.default_rng(1)
    x = np.where(plain.free, rng.normal(size=len(plain.free)), 0.0)
    gradient = np.zeros_like(x)

    def loss(at):
        return penalised_loss(at, weighting._problem(), gradient)

    assert loss(x) == pytest.approx(plain.profiled(x), rel=1e-10)
    loss(x)
    found = gradient.copy()
    for j in rng.permutation(np.flatnonzero(plain.free))[:60]:
        step = np.zeros_like(x)
        step[j] = 1e-5
        assert (loss(x + step) - loss(x - step)) / 2e-5 == pytest.approx(found[j], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_optimum_is_that_of_scipy_over_weights_corrections_and_shared_shifts(setting):
    design = small_design()
    plain = Plain(design, setting)
    fit = Weighting(design, design.weights, setting).solve(**TIGHT)
    least, x = plain.optimum("L-BFGS-B", maxiter=20_000, maxfun=100_000, ftol=1e-15, gtol=1e-9, maxcor=30)
    assert fit.gap < 1e-6
    assert fit.loss == pytest.approx(least, abs=1e-6)
    assert plain.profiled(fit.parameters) == pytest.approx(fit.loss, abs=1e-9)
    np.testing.assert_allclose(fit.parameters, x, atol=1e-3)


def test_a_second_method_finds_the_same_optimum():
    design, setting = small_design(25), Setting(0, 1.0, 2.0, None)
    least, _ = Plain(design, setting).optimum("SLSQP", maxiter=500, ftol=1e-12)
    fit = Weighting(design, design.weights, setting).solve(**TIGHT)
    assert fit.loss == pytest.approx(least, abs=1e-6)


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_gap_bounds_how_far_the_loss_is_above_its_minimum(setting):
    design = small_design(seed=3)
    weighting = Weighting(design, design.weights, setting)
    least = weighting.solve(**TIGHT).loss
    gaps = []
    for steps in (1, 2, 4, 8, 16):
        fit = weighting.solve(tolerance=0.0, max_steps=steps)
        assert least - 1e-9 <= fit.loss <= least + fit.gap
        gaps.append(fit.gap)
    assert gaps[-1] < gaps[0]


def test_weights_are_not_negative_and_a_weight_at_its_bound_would_like_to_be():
    """Evidence that contradicts the classes: its best weights are below zero."""
    design = small_design(seed=4)
    against = type(design)(**vars(design) | {"evidence": -5 * design.evidence})
    for setting in SETTINGS:
        fit = Weighting(against, against.weights, setting).solve(**TIGHT)
        weights = split_parameters(against, fit.parameters).weights
        assert (weights >= 0).all()
    setting = Setting(2, 0.1, 100.0, None)
    weighting = Weighting(against, against.weights, setting)
    fit = weighting.solve(**TIGHT)
    at_bound = np.flatnonzero(fit.parameters[: weighting._bounded] == 0)
    assert len(at_bound)
    gradient = np.zeros_like(fit.parameters)
    penalised_loss(fit.parameters, weighting._problem(), gradient)
    assert (gradient[at_bound] >= -1e-6).all()
    assert fit.gap < 1e-6


def test_variables_that_a_setting_leaves_out_stay_zero():
    design = small_design()
    everything = np.full(n_parameters(design), 0.7)
    fit = Weighting(design, design.weights, Setting(1, 3.0, None, 5.0)).solve(everything, **TIGHT)
    found = split_parameters(design, fit.parameters)
    assert not found.weights[2].any()
    assert found.weights[:2].any()
    assert not found.corrections.any()
    without_edges = Weighting(design, design.weights, Setting(2, 3.0, 5.0, None)).solve(everything, **TIGHT)
    corrections = split_parameters(design, without_edges.parameters).corrections
    assert corrections[: design.corrections.n_codes].any()
    assert not corrections[design.corrections.n_codes :].any()


def test_the_start_and_the_length_of_pieces_change_only_the_way_to_the_optimum(monkeypatch):
    design = small_design(seed=5)
    weighting = Weighting(design, design.weights, SETTINGS[0])
    fit = weighting.solve(**TIGHT)
    elsewhere = weighting.solve(np.full(n_parameters(design), 2.0), **TIGHT)
    assert elsewhere.loss == pytest.approx(fit.loss, abs=1e-6)
    # A kernel cannot be interrupted, so that long work is done in pieces.
    monkeypatch.setattr("tanbark.evidence.penalised_weights.MAX_STEPS_PER_TASK", 1)
    assert weighting.solve(**TIGHT).loss == pytest.approx(fit.loss, abs=1e-6)


def test_scores_are_those_of_the_plain_formula():
    design = small_design(classes=3)
    x = np.random.default_rng(2).normal(size=n_parameters(design))
    expected = design.log_prior + Plain(design, SETTINGS[0]).slopes @ x
    found = scores(design, x)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    wrong = logsumexp(expected, axis=1) - expected[np.arange(len(expected)), design.classes]
    assert log_loss(found, design, design.weights) == pytest.approx(design.weights @ wrong)


def test_without_cells_or_weight_there_is_nothing_to_learn():
    design = small_design()
    unweighted = Weighting(design, np.zeros_like(design.weights), SETTINGS[0]).solve(**TIGHT)
    assert np.array_equal(unweighted.parameters, Weighting(design, design.weights, SETTINGS[0]).start)
    assert unweighted.loss == 0


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("seed", [1, 2])
def test_fits_with_the_tolerances_in_use_end_near_the_optimum(setting, seed):
    design = small_design(150, seed, 3)
    weighting = Weighting(design, design.weights, setting)
    least = weighting.solve(**TIGHT).loss
    for tolerance, nats in ((FOLD_TOLERANCE, 0.5), (FINAL_TOLERANCE, 0.02)):
        found = weighting.solve(tolerance=tolerance)
        assert -1e-9 * least <= found.loss - least <= nats
        assert found.loss - least <= found.gap + 1e-9 * least
