"""Time tanbark's TAN: python tanbark_tan.py --data FILE.npz --repeat N [--n-jobs J]."""

import resource
import time
from pathlib import Path

from common import arguments, best, load, report


def resident_mb():
    """Return the current resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def main():
    options = arguments(n_jobs=(-1, "threads, as in scikit-learn"))
    import tanbark

    X, y, X_test = load(options.data)
    model = tanbark.TAN(n_jobs=options.n_jobs)
    model.fit(X[:20_000], y[:20_000]).predict_proba(X_test[:20_000])  # compile the kernels
    before = resident_mb()
    start = time.perf_counter()
    model.fit(X, y)
    first = time.perf_counter() - start
    extra = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10 - before
    fit_seconds, _ = best(lambda: model.fit(X, y), options.repeat)
    predict_seconds, _ = best(lambda: model.predict_proba(X_test), options.repeat)
    codes = model.schema_.encode(X)
    classes = model.schema_.encode_target(y)
    count_seconds, _ = best(
        lambda: tanbark.Counts.of(model.schema_, codes, classes, n_jobs=options.n_jobs), options.repeat
    )
    report(
        "tanbark TAN",
        tanbark.__version__,
        min(first, fit_seconds),
        predict_seconds,
        len(X_test),
        count_seconds=count_seconds,
        extra_mb=round(extra, 1),
        input_mb=round(X.nbytes / 2**20, 1),
    )


if __name__ == "__main__":
    main()
