# Every target sets up what it needs in .venv; all it asks for is Python 3.11 or newer, as $(PYTHON).
PYTHON ?= python3
JOBS ?= 2
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
DEMO_READY := $(VENV)/.demo-ready
DEV_READY := $(VENV)/.dev-ready
# The versions that we develop with; `make lock` renews them. pip comes first, since an old one knows no groups.
LOCK := locks/dev.txt
PINNED := --constraint $(LOCK) --build-constraint $(LOCK)
STUDIES := --requirement studies/requirements.txt
LOCKED_PIP = $(shell grep '^pip==' $(LOCK))
# Both locks are for any machine: no index, no hashes (torch's CPU build is not the one that is there).
COMPILE := $(VENV)/bin/uv pip compile --quiet --upgrade --no-header --no-annotate \
  --no-emit-package calibrant pyproject.toml studies/requirements.txt --all-extras

LOWEST := .venv-lowest
NEWEST := .venv-newest
CORE := .venv-core
SPARK := .venv-spark
PYSPARK ?= $(shell grep '^pyspark==' $(LOCK))
TYPES := .venv-types
MUTANTS := .venv-mutants
# How many mutants of each of the six areas `make mutants` judges.
MUTANTS_PER_AREA ?= 60
# Which samples: one seed, or several.
MUTANTS_SEEDS ?= 0
# The lowest torch that we promise has a CPU build on PyTorch's own index only; elsewhere take the one of the lock.
TORCH ?= $(shell grep '^torch==' $(LOCK))
# What a library's version can break: arrays and their gradients, distributions, metrics, frames, files, pictures, the
# report, the command line, the estimator, tables, Dask, downloads. The rest of the mathematics, which takes most of the
# time, is built on these.
FLOORS := $(addprefix tests/, cli judging plots reports tables) studies/tests/test_study_datasets.py \
  $(patsubst %,tests/test_%.py, arrays bad_input context distributions estimator estimator_inputs intervals \
  labels_everywhere metrics mixture model_files public_names several_estimator time_everywhere)

# What `make test-wheel` runs: `make WHEEL_TESTS=tests test-wheel` takes all that are not slow.
WHEEL_TESTS ?= $(FLOORS)

.PHONY: help demo study league test test-slow test-all test-core test-lowest test-newest test-spark spark-ready test-wheel types mutants dist lock docs lint check bench conformance format clean

help:
	@echo "make demo    calibrate a random forest on a real dataset; prints the table and writes a report"
	@echo "make study, league"
	@echo "             the paper's study (hours on a CPU) and the league of tabular models, in study/ and league/; go on where"
	@echo "             they were stopped; QUICK=1 for a minute or two of either, ARGS='--jobs 4' for further options"
	@echo "make test    all tests and doctests that are quick: at most nine minutes on two cores"
	@echo "make test-slow"
	@echo "             what takes seconds a test: simulations at full size, the whole catalogue, type checkers, killed runs"
	@echo "make test-all"
	@echo "             test, test-slow, test-lowest, test-spark and types: an hour or so"
	@echo "make test-lowest, test-newest, test-core"
	@echo "             the tests on the lowest versions that we promise, on the newest of all, and without any extra"
	@echo "make test-spark"
	@echo "             the tests on a real Spark, with Java from Debian's packages where there is none"
	@echo "make mutants change the library in 360 small ways and see whether the tests notice; goes on where it was stopped,"
	@echo "             an hour or two in all; writes results/mutants.md"
	@echo "make dist    wheel and sdist, in dist; make test-wheel installs the wheel elsewhere and runs tests from there"
	@echo "make types   how much of the public interface pyright knows; fails below 99%"
	@echo "make lock    renew the versions that all this is tested with, in locks/"
	@echo "make docs    the documentation as a site, in build/site; runs every example of its gallery"
	@echo "make lint    ruff format, ruff check, mypy --strict, the layers of imports, the weight of the library"
	@echo "make check   lint, then test"
	@echo "make bench   speed: side by side with other libraries and plain numpy, in docs/benchmarks.md; and every"
	@echo "             combination against its base distribution, and scale: about an hour, and 4 GB of disk; fails if the main road has"
	@echo "             become twice as slow"
	@echo "make conformance"
	@echo "             compare with other libraries, number by number; writes docs/conformance.md"
	@echo "make format  rewrite the sources as ruff likes them"
	@echo "make clean   remove caches and build outputs (not $(VENV))"

