"""Hot loops: plain functions on arrays, compiled by numba, that know nothing of estimators."""
