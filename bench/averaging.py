"""Compare the average over all trees with determinants in double and in arbitrary precision.

python -m bench.averaging [--data DIR] [--quick] writes bench/results/averaging.md and the figure of docs/averaging.md.
"""

import argparse
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from flint import arb, arb_mat, ctx

from bench.tables import best, machine, random_tan, seconds
from tanbark import TAN, AveragedTAN

HERE = Path(__file__).parent
HOW = (
    "All figures are from the same run, one program at a time, the best of several repetitions. Microseconds are for "
    "one row and one class."
)


class Problem:
    """A fitted average, and the weighted graph that it defines for each row and class."""

    def __init__(self, n, train, asked, classes=2):
        X, y = random_tan(train + asked, n, classes=classes)
        self.X = X[train:]
        self.model = AveragedTAN().fit(X[:train], y[:train])
        mixture = self.model.model_
        self.classes, self.n = classes, n
        self.ratios = mixture.ratios
        self.mantissa, self.exponent = mixture.posteriors[0].scaled
        self.log_weights = mixture.posteriors[0].log_weights
        self.values = self.model.schema_.encode(self.X).astype(np.int64) + self.model.schema_.offset[:-1, None]

    def ratio(self, rows, k):
        """Return the factors of all edges, of shape (rows, n, n)."""
        at = self.values[:, rows].T
        return self.ratios[at[:, :, None], at[:, None, :], k]

    def in_doubles(self, rows):
        """Return the log average of each row and class by LAPACK's determinants, or NaN where they fail."""
        off = ~np.eye(self.n, dtype=bool)
        weights = np.where(off, np.exp(self.log_weights - self.log_weights[off].max()), 0.0)

        def log_sum(w):
            laplacian = -w
            laplacian[:, range(self.n), range(self.n)] = w.sum(axis=2)
            sign, logs = np.linalg.slogdet(laplacian[:, 1:, 1:])
            return np.where((sign > 0) & np.isfinite(logs), logs, np.nan)

        return np.array([log_sum(weights * self.ratio(rows, k)) for k in range(self.classes)]).T - log_sum(
            weights[None]
        )

    def balls(self, row=None, k=None):
        """Return the weights of one row and class, or of the posterior, exactly as in tanbark's kernel."""
        ratio = np.ones((self.n, self.n)) if row is None else self.ratio([row], k)[0]
        w = [[arb(0)] * self.n for _ in range(self.n)]
        for u in range(self.n):
            for v in range(u):
                power = arb(2) ** int(self.exponent[u, v])
                w[u][v] = w[v][u] = arb(float(self.mantissa[u, v] * ratio[u, v])) * power
        return w

    def determinant(self, row, k, bits):
        """Return the log of Kirchhoff's determinant in ball arithmetic with a number of bits."""
        ctx.prec = bits
        w = self.balls(row, k)
        minor = [
            [-w[u][v] if u != v else sum((x for i, x in enumerate(w[u]) if i != u), arb(0)) for v in range(1, self.n)]
            for u in range(1, self.n)
        ]
        return arb_mat(minor).det().log()

    def bits(self, row, k, seconds):
        """Return the bits, a power of two, that the determinant needs for 13 digits, or None after a time limit."""
        start, bits = time.perf_counter(), 64
        while time.perf_counter() - start < seconds:
            logarithm = self.determinant(row, k, bits)
            if logarithm.is_finite() and float(logarithm.rad()) < 1e-13:
                return bits
            bits *= 2
        return None

    def exactly(self, row=None, k=None):
        """Return the log tree sum by star-mesh transformations in ball arithmetic with 300 bits."""
        ctx.prec = 300
        w = self.balls(row, k)
        total = arb(0)
        for last in range(self.n - 1, 0, -1):
            degree = sum(w[last][:last], arb(0))
            total += degree.log()
            for i in range(last):
                for j in range(i):
                    w[i][j] = w[j][i] = w[i][j] + w[last][i] * w[last][j] / degree
        return total

    def ours(self, rows):
        """Return tanbark's log average of each row and class."""
        mixture = self.model.model_
        alone = np.log(mixture.values)[self.values[:, rows]].sum(axis=0)
        return self.model.predict_joint_log_proba(self.X[rows]) - mixture.class_log_prior - alone