demo: $(DEMO_READY)
	$(PY) examples/demo.py

# `make study QUICK=1`, `make league ARGS='--table sales.csv --target price'`; for more see studies/README.md.
study league: $(DEV_READY)
	$(PY) -m studies $@ $(if $(QUICK),--quick) $(ARGS)

# One thread a worker: the workers share the cores already.
test: $(DEV_READY)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) -m pytest -n $(JOBS) --complete -m 'not slow'

test-slow: $(DEV_READY)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) -m pytest -n $(JOBS) --complete -m slow

test-all: test test-slow test-lowest test-spark types

# Old libraries on new ones are full of deprecations, which are not ours to mend. Pictures are compared on one
# matplotlib only, that of the lock.
test-lowest:
	$(PYTHON) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check --requirement locks/lowest.txt '$(TORCH)' --editable .
	PYTEST_ADDOPTS='-W ignore::DeprecationWarning' OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
	  $(LOWEST)/bin/python -m pytest -n $(JOBS) -m 'not slow' -o addopts=-rs $(FLOORS)

# No lock: what a user would get today. torch alone is kept, see constraints-dev.txt. Libraries that ask for older
# versions of others stay out, so that pandas and numpy are the newest; tests that need them are skipped and say so.
test-newest:
	$(PYTHON) -m venv --clear $(NEWEST)
	$(NEWEST)/bin/python -m pip install --quiet --upgrade 'pip>=25.3'
	$(NEWEST)/bin/python -m pip install --quiet --editable '.[all]' $(STUDIES) --group test --group demo --group models '$(TORCH)'
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(NEWEST)/bin/python -m pytest -n $(JOBS) -m 'not slow'

# Without any extra: what needs more is skipped and says so.
test-core:
	$(PYTHON) -m venv --clear $(CORE)
	$(CORE)/bin/python -m pip install --quiet --upgrade 'pip>=25.3'
	$(CORE)/bin/python -m pip install --quiet $(PINNED) --editable . pytest pytest-xdist hypothesis
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(CORE)/bin/python -m pytest -n $(JOBS) -m 'not slow'

# A real Spark on this machine. pyspark, 450 MB, lies in a folder of its own, so that `make test` goes without it.
# `make PYSPARK=pyspark==4.0.0 SPARK=.venv-spark-lowest test-spark` takes the lowest that we promise.
test-spark: spark-ready
	PYTHONPATH=$(SPARK) OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) -m pytest --complete tests/tables/test_spark.py

# Java 17 or newer, and pyspark; fails with one sentence where they are neither there nor to be had.
spark-ready: $(DEV_READY)
	@command -v java >/dev/null || \
	  { apt-get update && apt-get install --yes --no-install-recommends openjdk-17-jre-headless; } >/dev/null 2>&1 || \
	  { echo "Spark cannot be tested: there is no Java, and it could not be installed" >&2; exit 1; }
	@test -f $(SPARK)/.ready -a $(SPARK)/.ready -nt $(LOCK) || \
	  { rm -rf $(SPARK) && $(PIP) --target $(SPARK) '$(PYSPARK)' && touch $(SPARK)/.ready; } || \
	  { echo "Spark cannot be tested: pyspark could not be installed" >&2; exit 1; }

