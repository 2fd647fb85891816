# make demo   sets everything up and runs a whole session with a simulated human
# make test   sets everything up and passes the tests
# make test-web   the same for the page, in a real browser
# make transformers   adds the transformers back end of the belief; its tests are skipped without
# make test-promst   runs ScienceWorld and ALFWorld, installed in .venv-promst, through our interface
# make test-vllm   scores on a real vLLM server, installed in .venv-vllm
WORLD   ?= household
PROFILE ?= put_away_food
MODEL   ?= default
SEED    ?= 0
TURNS   ?= 20
# A port: shows the session on a page there.
WEB     ?=

GOOD := .venv/bin/good

.PHONY: setup transformers demo chat test test-web test-promst test-vllm chromium lint docs-parameters clean

setup:
	@scripts/setup.sh

transformers:
	@scripts/setup.sh transformers

demo: setup
	@$(GOOD) model pull $(MODEL) >/dev/null
	@$(GOOD) demo --world $(WORLD) --profile $(PROFILE) --model $(MODEL) --seed $(SEED) \
		--turns $(TURNS) --sessions sessions $(if $(WEB),--web $(WEB))

chat: setup
	@$(GOOD) model pull $(MODEL) >/dev/null
	@$(GOOD) chat --world $(WORLD) --model $(MODEL) --seed $(SEED) --turns $(TURNS) \
		--sessions sessions $(if $(WEB),--web $(WEB))

test: setup
	@$(GOOD) model pull small >/dev/null
	@.venv/bin/python -m pytest

chromium:
	@scripts/chromium.sh

test-web: setup chromium
	@.venv/bin/python -m pytest test/browser

test-promst: setup
	@scripts/test_promst.sh

test-vllm: transformers
	@scripts/test_vllm.sh

lint: setup
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy

docs-parameters: setup
	@.venv/bin/python scripts/write_parameters.py

clean:
	rm -rf .venv build *.egg-info
