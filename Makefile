# make demo   sets everything up and runs a whole session with a simulated human
# make test   sets everything up and passes the tests
WORLD   ?= household
PROFILE ?= put_away_food
MODEL   ?= default
SEED    ?= 0
TURNS   ?= 20

GOOD := .venv/bin/good

.PHONY: setup demo chat test lint docs-parameters clean

setup:
	@scripts/setup.sh

demo: setup
	@$(GOOD) model pull $(MODEL) >/dev/null
	@$(GOOD) demo --world $(WORLD) --profile $(PROFILE) --model $(MODEL) --seed $(SEED) \
		--turns $(TURNS) --sessions sessions

chat: setup
	@$(GOOD) model pull $(MODEL) >/dev/null
	@$(GOOD) chat --world $(WORLD) --model $(MODEL) --seed $(SEED) --turns $(TURNS) \
		--sessions sessions

test: setup
	@$(GOOD) model pull small >/dev/null
	@.venv/bin/python -m pytest

lint: setup
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy

docs-parameters: setup
	@.venv/bin/python scripts/write_parameters.py

clean:
	rm -rf .venv build *.egg-info
