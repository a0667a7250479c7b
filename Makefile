# make demo    describe a bank's customers and judge a model of them on one budget, ends in demo/report.html
# make work    what those who work on ogive need, in .venv, with the papers' figures; `make test` and most others begin with it
# make test    what a change must pass: all tests but the largest, of products and simulations a part
# make test-all  the same with whole products and simulations at full size; it goes on where it was interrupted
# make test-wheel  wheel and source distribution, built and used in an empty environment outside the repository
# make test-floors  every test with the lowest versions that pyproject.toml allows, in .venv-floors
# make lint    style and types
# make papers  write the lists of every item of the papers into the manual
# make stubs   complete the stubs of public names from the lists of statistics and trust models
# make words   rewrite what people read of stored files, tests/vectors/stored/words.txt; changed numbers are refused
# make docs    the manual as HTML, in docs/_build/html
# make services  what some tests drive and pip cannot install: PostgreSQL and Chromium (Debian, as root)
# make store   an object store, and DuckDB's extension that reads it; without them their tests are skipped
# make fonts   free fonts of Debian's packages, for images of characters
# make characters  votes of 5000 teachers on images of characters, in characters.npz: 15 minutes
# make torch   neural networks as students; without it their tests are skipped
# make bench   measure against the named peers; rewrites benchmarks/results.json and the manual's page
# make bench-quick  the same with fewer runs and smaller sizes; writes bench-quick.json

# Python's default: without bytecode on disk every process compiles the hundreds of modules that it imports
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
FLOORS := .venv-floors
FONTS := dejavu liberation freefont-ttf adf-accanthis adf-baskervald adf-berenis adf-gillius adf-ikarius adf-irianis \
	adf-libris adf-mekanus adf-romande adf-solothurn adf-switzera adf-tribun adf-universalis adf-verana anonymous-pro \
	averia-sans-gwf averia-serif-gwf b612 cabin cantarell cmu comfortaa comic-neue courier-prime crosextra-caladea \
	crosextra-carlito dosis ebgaramond fantasque-sans firacode go hack inconsolata inter jetbrains-mono junicode jura \
	karla lato linuxlibertine mononoki mplus oldstandard open-sans opendyslexic paratype play quattrocento quicksand \
	roboto-unhinted roboto-slab sil-andika sil-charis sil-doulos sil-gentiumplus texgyre urw-base35 vollkorn lmodern \
	yrsa-rasa noto-core
# two more than processors, since tests of networks and processes wait at times
JOBS ?= $(shell echo $$(($$(nproc 2>/dev/null || echo 2) + 2)))
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist worksteal
# pip compiles one file after the other; here all processors do, and a file that is no Python is left
COMPILE := $(BIN)/python -m compileall -qq -j 0 $(VENV)/lib src papers/src || true
# more words for pytest, such as a folder of tests
OPTIONS ?=

.PHONY: demo work test test-all test-wheel test-floors lint docs papers stubs words services fonts characters store torch bench bench-quick clean
.DELETE_ON_ERROR:

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/use.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --no-compile -e '.[plots,learn,serve]'
	$(COMPILE)
	touch $@

# PyPI's build for Linux brings CUDA, some gigabytes; one for the CPU is enough, wherever pip finds it
$(VENV)/torch.stamp: $(VENV)/work.stamp
	$(BIN)/python -m pip install --quiet --no-compile torch==2.13.0
	touch $@

$(VENV)/work.stamp: pyproject.toml papers/pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --no-compile -e '.[plots,learn,serve,flower,engines,spark,test,lint,bench,docs]' -e ./papers
	$(COMPILE)
	touch $@ $(VENV)/use.stamp

work: $(VENV)/work.stamp

torch: $(VENV)/torch.stamp

# wheels of the extension are for one version of DuckDB each, so both lie apart from the other packages
$(VENV)/store.stamp: $(VENV)/work.stamp
	$(BIN)/python -m pip install --quiet --no-deps --target $(VENV)/store/duckdb duckdb==1.5.5 duckdb-extension-httpfs==1.5.5
	$(BIN)/python -m pip install --quiet --target $(VENV)/store/server 'moto[s3]==5.2.5' flask==3.1.3 flask-cors==6.0.2
	touch $@

store: $(VENV)/store.stamp

demo: $(VENV)/use.stamp
	$(BIN)/ogive demo -o demo

test: $(VENV)/work.stamp
	$(PYTEST) $(OPTIONS)

# what has passed is written under a name that stands for the state of the sources
test-all: $(VENV)/work.stamp
	@state=$$( { git rev-parse HEAD; git diff HEAD; git ls-files --others --exclude-standard; } | sha256sum | cut -c 1-12) && \
	set -x && $(PYTEST) --everything --record=out/all-$$state --unfinished=out/all-$$state $(OPTIONS)

test-wheel: $(VENV)/work.stamp
	.ci/wheel $(BIN)/python

$(FLOORS)/use.stamp: pyproject.toml papers/pyproject.toml .ci/floors
	$(PYTHON) -m venv --clear $(FLOORS)
	$(FLOORS)/bin/python .ci/floors > $(FLOORS)/floors.txt
	$(FLOORS)/bin/python -m pip install --quiet --only-binary :all: -c $(FLOORS)/floors.txt -e '.[plots,learn,serve,test]' -e ./papers
	touch $@

# compiled code of another numba lies apart, so that neither throws away the other's
test-floors: $(FLOORS)/use.stamp
	NUMBA_CACHE_DIR=$(CURDIR)/$(FLOORS)/numba $(FLOORS)/bin/python -m pytest -n $(JOBS) --dist worksteal $(OPTIONS)

lint: $(VENV)/work.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

papers: $(VENV)/use.stamp
	$(BIN)/python tools/paper_lists.py

stubs: $(VENV)/use.stamp
	$(BIN)/python tools/front_door.py

words: $(VENV)/use.stamp
	$(BIN)/python tests/vectors/make_stored.py words

docs: $(VENV)/work.stamp
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

services:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || sh .ci/install postgresql
	@command -v chromium >/dev/null || sh .ci/install chromium

fonts:
	@for font in $(FONTS); do dpkg -s fonts-$$font >/dev/null 2>&1 || sh .ci/install fonts-$$font; done

characters: fonts $(VENV)/work.stamp
	$(BIN)/python benchmarks/characters.py

bench: $(VENV)/work.stamp $(VENV)/torch.stamp
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/publish.py

bench-quick: $(VENV)/work.stamp
	$(BIN)/python benchmarks/run.py --quick

clean:
	rm -rf $(VENV) $(FLOORS) demo dist docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis
