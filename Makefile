# make start   everything on this machine, with nothing but Python >= 3.11
# make test    the whole test suite
PYTHON ?= python3
VENV := .venv
ARGS ?=

.PHONY: start test lint lock clean

start: $(VENV)/.installed
	$(VENV)/bin/palabre start $(ARGS)

test: $(VENV)/.installed-test
	$(VENV)/bin/python -m pytest $(ARGS)

lint: $(VENV)/.installed-test
	$(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check .

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("Palabre needs Python 3.11 or newer; set PYTHON=…") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: requirements.lock pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements.lock
	$(VENV)/bin/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.installed-test: requirements-test.lock pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements-test.lock
	$(VENV)/bin/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/.installed

# The locks hold hashes and no index addresses; uv reads pyproject.toml.
lock:
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate --no-header --extra build pyproject.toml -o requirements.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate --no-header --extra build --extra test pyproject.toml -o requirements-test.lock

clean:
	rm -rf $(VENV) build *.egg-info
