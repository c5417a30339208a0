# Each target makes .venv itself; nothing has to be installed first but Python 3.11 or newer.
# Another Python, beside the first: make test VENV=.venv-3.13 PYTHON=/path/to/python3.13

SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?=
# tests/conftest.py counts them by processors and memory.
WORKERS ?= auto
MINUTES ?= 10
GROWTH ?=
FOLDER ?= var/screenshots
TARGETS ?= smtp,mime,reply,command,sender,report
EXTRAS := postgresql,tools,pictures,house,events
# pip prints much that nobody needs, and then nothing for a minute: a line every five seconds says how
# far it is, and all of its own words are shown if it fails.
INSTALL := sh -c 'log=$(VENV)/pip.log; \
  $(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt "$$@" >"$$log" 2>&1 & \
  pip=$$!; seconds=0; \
  while kill -0 $$pip 2>/dev/null; do \
    sleep 1; seconds=$$((seconds + 1)); \
    [ $$((seconds % 5)) -ne 0 ] || \
      echo "  $$seconds s: $$(grep -c "^Collecting" "$$log") packages" \
        "$$(grep -q "^Installing" "$$log" && echo fetched, being unpacked || echo fetched so far)"; \
  done; \
  wait $$pip || { cat "$$log" >&2; exit 1; }' install

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help serve test test-quick check screenshots bench bench-growth fuzz dist clean same-python

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

serve: $(VENV)/.runtime ## Run the server here (Ctrl-C stops it; its files are in var/)
	@echo "Starting the server ..."
	@$(BIN)/pbmserv serve

# Every worker imports every test, which takes three times as long where nothing compiled is kept.
test test-quick: export PYTHONDONTWRITEBYTECODE :=

test: $(VENV)/.dev ## Run the tests
	$(BIN)/pytest -n $(WORKERS) --dist worksteal

test-quick: $(VENV)/.dev ## Run the quick tests: each feature once, on SQLite
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not slow"

check: $(VENV)/.dev ## Format, lint, types, import rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --strict
	$(BIN)/lint-imports

# An installed server has its modules compiled, and so has one that is measured.
bench bench-growth: export PYTHONDONTWRITEBYTECODE :=

bench: $(VENV)/.dev ## Measure what must not get worse, beside other servers
	$(BIN)/python -m benchmarks

bench-growth: $(VENV)/.dev ## Measure what a move costs in a full database (GROWTH=--quick for less)
	$(BIN)/python -m benchmarks.growth $(GROWTH)

screenshots: $(VENV)/.dev ## Photograph every page, for you to look at (FOLDER=var/screenshots)
	PYTHONPATH=tests $(BIN)/python tests/browser/pictures.py $(FOLDER)

fuzz: $(VENV)/.dev ## Search for mails that break the server (MINUTES=10 for each of TARGETS)
	@$(INSTALL) -e '.[$(EXTRAS),fuzz]'
	$(BIN)/python tests/fuzz/fuzz.py $(TARGETS) $(MINUTES)

dist: $(VENV)/.dev ## Build the wheel, its constraints and the source archive into dist/
	rm -rf dist
	$(BIN)/python -m build
	cp constraints.txt dist/

clean: ## Remove .venv, caches and dist/ (never var/, which is your data)
	rm -rf .venv .venv-* $(VENV) dist build htmlcov .coverage .coverage.* *.egg-info
	rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find pbmserv tests benchmarks generators migrations -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.python:
	@set -e; found=; \
	for python in $(if $(PYTHON),$(PYTHON),python3 python3.14 python3.13 python3.12 python3.11); do \
	  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
	    found=$$python; break; \
	  fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "pbmserv needs Python 3.11 or newer, and none was found." >&2; \
	  echo "Install one, or name it: make PYTHON=/path/to/python3.11" >&2; exit 1; \
	fi; \
	echo "Making a Python environment in $(VENV) ..."; \
	if ! "$$found" -m venv $(VENV); then \
	  rm -rf $(VENV); \
	  echo "$$found could not make a virtual environment (Debian: apt install python3-venv)." >&2; \
	  exit 1; \
	fi; \
	touch $@

# A PYTHON that is named is the one that is used, or nothing runs.
same-python: $(VENV)/.python
	@if [ -n "$(PYTHON)" ]; then \
	  asked=$$("$(PYTHON)" -c 'import platform; print(platform.python_version())'); \
	  there=$$($(BIN)/python -c 'import platform; print(platform.python_version())'); \
	  if [ "$$asked" != "$$there" ]; then \
	    echo "$(VENV) has Python $$there, not $$asked; choose another: make VENV=.venv-$$asked" >&2; \
	    exit 1; \
	  fi; \
	fi

# What `make serve` needs comes first and alone: the server and all its parts.
$(VENV)/.runtime: $(VENV)/.python pyproject.toml constraints.txt | same-python
	@echo "Installing what the server needs into $(VENV) ..."
	@$(INSTALL) -e '.[$(EXTRAS)]'
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime
	@echo "Installing the development tools into $(VENV) ..."
	@$(INSTALL) -e '.[$(EXTRAS),dev]'
	@touch $@
