# make lab        JupyterLab on the notebooks (the first call installs everything into .venv)
# make test       lint, types and the quick tests
# make test-long  the tests that take longer: every notebook, and JupyterLab in a real browser
# make test-exhaustive  the tests that take minutes each
# make bench      time, bracket width and memory of the standard cases, beside every other accountant that is there
# make scale      how time grows with steps, transform size, mechanisms and eps points
# make peers      installs other accountants for `make bench`, each into an environment of its own
# make strict     10,000 random brackets against 20-digit references; goes on where it stopped
# make clean      removes what the above made, .venv included
#
# LAB_ARGS, TEST_ARGS and BENCH_ARGS are passed through: make lab LAB_ARGS="--no-browser --port 8899"
# PYTHON names the interpreter that .venv is made with: make lab PYTHON=python3.12

PYTHON    ?= python3
LAB_ARGS  ?=
TEST_ARGS ?=
BENCH_ARGS ?=
STRICT_ARGS ?=

BIN  := .venv/bin
PIP  := $(BIN)/python -m pip --disable-pip-version-check --quiet install --constraint constraints.txt
LAB_SETTINGS := .venv/share/jupyter/lab/settings/overrides.json

# JupyterLab refuses to run as root unless told that this is meant.
ALLOW_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)

.PHONY: help lab test test-long test-exhaustive peers bench scale strict clean

help:
	@sed -n 's/^# //p' Makefile

lab: .venv/.lab-installed
	$(BIN)/jupyter lab --ServerApp.root_dir=notebooks --LabApp.default_url=/lab/tree/00_start_here.ipynb \
	  $(ALLOW_ROOT) $(LAB_ARGS)

test: .venv/.test-installed
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -m "not long and not exhaustive" --numprocesses 2 $(TEST_ARGS)

test-long: .venv/.test-installed
	$(BIN)/python -m pytest -m long --numprocesses 2 --dist worksteal --ignore tests/browser tests $(TEST_ARGS)
	$(BIN)/python -m pytest -m long --nbmake --nbmake-timeout=60 tests/browser notebooks $(TEST_ARGS)

test-exhaustive: .venv/.test-installed
	$(BIN)/python -m pytest -m exhaustive --numprocesses 2 tests $(TEST_ARGS)

peers: .venv/.lab-installed
	$(BIN)/python -m dplab.peers

strict: .venv/.lab-installed
	$(BIN)/python -m dplab.experiments.strict $(STRICT_ARGS)

# An inherited choice of BLAS kernel would slow numpy down and falsify the times.
bench: .venv/.lab-installed
	env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE $(BIN)/python -m dplab.experiments.bench $(BENCH_ARGS)

scale: .venv/.lab-installed
	env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE $(BIN)/python -m dplab.experiments.scale $(BENCH_ARGS)

clean:
	rm -rf .venv .venv-* build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find dplab tests notebooks exercises -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

# The stamp files make a second call start at once.
.venv/.lab-installed: $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing into .venv (about a minute, this once)"
	$(PIP) --editable .
	mkdir -p $(dir $(LAB_SETTINGS))
	printf '%s\n' '{"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false}}' > $(LAB_SETTINGS)
	touch $@

.venv/.test-installed: .venv/.lab-installed
	$(PIP) --editable ".[test]"
	touch $@

# Make follows the link, so that a .venv whose interpreter has gone is made anew.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "dplab needs Python 3.11 or newer: make $(MAKECMDGOALS) PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv --clear .venv || { rm -rf .venv; exit 1; }
