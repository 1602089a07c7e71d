# Every target sets up what it needs in .venv by itself, and again only when its sources have changed.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

# Tests start hundreds of Python programs, each of which takes five times as long where no bytecode is kept.
unexport PYTHONDONTWRITEBYTECODE

METADATA := setup.cfg setup.py pyproject.toml framework/version.py
# Three test processes for each processor, as two leave a tenth of it idle while they wait for programs;
# one that has nothing left takes tests from another.
JOBS := $(shell echo $$((3 * $$(nproc))))
PYTEST = $(BIN)/python -m pytest -n $(JOBS) --dist worksteal
BENCHMARKS := per_tuple batches tracking workers latency memory idle codec borrowing gate hashing files kill_to_output
STORM := 2.8.3
KAFKA := 3.9.1
PEERS := bytewax pathway pyflink
# What the peers run on, for where they know no Python as new as ours.
PEER_PYTHON ?= $(PYTHON)
C_SOURCES := $(shell find cbackend viper -name '*.[ch]' -o -name 'build.py')

.PHONY: help demo demo-spark test test-c test-ci test-all check types site imports determinism kills spark-matrix storm-programs kafka test-kafka test-instructions bench bench-spark bench-peers wheels clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    count the words of a long text, to see the thing run"
	@echo "make demo-spark   prepare a year of flights with Spark, and replay it; wants Java 17"
	@echo "make test    all that a change needs, without Java; 5 minutes on two processors, 6 the first time"
	@echo "make check   ruff, mypy --strict, the C layer under its sanitizers and with planted bugs, the site; 5 minutes"
	@echo "make test-ci   what CI tests: also with Spark, and what is slow; half an hour"
	@echo "make test-all   every test, also those of make spark-matrix; three quarters of an hour"
	@echo "make test-instructions   instructions per tuple, beside those recorded; wants Valgrind; 1 to 3 minutes"
	@echo "make site    the documentation as a site in build/site; half a minute"
	@echo "make imports   which room imports which, as text and, in build/imports, as pictures"
	@echo "make determinism   every plan of the matrix against the serial run; takes hours"
	@echo "make kills   runs of every shape, killed and suspended again and again; takes minutes"
	@echo "make spark-matrix   jobs as spouts for every number of streams and tasks; a quarter of an hour"
	@echo "make test-kafka   topics as sources and sinks, on a broker of this machine; wants Java and Maven; a minute"
	@echo "make kafka   fetch the broker, which these tests use; wants Maven"
	@echo "make storm-programs   fetch Storm's own libraries for programs, which some tests use; wants Maven"
	@echo "make bench   all benchmarks; half an hour, on a machine that does nothing else"
	@echo "make bench-spark   replaying a prepared dataset beside Spark's own ways to Python"
	@echo "make bench-peers   install Bytewax, Pathway and PyFlink (2.5 GB), and run the same on them; an hour"
	@echo "make wheels   the sdist and a wheel for each Python, tried without a compiler, in dist; 3 minutes"
	@echo "make clean   remove .venv and everything that was built"

demo: .venv/.core
	$(BIN)/viper run topologies/wordcount.yaml

# The dataset is left as it is when it is there and nothing has changed.
demo-spark: .venv/.spark
	$(BIN)/viper prepare --function flights.data:flights --timestamp departure --streams 4 -O build/flights
	$(BIN)/viper run topologies/flights.yaml

# What is set up from the network leaves the processors time for C.
test:
	@$(MAKE) --no-print-directory -j$$(nproc) .venv/.collected test-c
	$(PYTEST)

test-c:
	@$(MAKE) --no-print-directory -C cbackend test

# $(call tested,marks that are left out, and): a Spark takes as much as several test processes, so two of these
# come last, with one each, whose code is compiled by then.
tested = $(PYTEST) -m '$(1)not spark and not kafka'; others=$$?; \
    $(PYTEST) -n 2 -m '$(1)(spark or kafka)' && exit $$others

test-ci: .venv/.dev
	@$(MAKE) --no-print-directory kafka || echo "Kafka could not be fetched: nothing is tested with it" >&2
	$(call tested,not exhaustive and )

test-all: .venv/.dev
	$(call tested,)

# What has one thread runs side by side.
check: .venv/.dev
	$(BIN)/ruff check .
	@$(MAKE) --no-print-directory -j$$(nproc) types site
	$(MAKE) -C cbackend test asan tsan planted
	$(MAKE) -C viper/csrc asan PYTHON=$(CURDIR)/$(BIN)/python

types: .venv/.dev
	$(BIN)/mypy

# From nothing each time, as pages that have not changed would be left out, and their warnings with them.
site: .venv/.dev
	@rm -rf build/site
	$(BIN)/python -m sphinx -E -q -W --keep-going -d build/doctrees docs build/site

# Reads the sources only, so that any Python will do.
imports:
	@$(PYTHON) -m tests.house build/imports

determinism: .venv/.dev
	$(BIN)/python -m tests.determinism

