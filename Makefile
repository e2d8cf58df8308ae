# `make demo` and `make test` create the environment that they need.
PYTHON ?= python3
BIN := .venv/bin
# Do not compile modules at installation: most of them are never imported.
PIP := --quiet --no-compile --disable-pip-version-check
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-min test-install laws long fuzz mutants coverage docs lock audit peers bench bench-quality format clean

demo: .venv/.installed
	@$(BIN)/tanbark demo

test: .venv/.developer
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder

# Run the tests with the oldest packages that pyproject.toml allows, without Spark, Dask, River and ONNX. Warnings of old
# packages are not errors, and the pages, which show the output of new packages, are not tested.
test-min: .venv-min/.installed
	NUMBA_CACHE_DIR=$(CURDIR)/.venv-min/kernels .venv-min/bin/pytest -n 2 --dist loadfile --no-loadscope-reorder -W default --ignore src/tanbark/river.py --ignore src/tanbark/counts/dask.py --ignore tests/test_river.py --ignore tests/test_docs.py

# Install the wheel and the source distribution in an empty environment and an empty folder.
test-install: .venv/bin/python
	sh tests/install.sh $(PYTHON)

# Test every law on a hundred new random tables for each classifier.
laws: .venv/.developer
	LAW_EXAMPLES=$(or $(EXAMPLES),100) $(BIN)/pytest -n 2 tests/laws

# Run the tests that take minutes.
long: .venv/.developer
	$(BIN)/pytest -m long tests

# Fuzz the readers with hostile files, guided by coverage if atheris is available. Files that cause failures are kept.
fuzz: .venv/.developer
	-$(BIN)/pip install $(PIP) 'atheris>=3'
	$(BIN)/python tests/fuzz/run.py --minutes $(or $(MINUTES),1)

# Coverage of kernels is measured without compilation, by the laws and by tests on small tables.
coverage: .venv/.developer
	rm -f .coverage .coverage.*
	$(BIN)/coverage run -m pytest -n 2 --dist loadfile --no-loadscope-reorder
	NUMBA_DISABLE_JIT=1 LAW_EXAMPLES=2 $(BIN)/coverage run -m pytest -W default::RuntimeWarning -m 'not long and not compiled' tests/laws tests/parameters tests/scores tests/structure/trees/test_edge_weights.py tests/scores/test_gains.py tests/kernels/count/test_pairs.py tests/kernels/encode/test_number_columns.py
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered --fail-under 95

# Find small changes of the code that counts, searches and averages which no test detects. The memory limit stops
# mutants that allocate too much.
mutants: .venv/.developer
	$(BIN)/pip install $(PIP) 'mutmut==3.8.*'
	ulimit -v 12000000 && $(BIN)/python tests/mutants.py --sample 450

# Lock the newest versions that pyproject.toml allows, for all systems and Python versions; then run `make test`, commit.
lock: .venv/bin/python
	$(BIN)/pip install $(PIP) uv
	$(BIN)/uv pip compile pyproject.toml --extra dev --extra docs --universal --python-version 3.11 --generate-hashes --upgrade --no-emit-index-url --custom-compile-command 'make lock' --quiet --output-file requirements-dev.txt

# Check for known vulnerabilities, which needs network access.
audit: .venv/bin/python
	$(BIN)/pip install $(PIP) pip-audit
	$(BIN)/pip-audit --disable-pip --require-hashes --requirement requirements-dev.txt

docs: .venv/.developer
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Compare predictive quality on folders of tables: make bench-quality DATA='DIR DIR'. It takes hours and can be resumed.
bench-quality: .venv/.developer
	$(BIN)/python -m bench.quality $(addprefix --data ,$(DATA))

peers:
	$(PYTHON) -m venv bench/.peers/pyagrum && bench/.peers/pyagrum/bin/pip install --quiet pyagrum scikit-learn pandas
	$(PYTHON) -m venv bench/.peers/pgmpy && bench/.peers/pgmpy/bin/pip install --quiet torch==2.13.0 pgmpy
	$(PYTHON) -m venv bench/.peers/quality && bench/.peers/quality/bin/pip install --quiet lightgbm catboost interpret khiops scikit-learn pandas
	$(PYTHON) -m venv bench/.peers/pomegranate && bench/.peers/pomegranate/bin/pip install --quiet torch==2.13.0 pomegranate

bench: .venv/.developer
	$(BIN)/python -m bench
	$(BIN)/python -m bench.averaging
	$(BIN)/python -m bench.ensembles
	$(BIN)/python -m bench.greedy
	$(BIN)/python -m bench.exact
	$(BIN)/python -m bench.streams
	$(BIN)/python -m bench.evaluate
	$(BIN)/python -m bench.report
	$(BIN)/python -m bench.load
	$(BIN)/python -m bench.scale --rows 5000000
	$(BIN)/python -m bench.engines

format: .venv/.developer
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.installed: .venv/bin/python pyproject.toml
	$(BIN)/pip install $(PIP) --editable .
	@touch $@

.venv/.developer: .venv/bin/python pyproject.toml requirements-dev.txt
	$(BIN)/pip install $(PIP) --require-hashes --requirement requirements-dev.txt
	$(BIN)/pip install $(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

.venv-min/.installed: pyproject.toml
	$(PYTHON) -m venv --clear .venv-min
	$(PYTHON) tests/minimum_versions.py > .venv-min/oldest.txt
	.venv-min/bin/pip install $(PIP) --constraint .venv-min/oldest.txt --editable '.[test]'
	@touch $@

clean:
	rm -rf .venv .venv-min mutants site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
