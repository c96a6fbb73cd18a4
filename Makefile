# Everything a contributor needs; each target sets up what it uses.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
TRAIN  := $(VENV)/.ready-train
READY  := $(VENV)/.ready-dev
CORE   := $(VENV)/.ready-core
LINT   := .venv-lint
BENCH  := $(VENV)/.ready-bench
PEERS  := .venv-peers
FUZZ   := .venv-fuzz
LIVE   := .venv-live
LLM    := .venv-llm
VERL   := .venv-verl
PYTHONS ?= 3.12 3.13
CORE_TESTS := $(addprefix tests/, signals facts rules causes reference store comparison reports readers apps/cli apps/agents \
  test_answer.py test_commands.py test_engine.py test_package.py test_sentences.py)

.PHONY: demo test test-foreign test-python test-browser test-live bench-live bench-llm bench-llm-verl coverage lint format bench bench-faults bench-environments bench-probes fuzz attack check-all same fixtures clean

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade --constraint constraints.txt pip

# The core job needs no torch and none of the heavy libraries.
$(CORE): $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --constraint constraints.txt --editable .
	@touch $@

$(TRAIN): $(CORE)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[train]'
	@touch $@

$(READY): $(TRAIN)
	$(BIN)/pip install --quiet --constraint constraints.txt --group test --editable '.[train,torchrl,optimize,ray,mcp]'
	@touch $@

$(BENCH): $(READY)
	$(BIN)/pip install --quiet --constraint constraints.txt --group bench --group environments
	@touch $@

# The tools that the fault benchmark compares with; they pin other versions than ours.
$(PEERS)/.ready: bench/peers/requirements.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet --requirement $<
	@touch $@

demo: $(TRAIN)
	@$(BIN)/python -m rlclinic demo

test: $(READY)
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow and not foreign and not browser"

# What builds an environment of its own and installs into it.
test-foreign: $(READY)
	$(BIN)/python -m pytest -m foreign

# The core as a wheel on other Pythons, without torch: make test-python PYTHONS=3.13
test-python: $(PYTHONS:%=.venv-%/.ready)
	for version in $(PYTHONS); do \
	  .venv-$$version/bin/pip install --quiet --no-deps --force-reinstall . && \
	  .venv-$$version/bin/python -m pytest -n auto -m "not slow and not foreign and not browser" $(CORE_TESTS) || exit 1; \
	done

.venv-%/.ready: pyproject.toml constraints.txt
	python$* -m venv .venv-$*
	.venv-$*/bin/pip install --quiet --upgrade --constraint constraints.txt pip
	.venv-$*/bin/pip install --quiet --constraint constraints.txt --group core '.[mcp]' 'gymnasium[classic-control,toy-text]'
	@touch $@

# What only a browser shows: overflow, contrast, the first screen. It needs a chromium, such as Debian's.
test-browser: $(READY)
	$(BIN)/pip install --quiet --constraint constraints.txt --group browser
	$(BIN)/python -m pytest -m browser

# Hooks and sinks of live with the real libraries, in an environment of their own.
test-live: $(READY) $(LIVE)/.ready
	$(LIVE)/bin/python -m pytest tests/live/callbacks/test_other_libraries.py

$(LIVE)/.ready: pyproject.toml
	$(PYTHON) -m venv $(LIVE)
	$(LIVE)/bin/pip install --quiet --upgrade --constraint constraints.txt pip
	$(LIVE)/bin/pip install --quiet 'torch==2.13.0' --group live --group test --editable '.[train]'
	@touch $@

coverage: $(READY)
	$(BIN)/python -m pytest -n auto --dist worksteal --cov --cov-report=term -m "not slow and not foreign and not browser"

check-all: $(READY)
	$(BIN)/python -m pytest -n auto

# Linters need the package and its light libraries, not torch.
$(LINT)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(LINT)
	$(LINT)/bin/pip install --quiet --upgrade --constraint constraints.txt pip
	$(LINT)/bin/pip install --quiet --constraint constraints.txt --group lint --editable '.[mcp]'
	@touch $@

lint: $(LINT)/.ready
	$(LINT)/bin/ruff check src tests bench
	$(LINT)/bin/ruff format --check src tests bench
	$(LINT)/bin/mypy
	$(LINT)/bin/lint-imports --no-cache

format: $(LINT)/.ready
	$(LINT)/bin/ruff check --fix src tests bench
	$(LINT)/bin/ruff format src tests bench

bench: $(BENCH) bench-faults bench-environments
	$(BIN)/python -m bench

# Scores the record; `python -m bench.probes.record` makes it and goes on where it was.
bench-probes: $(READY)
	$(BIN)/python -m bench.probes.page
	$(BIN)/python docs/generate.py

bench-faults: $(BENCH) $(PEERS)/.ready
	$(BIN)/python -m bench.faults score --peers $(PEERS)/bin/python

# Trains with TRL what is not recorded yet, scores all, and writes the page.
bench-llm: $(READY) $(LLM)/.ready $(PEERS)/.ready
	$(BIN)/python -m bench.llm.record --python $(LLM)/bin/python
	$(BIN)/python -m bench.llm.score --peers $(PEERS)/bin/python

$(LLM)/.ready: pyproject.toml
	$(PYTHON) -m venv $(LLM)
	$(LLM)/bin/pip install --quiet --upgrade --constraint constraints.txt pip
	$(LLM)/bin/pip install --quiet 'torch==2.13.0' --group llm
	@touch $@

# The same runs as verl's own loggers write them.
bench-llm-verl: $(VERL)/.ready
	$(VERL)/bin/python -m bench.llm.in_verl

$(VERL)/.ready: tests/fixtures/make/requirements-verl.txt
	$(PYTHON) -m venv $(VERL)
	$(VERL)/bin/pip install --quiet --requirement $<
	@touch $@

# Replays recorded runs as if they were training; goes on where it was.
bench-live: $(READY)
	$(BIN)/python -m bench.live

# Examines what is not recorded yet, and writes the page.
bench-environments: $(BENCH)
	$(BIN)/python -m bench.environments --others

# libFuzzer brings a compiled module; it stays apart from what the tests use.
$(FUZZ)/.ready: bench/fuzz/requirements.txt pyproject.toml constraints.txt
	$(PYTHON) -m venv $(FUZZ)
	$(FUZZ)/bin/pip install --quiet --constraint constraints.txt --requirement $< --editable '.[fast,data]'
	@touch $@

# The whole takes hours; FUZZ_OPTIONS="parsers --seconds 60" looks for a minute.
fuzz: $(READY) $(FUZZ)/.ready
	$(BIN)/python -m bench.fuzz $(FUZZ_OPTIONS)
	$(BIN)/python docs/generate.py

attack: $(READY)
	$(BIN)/python -m bench.attack $(ATTACK_OPTIONS)

# What another commit diagnoses differently: make same BASE=main~3
same: $(READY)
	$(BIN)/python -m bench.same $(BASE)

fixtures:
	bash tests/fixtures/make/make_all.sh

clean:
	rm -rf $(VENV) $(PYTHONS:%=.venv-%) $(LINT) $(PEERS) $(FUZZ) $(LIVE) $(LLM) $(VERL) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage
