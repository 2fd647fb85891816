# make demo   sets everything up and runs a whole session with a simulated human
# make test   sets everything up and passes the tests
# make test-web   the same for the page, in a real browser
# make transformers   adds the transformers back end of the belief; its tests are skipped without
# make arm   adds the arm world (MuJoCo); its tests are skipped without
# make speech   adds hearing and speaking: packages, espeak-ng and the speech model
# make test-speech   their tests, with the message packages of other front ends built as stand-ins
# make test-faults   the table of faults, with a hundred sessions in which nodes are killed (about ten minutes)
# make audit   looks the packages up among known vulnerabilities, where the service can be reached
# make secrets   looks for keys in what is committed
# make docs   the documentation as a site, in build/site
# make test-compat   imports everything with numpy 1.26 and 2, without ROS, without heavy libraries
# make test-promst   runs ScienceWorld and ALFWorld, installed in .venv-promst, through our interface
# make test-vllm   scores on a real vLLM server, installed in .venv-vllm
# household or grocery; the profile's where it is empty.
WORLD   ?=
# One of config/profiles; put_away_food, or chocolate_cake in the grocery world, where it is empty.
PROFILE ?=
MODEL   ?= default
SEED    ?= 0
TURNS   ?= 20
# A port: shows the session on a page there.
WEB     ?=

GOOD := .venv/bin/good

.PHONY: setup arm transformers speech demo chat test test-web test-speech test-compat test-faults \
	test-promst test-vllm chromium lint audit secrets docs docs-interfaces docs-parameters clean

setup:
	@scripts/setup.sh

arm:
	@scripts/setup.sh arm arm_model

transformers:
	@scripts/setup.sh transformers

speech:
	@scripts/voices.sh
	@scripts/setup.sh speech
	@$(GOOD) model pull speech >/dev/null

demo: setup $(if $(filter arm,$(WORLD)),arm)
	@$(GOOD) model pull $(MODEL) >/dev/null
	@$(GOOD) demo $(if $(WORLD),--world $(WORLD)) $(if $(PROFILE),--profile $(PROFILE)) --model $(MODEL) --seed $(SEED) \
		--turns $(TURNS) --sessions sessions $(if $(WEB),--web $(WEB))

chat: setup
	@$(GOOD) model pull $(MODEL) >/dev/null
	@$(GOOD) chat $(if $(WORLD),--world $(WORLD)) --model $(MODEL) --seed $(SEED) --turns $(TURNS) \
		--sessions sessions $(if $(WEB),--web $(WEB))

test: setup
	@$(GOOD) model pull small >/dev/null
	@.venv/bin/python -m pytest

chromium:
	@scripts/chromium.sh

test-web: setup chromium
	@.venv/bin/python -m pytest test/browser

test-speech: speech
	@$(GOOD) model pull small >/dev/null
	@scripts/test_speech.sh

test-faults: setup
	@$(GOOD) model pull small >/dev/null
	@.venv/bin/python -m pytest -m faults
	@GOOD_ROS_KILLS=100 .venv/bin/python -m pytest test/nodes/test_kills.py

test-compat: setup
	@scripts/test_compat.sh

test-promst: setup
	@scripts/test_promst.sh

test-vllm: transformers
	@scripts/test_vllm.sh

lint: setup
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy
	@.venv/bin/hadolint docker/Dockerfile docker/Dockerfile.cuda
	@.venv/bin/shellcheck scripts/*.sh docker/*.sh .ci/run

audit: setup
	@scripts/audit.sh

secrets: setup
	@.venv/bin/python scripts/check_secrets.py

docs-interfaces: setup
	@.venv/bin/python scripts/write_interfaces.py

docs: setup
	@scripts/setup.sh docs arm arm_model
	@.venv/bin/python scripts/check_docs.py --run
	@.venv/bin/mkdocs build --quiet

docs-parameters: setup
	@.venv/bin/python scripts/write_parameters.py

clean:
	rm -rf .venv build *.egg-info
