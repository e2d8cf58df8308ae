"""The average over all trees against arbitrary precision, from the counts on."""

import numpy as np
import pandas as pd
import pytest
from flint import arb, ctx

from tanbark import AveragedTAN, Category, Counts, Schema


def frame(codes):
    return pd.DataFrame(codes.T, columns=[f"a{u}" for u in range(len(codes))])


def log_joint_in_balls(counts, ess, codes, bits=300):
    """Every log joint, from the counts on, in ball arithmetic, which bounds its own error."""
    classes, n = len(counts.class_counts), len(counts.schema.columns)
    arity = [int(r) for r in counts.schema.arity]
    before, ctx.prec = ctx.prec, bits
    try:

        def grown(cells, seen):
            return (arb(ess) / cells + int(seen)).lgamma() - (arb(ess) / cells).lgamma()

        weights = {}
        for u in range(n):
            for v in range(u):
                pair, total = counts.pair(u, v), arb(0)
                for k in range(classes):
                    total += sum((grown(classes * arity[u] * arity[v], x) for x in pair[k].ravel()), arb(0))
                    total -= sum((grown(classes * arity[u], x) for x in pair[k].sum(axis=1)), arb(0))
                    total -= sum((grown(classes * arity[v], x) for x in pair[k].sum(axis=0)), arb(0))
                weights[u, v] = total
        least = min(weights.values(), key=float)
        weights = {edge: (w - least).exp() for edge, w in weights.items()}

        def log_trees(factor):
            w = [[arb(0)] * n for _ in range(n)]
            for (u, v), weight in weights.items():
                w[u][v] = w[v][u] = weight * factor(u, v)
            total = arb(0)
            for k in range(n - 1, 0, -1):
                degree = sum(w[k][:k], arb(0))
                total += degree.log()
                for i in range(k):
                    for j in range(i):
                        w[i][j] = w[j][i] = w[i][j] + w[k][i] * w[k][j] / degree
            return total

        all_trees = log_trees(lambda u, v: arb(1))
        joints = []
        for row in codes.T.tolist():
            joints.append([])
            for k in range(classes):
                of_class = arb(int(counts.class_counts[k])) + arb(ess) / classes
                share = [
                    (arb(int(counts.value(u)[k, row[u]])) + arb(ess) / (classes * arity[u])) / of_class
                    for u in range(n)
                ]

                def ratio(u, v, k=k, row=row, of_class=of_class, share=share):
                    both = arb(int(counts.pair(u, v)[k, row[u], row[v]])) + arb(ess) / (classes * arity[u] * arity[v])
                    return both / of_class / (share[u] * share[v])

                joint = (of_class / (int(counts.class_counts.sum()) + arb(ess))).log()
                joints[-1].append(joint + sum((s.log() for s in share), arb(0)) + log_trees(ratio) - all_trees)
        assert all(float(j.rad()) < 1e-40 for row in joints for j in row)
        return joints
    finally:
        ctx.prec = before


@pytest.mark.parametrize(("n", "rows"), [(6, 300), (12, 10_000), (20, 100_000)])
def test_it_is_right_to_the_last_digits_at_any_size(n, rows):
    """From the counts on in 300 bits: log joints to 1e-13 relative for each edge, log posteriors to 1e-9."""
    rng = np.random.default_rng(n)
    arity = rng.integers(2, 6, n)
    schema = Schema([Category(f"a{u}", tuple(range(r))) for u, r in enumerate(arity)], (0, 1, 2))
    y = rng.integers(0, 3, rows)
    codes = np.zeros((n, rows), np.uint8)
    for u in range(n):
        above = codes[rng.integers(0, u)].astype(int) if u else y
        same = rng.random(rows) < rng.choice([0.0, 0.01, 0.5, 0.999])
        codes[u] = np.where(same, (above + y) % arity[u], rng.integers(0, arity[u], rows))
    counts = Counts.of(schema, codes, y)
    model = AveragedTAN().fit_counts(counts)
    # Rows of the table, and rows that have never been seen.
    asked = np.concatenate([codes[:, :4], np.array([rng.integers(0, r, 4) for r in arity], np.uint8)], axis=1)
    exact = log_joint_in_balls(counts, 10.0, asked)
    got = model.predict_joint_log_proba(frame(asked))
    log_posterior = model.predict_log_proba(frame(asked))
    for i, joints in enumerate(exact):
        evidence = sum((j.exp() for j in joints), arb(0)).log()
        for k, joint in enumerate(joints):
            assert abs(float(arb(float(got[i, k])) - joint)) < 1e-13 * (n - 1) * abs(float(joint))
            assert abs(float(arb(float(log_posterior[i, k])) - (joint - evidence))) < 1e-9
    if rows >= 10_000:
        # Where the determinant in doubles has nothing to say.
        log_weights = model.model_.posteriors[0].log_weights
        off = ~np.eye(n, dtype=bool)
        weights = np.where(off, np.exp(log_weights - log_weights[off].max()), 0.0)
        sign, _ = np.linalg.slogdet((np.diag(weights.sum(axis=1)) - weights)[1:, 1:])
        assert sign != 1


@pytest.mark.parametrize("ess", [1e-9, 10.0, 1e9])
@pytest.mark.parametrize("times", [0, 10**7, 10**12])
@pytest.mark.parametrize("levels", [4, 300])
def test_it_is_right_at_the_corners_of_priors_rows_and_levels(ess, times, levels):
    """Few rows, and ten million or a million million more that are all the same, under priors of any weight."""
    rng = np.random.default_rng(levels)
    arity = (2, levels, 5, 3)
    schema = Schema([Category(f"a{u}", tuple(range(r))) for u, r in enumerate(arity)], (0, 1))
    y = rng.integers(0, 2, 40)
    codes = np.array([rng.integers(0, r, 40) for r in arity]).astype(schema.dtype)
    codes[1] = (codes[0] + y) % levels
    same = np.zeros((4, 1), schema.dtype)
    counts = Counts.of(schema, codes, y) + Counts.of(schema, same, np.array([1])) * times
    asked = np.concatenate([codes[:, :3], same], axis=1)
    model = AveragedTAN(ess=ess).fit_counts(counts)
    exact = log_joint_in_balls(counts, ess, asked, bits=400)
    got, log_posterior = model.predict_joint_log_proba(frame(asked)), model.predict_log_proba(frame(asked))
    # What an edge weighs is known to a rounding for each row.
    slack = 1e-13 + 4e-16 * times
    for i, joints in enumerate(exact):
        evidence = sum((j.exp() for j in joints), arb(0)).log()
        for k, joint in enumerate(joints):
            assert abs(float(arb(float(got[i, k])) - joint)) < slack * max(abs(float(joint)), 1.0)
            assert abs(float(arb(float(log_posterior[i, k])) - (joint - evidence))) < 10 * slack
