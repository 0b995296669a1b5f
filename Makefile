# Every target sets up what it needs in .venv; all it asks for is Python 3.11 or newer, as $(PYTHON).
PYTHON ?= python3
JOBS ?= 2
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
DEMO_READY := $(VENV)/.demo-ready
DEV_READY := $(VENV)/.dev-ready

.PHONY: help demo test docs lint check bench format clean

help:
	@echo "make demo    calibrate a random forest on a real dataset; prints the table and writes a report"
	@echo "make test    all tests and doctests"
	@echo "make docs    the documentation as a site, in build/site; runs every example of its gallery"
	@echo "make lint    ruff format, ruff check, mypy --strict, the layers of imports"
	@echo "make check   lint, then test"
	@echo "make bench   speed: side by side with other libraries, and every combination against its base law"
	@echo "make format  rewrite the sources as ruff likes them"
	@echo "make clean   remove caches and build outputs (not $(VENV))"

demo: $(DEMO_READY)
	$(PY) examples/demo.py

# One thread a worker: the workers share the cores already.
test: $(DEV_READY)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) -m pytest -n $(JOBS)

docs: $(DEV_READY)
	NO_MKDOCS_2_WARNING=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) -m mkdocs build --strict --site-dir build/site
	@echo "The site is in build/site: open build/site/index.html in a browser; search works from disk too"

lint: $(DEV_READY)
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy --strict src
	$(VENV)/bin/lint-imports --no-logo

check: lint
	$(MAKE) test

bench: $(DEV_READY)
	$(PY) benchmarks/run.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) benchmarks/catalogue.py

format: $(DEV_READY)
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

clean:
	rm -rf build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "calibrant needs Python 3.11 or newer, and '$(PYTHON)' is not one: say which, as in make PYTHON=python3.12 test" >&2; \
	  exit 1; }
	$(PYTHON) -m venv $(VENV)

# The demo leaves out torch and the test tools, which take most of the time to install.
$(DEMO_READY): pyproject.toml | $(PY)
	@echo "Setting up $(VENV) for the demo ..."
	@$(PIP) --upgrade "pip>=25.1"
	@$(PIP) --editable . --group demo
	@touch $@

$(DEV_READY): pyproject.toml constraints-dev.txt | $(PY)
	@echo "Setting up $(VENV) for development, a few minutes the first time ..."
	@$(PIP) --upgrade "pip>=25.1"
	@$(PIP) --constraint constraints-dev.txt --editable '.[all]' --group dev
	@touch $(DEMO_READY) $@
