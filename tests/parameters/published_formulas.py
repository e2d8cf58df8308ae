"""The published formulas of the estimators of probability tables."""

FORMULAS = {
    # n: count of the cell, m: count of the parents' configuration, f: relative frequency of the child's value,
    # r: arity of the child, q: number of configurations, s: ess
    "ml": lambda n, m, _f, r, _q, _s: n / m if m else 1 / r,
    "softened": lambda n, m, f, _r, _q, s: (n + s * f) / (m + s),
    "dirichlet": lambda n, m, _f, r, q, s: (n + s / (r * q)) / (m + s / q),
    "laplace": lambda n, m, _f, r, _q, _s: (n + 1) / (m + r),
    "m": lambda n, m, _f, r, _q, s: (n + s / r) / (m + s),
}