# The deaths in each run whose workers are killed, and what everything is drawn from.
KILLS ?= 200
SEED ?= 1
kills: .venv/.test
	$(BIN)/python -m tests.kills --kills $(KILLS) --seed $(SEED)

test-instructions: .venv/.test
	$(BIN)/python -m benchmarks.instructions --check

spark-matrix: .venv/.dev
	$(BIN)/python -m pytest -m 'exhaustive and spark'

# They are Apache's, and are fetched where tests need them. A jar is a zip file with a folder `resources`.
storm-programs:
	for name in python ruby javascript; do \
	    mvn -B -q -ntp dependency:copy -DoutputDirectory=build/storm-programs \
	        -Dartifact=org.apache.storm:multilang-$$name:$(STORM) || exit 1; \
	    $(PYTHON) -m zipfile -e build/storm-programs/multilang-$$name-$(STORM).jar build/storm-programs \
	        || exit 1; \
	done

# The broker is Apache's, and is fetched where tests need it.
kafka: build/kafka/.fetched-$(KAFKA)

build/kafka/.fetched-$(KAFKA): tests/framework/operators/kafka/pom.xml
	@rm -rf build/kafka/lib
	mvn -B -q -ntp -f $< dependency:copy-dependencies -Dkafka=$(KAFKA) -DoutputDirectory=$(CURDIR)/build/kafka/lib
	@touch $@

test-kafka: .venv/.test kafka
	$(BIN)/python -m pytest -n 2 -m kafka

bench: .venv/.core
	for name in $(BENCHMARKS); do \
	    echo "== $$name"; $(BIN)/python benchmarks/$$name.py || exit 1; \
	done
	$(MAKE) -C benchmarks/scalegate bench
	$(MAKE) -C benchmarks/reordering bench
	$(MAKE) -C benchmarks/transactions bench

bench-spark: .venv/.spark
	$(BIN)/python benchmarks/spark_replay.py

# OPTIONS are those of the benchmark, such as --quick. It skips what could not be installed, and says so.
bench-peers: .venv/.core $(PEERS:%=build/peers/%/.installed)
	$(BIN)/python -m benchmarks.peers $(OPTIONS)

# An environment for each, as what they depend on would not go together.
build/peers/%/.installed: benchmarks/peers/environments/%.txt
	@echo "installing $* into build/peers (once) ..." >&2
	@$(PEER_PYTHON) -m venv --clear build/peers/$*
	@if build/peers/$*/bin/python -m pip --quiet --disable-pip-version-check install -r $<; \
	    then touch $@; else echo "$* could not be installed" >&2; fi

# For every supported Python that is found here; PYTHONS="python3.12 python3.13" builds for those, and fails without them.
PYTHONS ?=
wheels: .venv/.release
	$(BIN)/python -m tests.wheels $(PYTHONS)

clean:
	rm -rf .venv build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find framework viper viperstorm viperstorm_pytest spark_ingest tests topologies benchmarks \
	    \( -name __pycache__ -o -name '*.so' \) -prune -exec rm -rf {} +
	$(MAKE) -C cbackend clean
	$(MAKE) -C viper/csrc clean

# The package in editable form, with more or less of what it can use: what is changed in Python counts at once, C
# is compiled again. Each installs in one go, as that takes a third less than one after the other.
.venv/.core: $(METADATA) $(C_SOURCES) | .venv/.made
	@echo "setting up .venv (once, and when the C sources or the metadata change) ..." >&2
	@$(PIP) install --editable .
	@touch $@

.venv/.test: $(METADATA) $(C_SOURCES) | .venv/.made
	@echo "setting up .venv for tests (once, and when the C sources or the metadata change) ..." >&2
	@$(PIP) install --editable '.[test]'
	@touch .venv/.core $@

# Each of the test processes would else compile all tests, with their assertions rewritten: 8 s of a processor for each.
# A test that cannot be collected is told of by the run.
.venv/.collected: .venv/.test
	@$(BIN)/python -m pytest --collect-only -q >/dev/null 2>&1 || true
	@touch $@

.venv/.release: $(METADATA) $(C_SOURCES) | .venv/.made
	@$(PIP) install --editable '.[release]'
	@touch .venv/.core $@

.venv/.spark: $(METADATA) $(C_SOURCES) | .venv/.made
	@$(PYTHON) .ci/prerequisites.py java
	@echo "installing Spark (once; some 500 MB) ..." >&2
	@$(PIP) install --editable '.[spark,flights]'
	@touch .venv/.core $@

.venv/.dev: $(METADATA) $(C_SOURCES) | .venv/.made
	@echo "setting up .venv with all that is checked and tested, also with Spark (once; some 500 MB) ..." >&2
	@$(PIP) install --editable '.[dev]'
	@touch .venv/.core .venv/.release .venv/.test $@

# Also where making it was interrupted, which leaves a Python without pip.
.venv/.made:
	@$(PYTHON) .ci/prerequisites.py
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv .venv
	@touch $@
