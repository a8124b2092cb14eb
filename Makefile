# Works with GNU make 3.81 (macOS) and newer. `make` alone lists the targets.
# Every target that needs Python makes or updates the virtual environment itself; stamps keep repeats quick.
# The repository's own path may hold spaces (all paths here are relative); VENV may not, as make splits names.

PYTHON ?= python3
VENV ?= .venv
PY = "$(VENV)/bin/python"
PIP_INSTALL = $(PY) -m pip install -c constraints.txt
JOBS ?= 2
N ?= 2000

# One thread per process for OpenMP (torch, BLAS): our networks are small, and with two threads on two busy
# cores each waits for the other; learning then measures many times slower. Tests run in JOBS processes anyway.
export OMP_NUM_THREADS = 1

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help venv setup setup-learn demo test check lane-bounds lane-nojit format fuzz bench bench-peers check-intervals strength golden compat clean

# What the two lanes play: the whole core, and with the JIT off, where a round takes a second, nothing else.
CORE_TESTS = tests/rules tests/unit/test_jit.py tests/unit/test_wide.py tests/unit/test_tactics.py tests/test_golden.py tests/test_lanes.py \
	tests/test_perft.py
FACE_TESTS = tests/unit/test_bots.py tests/unit/test_observation.py tests/test_conformance.py

help: ## list the targets
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile
	@echo "  Variables: PYTHON=$(PYTHON) VENV=$(VENV) JOBS=$(JOBS) N=$(N)"

# --- set-up -----------------------------------------------------------------------------------------------

venv: $(VENV)/.stamp-venv ## make the virtual environment VENV with PYTHON (3.11 or newer)

setup: $(VENV)/.stamp-dev ## venv + the package (editable) + what `make check` needs

setup-learn: $(VENV)/.stamp-learn ## venv + the package (editable) + torch, stable-baselines3

$(VENV)/.stamp-venv:
	@"$(PYTHON)" -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and "Python 3.11 or newer is needed, %s is %d.%d: make ... PYTHON=python3.12" % ((sys.executable,) + v[:2]))'
	test -x $(PY) || "$(PYTHON)" -m venv "$(VENV)"
	$(PY) -m pip install --upgrade pip
	@touch "$@"

$(VENV)/.stamp-dev: pyproject.toml constraints.txt $(VENV)/.stamp-venv
	$(PIP_INSTALL) -e ".[dev]"
	@touch "$@"

# torch first: what depends on it would otherwise choose one.
$(VENV)/.stamp-learn: pyproject.toml constraints.txt $(VENV)/.stamp-venv
	$(PIP_INSTALL) torch
	$(PIP_INSTALL) -e ".[learn]"
	@touch "$@"

# --- the two commands -------------------------------------------------------------------------------------

demo: setup-learn ## learn a small policy and let it play (sets everything up first)
	$(PY) training/demo.py

test: setup setup-learn ## everything: format, lint, types, the whole test suite (sets everything up first)
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	MT_ENV_REQUIRE_LEARN=1 $(PY) -m pytest -n $(JOBS)
	@$(MAKE) --no-print-directory lane-bounds lane-nojit

# --- while working ----------------------------------------------------------------------------------------

check: setup ## format, lint, types and the fast tests, in under 90 s on two cores
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	$(PY) -m pytest -n $(JOBS) -m "not slow"

lane-bounds: setup ## kernels compiled with index checks (numba has none otherwise)
	MT_ENV_LANE=bounds NUMBA_BOUNDSCHECK=1 $(PY) -m pytest -n $(JOBS) -m "not slow or lane" $(CORE_TESTS) $(FACE_TESTS)

lane-nojit: setup ## the core as plain Python: equal results, and at least 95 % of its lines run
	MT_ENV_LANE=nojit NUMBA_DISABLE_JIT=1 $(PY) -m coverage run -m pytest -m "not slow" \
		-k "not referee_counts and not larger_games" $(CORE_TESTS)
	$(PY) -m coverage report

format: setup ## rewrite the sources as `check` wants them
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

fuzz: setup ## N random games, core against referee (N=2000)
	$(PY) tests/fuzz.py --games $(N)

bench: setup ## measure speed (docs/performance.md)
	$(PIP_INSTALL) -q -e ".[bench]"
	$(PY) -m benchmarks

bench-peers: $(VENV)-peers/.stamp-peers ## measure speed beside other libraries' environments (own venv)
	"$(VENV)-peers/bin/python" -m benchmarks.peers

# A library that does not install here is left out: the run says that it was not measured.
$(VENV)-peers/.stamp-peers: pyproject.toml benchmarks/peers-requirements.txt
	"$(PYTHON)" -m venv "$(VENV)-peers"
	"$(VENV)-peers/bin/python" -m pip install -q --upgrade pip
	"$(VENV)-peers/bin/python" -m pip install -q -e .
	grep -v '^#' benchmarks/peers-requirements.txt | while read -r line; do \
	  "$(VENV)-peers/bin/python" -m pip install -q "$$line" "numpy>=2" < /dev/null || echo "not installed: $$line"; \
	done
	@touch "$@"

check-intervals: setup ## play until it is seen how often the arena's intervals hold the truth
	$(PY) -m benchmarks.intervals --store

strength: setup ## play the tables of how strong the bots are, and write them into the documents
	$(PY) -m benchmarks.strength --store

golden: setup ## rewrite the golden games; read the difference before committing it
	$(PY) tests/golden.py

compat: ## fast tests on the oldest supported versions and every other Python found, without torch
	bash .ci/compat

clean: ## remove caches and built files; keeps VENV
	rm -rf build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage htmlcov
	find . -name __pycache__ -type d -not -path "./.venv/*" -prune -exec rm -rf {} +
