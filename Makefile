# Every target sets up what it needs in .venv; all it asks for is Python 3.11 or newer, as $(PYTHON).
PYTHON ?= python3
JOBS ?= 2
PY := .venv/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
READY := .venv/.dev-ready
# The versions that we develop with. pip comes first, since an old one knows no groups.
LOCK := locks/dev.txt
LOCKED_PIP = $(shell grep '^pip==' $(LOCK))
PINNED := --constraint $(LOCK) --build-constraint $(LOCK)
STUDIES := --requirement studies/requirements.txt
# For any machine: no index, no hashes (torch's CPU build is not the one that is there).
COMPILE := .venv/bin/uv pip compile --quiet --upgrade --no-header --no-annotate \
  --no-emit-package calibrant pyproject.toml studies/requirements.txt --all-extras
# An environment apart from .venv: that of test-lowest is .venv-lowest.
ENV = .venv-$(@:test-%=%)
FRESH = $(PYTHON) -m venv --clear $(ENV) && $(IN) $(LOCKED_PIP) && $(IN)
IN = $(ENV)/bin/python -m pip install --quiet
# The workers share the cores already.
ONE := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
QUICK_TESTS := -m pytest -n $(JOBS) -m 'not slow'
PYSPARK ?= $(shell grep '^pyspark==' $(LOCK))
SPARK := .venv-spark
# The lowest torch that we promise has a CPU build on PyTorch's own index only; elsewhere take the one of the lock.
TORCH ?= $(shell grep '^torch==' $(LOCK))
# The tests of what a library's version can break; the rest, which takes most of the time, is built on these.
WHEEL_TESTS ?= @tests/lowest.txt

.PHONY: help demo study league test test-slow test-all test-core test-lowest test-newest test-spark test-wheel types mutants dist lock docs lint check bench conformance format clean
help: ## this list
	@awk -F ':.*## ' '/^[a-z].*:.*## / {printf "make %-13s %s\n", $$1, $$2}' Makefile
demo: .venv/.demo-ready ## calibrate a random forest on a real dataset; prints a table and writes a report
	$(PY) examples/demo.py
study league: $(READY) ## the paper's study, the league of models; both resume; QUICK=1 for minutes, ARGS='--jobs 4'
	$(PY) -m studies $@ $(if $(QUICK),--quick) $(ARGS)
test: $(READY) ## all quick tests and doctests
	$(ONE) $(PY) $(QUICK_TESTS) --complete
test-slow: $(READY) ## what takes seconds a test: simulations at full size, type checkers, killed runs
	$(ONE) $(PY) -m pytest -n $(JOBS) --complete -m slow
test-all: test test-slow test-lowest test-spark types ## all of these: an hour or so
test-lowest: ## the tests on the lowest versions that we promise; their deprecations are not ours to mend
	$(FRESH) --requirement locks/lowest.txt '$(TORCH)' --editable .
	PYTEST_ADDOPTS='-W ignore::DeprecationWarning' $(ONE) $(ENV)/bin/python $(QUICK_TESTS) -o addopts=-rs @tests/lowest.txt
test-newest: ## the tests on the newest of everything but torch, without a lock, as a user would get them
	$(FRESH) --editable '.[all]' $(STUDIES) --group test --group demo --group models '$(TORCH)'
	$(ONE) $(ENV)/bin/python $(QUICK_TESTS)
test-core: ## the tests without any extra: what needs more is skipped and says so
	$(FRESH) $(PINNED) --editable . pytest pytest-xdist hypothesis
	$(ONE) $(ENV)/bin/python $(QUICK_TESTS)
test-spark: $(SPARK)/.ready ## the tests on a real Spark, with Java from Debian's packages where there is none
	PYTHONPATH=$(SPARK) $(ONE) $(PY) -m pytest --complete tests/tables/test_spark.py
$(SPARK)/.ready: $(LOCK) | $(READY)
	@command -v java >/dev/null || { apt-get update && apt-get install --yes openjdk-17-jre-headless; } >/dev/null 2>&1 || \
	  { echo "Spark cannot be tested: there is no Java, and it could not be installed" >&2; exit 1; }
	rm -rf $(@D) && $(PIP) --target $(@D) '$(PYSPARK)' && touch $@