# Its tools lie in a folder of their own, like pyspark, on the versions of the lock where both have a package.
mutants: $(DEV_READY)
	@test -f $(MUTANTS)/.ready -a $(MUTANTS)/.ready -nt mutants/requirements.txt || \
	  { rm -rf $(MUTANTS) && $(PIP) --constraint $(LOCK) --target $(MUTANTS) --requirement mutants/requirements.txt && \
	    touch $(MUTANTS)/.ready; }
	PYTHONPATH=$(MUTANTS) $(PY) mutants/run.py --per-area $(MUTANTS_PER_AREA) --jobs $(JOBS) \
	  $(addprefix --seed ,$(MUTANTS_SEEDS))

# Wheel and sdist.
dist: $(DEV_READY)
	rm -rf dist
	$(PY) -m build --no-isolation --outdir dist

# The wheel in an environment of its own, judged by the tests of the sdist, whose sources are put out of the way.
test-wheel: dist
	rm -rf build/wheel && mkdir -p build/wheel
	$(PYTHON) -m venv build/wheel/venv
	build/wheel/venv/bin/python -m pip install --quiet $(LOCKED_PIP)
	build/wheel/venv/bin/python -m pip install --quiet --constraint $(LOCK) $(STUDIES) --group test "$$(ls dist/*.whl)[all]"
	tar --extract --gzip --file dist/*.tar.gz --directory build/wheel --strip-components 1 && rm -r build/wheel/src
	cd build/wheel && OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 venv/bin/python -m pytest -n $(JOBS) -m 'not slow' \
	  $(WHEEL_TESTS)

# What pyright knows of the wheel, beside the libraries that it is used with; the file it writes names what it does not.
# basedpyright brings its own node, and looks for a python on the path.
types: dist
	$(PYTHON) -m venv --clear $(TYPES)
	$(TYPES)/bin/python -m pip install --quiet --disable-pip-version-check --constraint $(LOCK) 'basedpyright>=1.40' \
	  "$$(ls dist/*.whl)[plots,cli,dask]"
	mkdir -p build
	-PATH="$(CURDIR)/$(TYPES)/bin:$$PATH" VIRTUAL_ENV="$(CURDIR)/$(TYPES)" \
	  basedpyright --verifytypes calibrant --ignoreexternal --outputjson > build/types.json
	$(TYPES)/bin/python tests/typing/completeness.py build/types.json

# 3.11.5, since the tools that make the site ask for it; the lowest versions are for the lowest Python.
lock: $(DEV_READY)
	$(COMPILE) --universal --python-version 3.11.5 --fork-strategy fewest --group dev --constraint constraints-dev.txt \
	  --output-file $(LOCK)
	grep '^torch==' $(LOCK) | $(COMPILE) --resolution lowest-direct --python-version 3.11 --group test --constraint - \
	  --no-emit-package torch --no-emit-package pyspark --no-emit-package py4j --output-file locks/lowest.txt

docs: $(DEV_READY)
	NO_MKDOCS_2_WARNING=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) -m mkdocs build --strict --site-dir build/site
	@echo "The site is in build/site: open build/site/index.html in a browser; search works from disk too"

lint: $(DEV_READY)
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy --strict src studies
	$(VENV)/bin/lint-imports --no-logo
	$(PY) weight.py

check: lint
	$(MAKE) test

bench: $(DEV_READY)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) benchmarks/run.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) benchmarks/catalogue.py
	$(PY) benchmarks/scale.py
	$(PY) benchmarks/scale_n.py

conformance: $(DEV_READY)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) docs_tools/conformance.py

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
$(DEMO_READY): pyproject.toml $(LOCK) | $(PY)
	@echo "Setting up $(VENV) for the demo ..."
	@$(PIP) $(LOCKED_PIP)
	@$(PIP) $(PINNED) --editable . --group demo
	@touch $@

$(DEV_READY): pyproject.toml studies/requirements.txt $(LOCK) | $(PY)
	@echo "Setting up $(VENV) for development, a few minutes the first time ..."
	@$(PIP) $(LOCKED_PIP)
	@$(PIP) $(PINNED) --editable '.[all]' --group dev $(STUDIES)
	@touch $(DEMO_READY) $@
