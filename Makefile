# The two commands of the README, and what stands behind them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q

.PHONY: demo test check tests tests-shell tests-jobs tests-rest browser soak format clean

demo: $(VENV)/.core
	$(BIN)/penstock demo

# The checks and three parts of the tests side by side: much of the time a test waits for a process
# of its own.
test: $(VENV)/.test browser
	$(MAKE) -j4 --output-sync=target check tests-shell tests-jobs tests-rest

check: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

SHELL_TESTS := cli docs bench redteam moonshot
JOB_TESTS := generate grade live reports
tests: $(VENV)/.test browser
	$(MAKE) -j3 --output-sync=target tests-shell tests-jobs tests-rest

tests-shell:
	$(BIN)/python -m pytest $(SHELL_TESTS:%=tests/%)

tests-jobs:
	$(BIN)/python -m pytest $(JOB_TESTS:%=tests/%)

tests-rest:
	$(BIN)/python -m pytest tests $(SHELL_TESTS:%=--ignore=tests/%) $(JOB_TESTS:%=--ignore=tests/%)

# Pages are looked at in the system's Chromium; where it cannot be had, those tests say so and skip.
browser:
	@command -v chromium >/dev/null || { apt-get update -qq && apt-get install -y -qq chromium; } \
	  >/dev/null 2>&1 || echo "no Chromium: the tests of pages will be skipped"

soak: $(VENV)/.test
	$(BIN)/python -m pytest -m soak

format: $(VENV)/.test
	$(BIN)/ruff check --fix -q . ; $(BIN)/ruff format -q .

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) install -c constraints.txt -e .
	@touch $@

$(VENV)/.test: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) install -c constraints.txt -e '.[test]'
	@touch $@ $(VENV)/.core

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis build dist
