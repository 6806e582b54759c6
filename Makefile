# `make` alone lists the targets.
PYTHON  ?= python3
PROFILE ?= book
NB      ?=
VENV    := .venv
PY      := $(VENV)/bin/python
TOOLS   := $(PY) book/_tools
STAMP   := $(VENV)/.installed
# Where a profile is rendered from: the committed tree for `book`, a copy of it for any other.
STAGE   := $(if $(filter book,$(PROFILE)),.,_build/$(PROFILE))
BUILD    = $(VENV)/bin/jupyter-book build $(STAGE) -W -n --keep-going
# LOCKED=1: every archive must have the hash in book/requirements.lock.
PINS    := $(if $(LOCKED),--require-hashes -r book/requirements.lock,-r requirements.txt)
PIP      = $(PY) -m pip install --quiet --disable-pip-version-check
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

.DEFAULT_GOAL := help
.PHONY: help install book html test nightly lint smoke paper reproduce restamp bench data pdf clean
.PHONY: pages lab lite packages alone links lock student instructor mutants

help:  ## list the targets
	@awk -F ':[^#]*## ' '/^[a-z]+:.*##/ {printf "%-12s%s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "Options: PROFILE=smoke|book|paper (default book), NB='t01 e02' (default all), PYTHON=python3.12"

install: $(STAMP)  ## create .venv with the pinned packages

$(STAMP): requirements.txt book/requirements-data.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: firal needs Python 3.11 or newer, $(PYTHON) is $$($(PYTHON) --version)"; exit 1; }
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@echo "installing the pinned packages into $(VENV) (a few minutes the first time)"
	@$(PIP) $(PINS)
	@$(PIP) --no-deps -r book/requirements-data.txt --editable .
	@touch $@

book: install  ## execute the notebooks that are not current, then build the HTML
ifeq ($(PROFILE),book)
	@$(TOOLS)/run_notebooks.py --nb $(NB)
	@$(TOOLS)/readme_picture.py && $(TOOLS)/badges.py
else
	@$(TOOLS)/run_notebooks.py --nb $(NB) --profile $(PROFILE) --out $(STAGE)/notebooks
	@cp -R _config.yml _toc.yml book $(STAGE)/
	@for n in notebooks/*.ipynb; do test -f $(STAGE)/$$n || cp $$n $(STAGE)/$$n; done
endif
	@$(MAKE) --no-print-directory html

# A build that was killed leaves half a page, which Sphinx takes for a new one: all are written again.
UNFINISHED = $(STAGE)/_build/.unfinished
html: install  ## build the HTML from the stored outputs, warnings as errors
	@test ! -e $(UNFINISHED) || rm -rf $(STAGE)/_build/html
	@mkdir -p $(STAGE)/_build && touch $(UNFINISHED)
	@$(BUILD) || { echo "the book did not build: see the warnings above"; exit 1; }
	@rm $(UNFINISHED)
	@echo
	@echo "Open $(STAGE)/_build/html/index.html in a browser."

lint: install
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check --quiet . || { echo "run: $(VENV)/bin/ruff format ."; exit 1; }

smoke: install  ## run all notebooks at profile smoke, into _build/smoke
	@$(TOOLS)/run_notebooks.py --nb $(NB) --profile smoke --out _build/smoke/notebooks

PYTEST = $(ONE_THREAD) $(VENV)/bin/pytest -n 2 --dist loadfile --nbval-lax --nbval-current-env
# A notebook is executed once: the slow ones by smoke runs, beside the build; the others by nbval.
test: lint  ## style, slow notebooks in small, book build, unit and property tests, nbval
	@$(MAKE) --no-print-directory -j 2 smoke html NB="$$($(TOOLS)/nightly.py)"
	@$(PYTEST) tests notebooks

FUZZ   ?= 10000
FAULTS ?= 60
nightly: smoke  ## what takes long: all notebooks, ten thousand made-up cases of each kind, hundreds of faults
	@$(PYTEST) -m nightly tests notebooks --ignore tests/faults
	@FIRAL_FUZZ=$(FUZZ) FIRAL_FAULTS=$(FAULTS) $(PYTEST) -m "nightly or not nightly" tests/test_fuzz.py tests/faults

mutants: install  ## change one line at a time: does a test notice? ONLY=selection/bait, SAMPLE=200, JOBS=2
	@$(PY) -c 'import mutmut' 2>/dev/null || $(PIP) -r book/requirements-mutants.txt
	@$(ONE_THREAD) $(TOOLS)/mutants.py $(if $(ONLY),--only $(ONLY)) $(if $(SAMPLE),--sample $(SAMPLE)) \
	  --seed $(or $(SEED),0) --jobs $(or $(JOBS),1)

paper: install  ## run all notebooks at the size of the paper, into _build/paper
	@$(TOOLS)/run_notebooks.py --nb $(NB) --profile paper --out _build/paper/notebooks

reproduce: install  ## execute everything again and report which recorded results changed
	@$(TOOLS)/reproduce.py --nb $(NB) $(if $(STRICT),--strict)

restamp: install  ## execute what is not current; where no output differs, mark it as current
	@$(TOOLS)/restamp.py --nb $(NB)

student: install  ## the book for a class: no solutions, slides, assignments; into _build/student
instructor: install  ## the same with solutions, answers to the exam, solved assignments
student instructor:
	@$(TOOLS)/edition.py $@
	@$(VENV)/bin/jupyter-book build _build/$@ -W -n --keep-going
	@echo "Open _build/$@/_build/html/index.html in a browser."

lab: install  ## open JupyterLab on the notebooks, with everything installed
	@$(PIP) -r book/requirements-lab.txt
	@cd notebooks && ../$(VENV)/bin/jupyter lab $(if $(NB),$(NB)*.ipynb)

lite: install  ## four notebooks for the browser (JupyterLite), into _build/lite; for the published book
	@$(PIP) -r book/requirements-lite.txt
	@$(TOOLS)/lite.py

alone: install  ## run every notebook alone, at profile smoke, in a new environment from the wheel
	@$(ONE_THREAD) $(TOOLS)/check_alone.py --nb $(NB)

packages: install  ## wheel and source archive, into _build/packages
	@$(TOOLS)/downloads.py --packages _build/packages

# axe is one script: its package is put beside the book, without what it depends on.
PAGES := _build/pages
pages: install  ## every built page in Chromium: console, requests, axe, letters, widths, weight (after make html)
	@test -d $(PAGES)/axe_playwright_python || \
	  $(PIP) --no-deps --target $(PAGES) -r book/requirements-pages.txt
	@$(TOOLS)/check_pages.py

links: install  ## follow every link of the book that leads elsewhere (needs the network)
	@$(VENV)/bin/jupyter-book build . --builder custom --custom-builder linkcheck

lock: install  ## write book/requirements.lock: requirements.txt with the hashes of all archives
	@$(PIP) uv && $(VENV)/bin/uv pip compile --quiet --universal --generate-hashes \
	  --python-version 3.11 --no-emit-index-url --custom-compile-command "make lock" \
	  requirements.txt --output-file book/requirements.lock

bench: install  ## measure speed and memory, as ratios in one run
	@for b in benchmarks/bench_*.py; do $(PY) $$b || exit 1; done

data:  ## make a prepared pool: NAME=mnist60k|cifar10|imagenet50|cifar100|tables (README says with which options)
	@test -n "$(NAME)" || \
	  { echo "error: say which: make data NAME=mnist60k|cifar10|imagenet50|cifar100|tables" >&2; exit 2; }
	@$(MAKE) --no-print-directory install
	@$(PY) -m firal.companion.prepare $(NAME)$(if $(IMAGES), --images '$(IMAGES)')$(if $(FEATURES), \
	  --features '$(FEATURES)')$(if $(KIND), --kind $(KIND))$(if $(SEED), --seed $(SEED))$(if \
	  $(PER_CLASS), --per-class $(PER_CLASS))

pdf: install  ## build the PDF (needs a TeX installation with latexmk)
	@command -v latexmk >/dev/null || { echo "error: latexmk not found. On Debian: apt-get install \
	texlive-latex-recommended texlive-latex-extra texlive-fonts-recommended tex-gyre latexmk lmodern"; exit 1; }
	@$(VENV)/bin/jupyter-book build . --builder pdflatex
	@echo "Open _build/latex/firal-book.pdf."

clean:  ## remove built files; .venv and the notebooks stay
	rm -rf _build .pytest_cache .ruff_cache .hypothesis