def errors(problem, rows):
    """Return the errors of tanbark and of LAPACK in the log of the average over all trees; NaN is a failure."""
    posterior = problem.exactly()
    exact = [[problem.exactly(row, k) - posterior for k in range(problem.classes)] for row in rows]
    return [
        np.array(
            [
                [abs(float(arb(float(a)) - e)) for a, e in zip(*pair, strict=True)]
                for pair in zip(answers, exact, strict=True)
            ]
        )
        for answers in (problem.ours(rows), problem.in_doubles(rows))
    ]


def compare(n, train, quick):
    """Return the lines of a table: speed and accuracy of each method at one size."""
    n_rows = {16: 20_000, 36: 4_000}[n] // (10 if quick else 1)
    problem = Problem(n, train, n_rows)
    rows = np.arange(n_rows)
    ours, theirs = errors(problem, np.arange(30))
    lines = []

    def line(name, each, error, answered, note=""):
        error = f"{error:.1g}" if np.isfinite(error) else ""
        each_us = f"{each * 1e6:.3g}" if each < 1e-3 else f"{each * 1e6:,.0f}"
        lines.append(f"| {name} | {each_us} us | {mine / each:.3g} | {error} | {answered:.0%} | {note} |")

    def timed(jobs):
        problem.model.set_params(n_jobs=jobs).predict_joint_log_proba(problem.X[:100])
        return best(lambda: problem.model.predict_joint_log_proba(problem.X), 7) / n_rows / problem.classes

    mine = timed(-1)
    line("tanbark, all cores", mine, ours.max(), 1.0)
    line("tanbark, one thread", timed(1), ours.max(), 1.0)
    slog = rows[:2000]
    with np.errstate(all="ignore"):
        each = best(lambda: problem.in_doubles(slog), 3) / len(slog) / problem.classes
    right = theirs < 1e-6
    line("numpy.linalg.slogdet", each, theirs[right].max(initial=0) if right.any() else np.nan, right.mean())
    bits = problem.bits(0, 0, 2 if quick else 100)
    if bits is None:
        lines.append("| python-flint, determinant | more than 100 s | | | | |")
    else:
        each = best(lambda: problem.determinant(0, 0, bits), 3)
        error = abs(float(problem.determinant(0, 0, bits) - problem.exactly(0, 0)))
        line("python-flint, determinant", each, error, 1.0, f"{bits:,} bits")
    spread = np.ptp(problem.log_weights[np.triu_indices(n, 1)])
    print(f"  n = {n}, {train:,} rows: {mine * 1e6:.2f} us, spread {spread:,.0f}")
    return [
        f"## {n} attributes of 4 levels, learned from {train:,} rows",
        "",
        f"The edge weights differ by a factor of up to e^{spread:,.0f}.",
        "",
        "| method | per row and class | tanbark / method | largest error of log P(row \\| class) | correct to 1e-6 | |",
        "| --- | --- | --- | --- | --- | --- |",
        *lines,
        "",
    ]


def fits(quick):
    """Return Markdown lines: the time of a fit compared with that of TAN."""
    lines = ["## Fit", "", "| rows x attributes | TAN | AveragedTAN | ratio |", "| --- | --- | --- | --- |"]
    sizes = [(10_000, 20, 0.0), (10_000, 20, 0.1), (100_000, 30, 0.0), (100_000, 30, 0.1), (1_000_000, 30, 0.0)]
    for rows, n, missing in sizes[: 2 if quick else 5]:
        X, y = random_tan(rows, n)
        if missing:
            X = np.where(np.random.default_rng(0).random(X.shape) < missing, np.nan, X)
        models = [TAN(n_jobs=-1).fit(X, y), AveragedTAN(n_jobs=-1).fit(X, y)]
        times = [[], []]
        for _ in range(9):
            for model, taken in zip(models, times, strict=True):
                start = time.perf_counter()
                model.fit(X, y)
                taken.append(time.perf_counter() - start)
        single, averaged = map(min, times)
        note = ", 10 % missing" if missing else ""
        lines.append(f"| {rows:,} x {n}{note} | {seconds(single)} | {seconds(averaged)} | {averaged / single:.3g} |")
        print(f"  fit {rows:,} x {n}: {averaged / single:.3g}")
    return [*lines, ""]


def growth(quick):
    """Return Markdown lines: the time of a prediction, which does not depend on the number of training rows."""
    lines = ["## Training rows", "", "| training rows | per row and class, 16 attributes |", "| --- | --- |"]
    for train in (1_000, 10_000, 100_000, 1_000_000)[: 2 if quick else 4]:
        problem = Problem(16, train, 20_000)
        problem.model.set_params(n_jobs=-1)
        each = best(partial(problem.model.predict_proba, problem.X), 5) / 20_000 / 2
        lines.append(f"| {train:,} | {each * 1e6:.3g} us |")
    return [*lines, ""]


def adult(folder):
    """Return Markdown lines: ten-fold cross-validation of Adult."""
    from sklearn.model_selection import cross_validate

    from tanbark.datasets import read_folder

    data = read_folder(folder)["adult"]
    X, y = data.table, np.array(data.labels.to_pylist())
    X = X.to_pandas()
    lines = [
        "## Ten-fold cross-validation of Adult",
        "",
        "| | time | log loss | accuracy |",
        "| --- | --- | --- | --- |",
    ]
    for model in (TAN(n_jobs=-1), AveragedTAN(n_jobs=-1), AveragedTAN(n_jobs=-1, stubbornness=5)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Compile the kernels, or load them from the cache, before the measurement.
            model.fit(X[:5000], y[:5000]).predict_proba(X[:5000])
            start = time.perf_counter()
            scores = cross_validate(model, X, y, cv=10, scoring=["neg_log_loss", "accuracy"])
        took = time.perf_counter() - start
        name = str(model).replace("n_jobs=-1", "").replace("(, ", "(")
        loss, accuracy = -scores["test_neg_log_loss"].mean(), scores["test_accuracy"].mean()
        lines.append(f"| {name} | {took:.1f} s | {loss:.4f} | {accuracy:.4f} |")
        print(f"  adult {name}: {took:.1f} s")
    incomplete = int(X.isna().any(axis=1).sum())
    return [*lines, "", f"{len(X):,} rows, {incomplete:,} of them with missing values; five quantile bins.", ""]


def figure(path):
    """Plot the errors of both methods in double precision against the number of training rows."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "tanbark"
    from matplotlib import pyplot as plt

    sizes = [30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000]
    mine, lapack, answered = [], [], []
    for train in sizes:
        ours, theirs = errors(Problem(16, train, 40), np.arange(40))
        mine.append(ours.max())
        lapack.append(np.where(np.isfinite(theirs), np.minimum(theirs, 1e3), 1e3).max())
        answered.append((theirs < 1e-6).mean())
    shown, (above, below) = plt.subplots(
        2, 1, figsize=(7, 5.2), sharex=True, height_ratios=[2, 1], layout="constrained"
    )
    above.loglog(sizes, np.maximum(mine, 1e-17), "o-", color="#1b7837", label="tanbark: reduction without subtraction")
    above.loglog(sizes, lapack, "s--", color="#b2182b", label="numpy.linalg.slogdet (1e3: failure)")
    above.set_ylabel("largest error of log P(row | class)")
    above.legend(frameon=False)
    below.semilogx(sizes, [1.0] * len(sizes), "o-", color="#1b7837")
    below.semilogx(sizes, answered, "s--", color="#b2182b")
    below.set_ylabel("correct to 1e-6")
    below.set_ylim(-0.05, 1.1)
    below.set_xlabel("training rows (16 attributes)")
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(exist_ok=True)
    shown.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="a folder with adult.csv.gz, for the cross-validation")
    parser.add_argument("--quick", action="store_true", help="small tables only, to test the benchmark")
    options = parser.parse_args()
    lines = ["# The average over all trees", "", *machine(HOW)]
    for n in (16, 36):
        for train in (1_000,) if options.quick else (1_000, 100_000):
            lines += compare(n, train, options.quick)
    lines += growth(options.quick) + fits(options.quick)
    if options.data:
        lines += adult(options.data)
    results = HERE / "results"
    results.mkdir(exist_ok=True)
    target = results / ("quick.md" if options.quick else "averaging.md")
    target.write_text("\n".join(lines))
    if not options.quick:
        figure(HERE.parent / "docs" / "figures" / "averaging.svg")
    print(f"written to {target.relative_to(HERE.parent)}")


if __name__ == "__main__":
    main()