mutants: .venv-mutants/.ready ## small changes to the library, and whether the tests notice; writes results/mutants.md
	PYTHONPATH=$(<D) $(PY) mutants/run.py --jobs $(JOBS) $(ARGS)
.venv-mutants/.ready: mutants/requirements.txt | $(READY)
	rm -rf $(@D) && $(PIP) --constraint $(LOCK) --target $(@D) --requirement $< && touch $@
dist: $(READY) ## wheel and sdist, in dist/
	rm -rf dist && $(PY) -m build --no-isolation --outdir dist
test-wheel: ENV = build/wheel/venv
test-wheel: dist ## tests of the sdist, without its sources, on the wheel; WHEEL_TESTS=tests for all that are quick
	rm -rf build/wheel && $(FRESH) --constraint $(LOCK) $(STUDIES) --group test "$$(ls dist/*.whl)[all]"
	tar --extract --gzip --file dist/*.tar.gz --directory build/wheel --strip-components 1 && rm -r build/wheel/src
	cd build/wheel && $(ONE) venv/bin/python $(QUICK_TESTS) $(WHEEL_TESTS)
types: dist ## how much of the public interface pyright knows; fails below 99%
	$(FRESH) --constraint $(LOCK) 'basedpyright>=1.40' "$$(ls dist/*.whl)[plots,cli,dask]" && mkdir -p build
	-PATH="$(CURDIR)/$(ENV)/bin:$$PATH" VIRTUAL_ENV="$(CURDIR)/$(ENV)" \
	  basedpyright --verifytypes calibrant --ignoreexternal --outputjson > build/types.json
	$(ENV)/bin/python tests/typing/completeness.py build/types.json
lock: $(READY) ## renew the versions that all this is tested with, in locks/
	$(COMPILE) --universal --python-version 3.11.5 --fork-strategy fewest --group dev --constraint constraints-dev.txt --output-file $(LOCK)
	grep '^torch==' $(LOCK) | $(COMPILE) --resolution lowest-direct --python-version 3.11 --group test --constraint - \
	  --no-emit-package torch --no-emit-package pyspark --no-emit-package py4j --output-file locks/lowest.txt
docs: $(READY) ## the documentation as a site, in build/site, with every example of its gallery
	NO_MKDOCS_2_WARNING=1 $(ONE) $(PY) -m mkdocs build --strict --site-dir build/site
lint: $(READY) ## ruff, mypy --strict, the layers of imports, the weight of the library
	$(PY) -m ruff format --check . && $(PY) -m ruff check .
	$(PY) -m mypy --strict src studies && .venv/bin/lint-imports --no-logo && $(PY) weight.py
check: lint test ## lint, then test
bench: $(READY) ## speed beside other libraries and numpy, an hour; fails if the main road takes twice as long
	$(ONE) $(PY) benchmarks/run.py && $(ONE) $(PY) benchmarks/catalogue.py && $(PY) benchmarks/scale.py && $(PY) benchmarks/scale_n.py
conformance: $(READY) ## compare with other libraries, number by number; writes docs/conformance.md
	$(ONE) $(PY) docs_tools/conformance.py
format: $(READY) ## rewrite the sources as ruff likes them
	$(PY) -m ruff format . && $(PY) -m ruff check --fix .
clean: ## remove caches and build outputs, but not .venv
	rm -rf build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "give Python 3.11 or newer, as in make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv

# The demo leaves out torch and the test tools, which take most of the time to install.
.venv/.demo-ready: WANTED = . --group demo
$(READY): WANTED = '.[all]' --group dev $(STUDIES)
.venv/.demo-ready $(READY): pyproject.toml studies/requirements.txt $(LOCK) | $(PY)
	@echo "Setting up .venv, a few minutes the first time ..."
	@$(PIP) $(LOCKED_PIP) && $(PIP) $(PINNED) --editable $(WANTED) && touch .venv/.demo-ready $@
