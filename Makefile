# README explains; `make help` lists. Everything here calls what you can also call yourself.
STACK ?= local
JOB ?=
REPLICA ?=
# Not ?=: a PORT of the environment is some other program's.
PORT :=
ARGS ?=

# Recipes run in the checkout's own environment; set-up itself finds a Python on the user's PATH (toolchain/run.sh).
INSTALLER := sh toolchain/run.sh
VENV := PATH="$(CURDIR)/.venv/bin:$$PATH" .venv/bin/
GO_HOST := cd toolchain/languagehost && CGO_ENABLED=0 GOTOOLCHAIN=local GOFLAGS='-mod=readonly -trimpath -buildvcs=false' go

# `make setup` brings what the stack that is named needs, or without one what every stack here does.
SETUP_FOR := $(if $(filter-out file,$(origin STACK)),$(STACK))
watch logs tensorboard: SETUP_FOR = $(STACK)

export PYTHON YES BUILDER
# A user's own settings of these would reach the checkout's Python and its packages.
unexport PYTHONHOME PYTHONINSPECT PYTHONPATH PYTHONPLATLIBDIR PYTHONSAFEPATH PYTHONSTARTUP
.DEFAULT_GOAL := help
.PHONY: help up setup setup-dev preview destroy test test-cluster image check check-python check-go fmt lock docs bench watch logs tensorboard clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

up: ## set up what is missing, show the preview, run `pulumi up` [STACK=local] [YES=1: do not ask]
	@$(INSTALLER) up "$(STACK)"

setup: ## set up only: .venv, packages, pulumi [STACK=name: and what that stack's target needs]
	@$(INSTALLER) setup $(if $(SETUP_FOR),"$(SETUP_FOR)")

setup-dev:
	@$(INSTALLER) setup-dev

preview: ## show what `make up` would change [STACK=local]
	@$(INSTALLER) preview "$(STACK)"

destroy: ## stop everything; keep data, checkpoints and exports [STACK=local] [YES=1]
	@$(INSTALLER) destroy "$(STACK)"

watch: setup ## live table of jobs and replicas [STACK=local]
	@$(VENV)python -m console watch --stack "$(STACK)" $(ARGS)

logs: setup ## follow a log: JOB=name [REPLICA=worker-0] [STACK=local]
	@$(VENV)python -m console logs --stack "$(STACK)" $(if $(JOB),--job "$(JOB)") $(if $(REPLICA),--replica "$(REPLICA)") $(ARGS)

tensorboard: setup ## open TensorBoard on this machine [STACK=local] [PORT=6006]
	@$(VENV)python -m console tensorboard --stack "$(STACK)" $(if $(PORT),--port "$(PORT)") $(ARGS)

image: setup ## build the images of a stack's containers, push them to its registry [STACK=local] [IMAGE=cpu|gpu|all] [PUSH=0]
	@$(VENV)python -m workloads.image_command --stack "$(STACK)" --image "$(IMAGE)" --push "$(PUSH)" \
	  --archive "$(ARCHIVE)" --mirror "$(MIRROR)" --python-image "$(PYTHON_IMAGE)"

test: setup-dev ## run the tests [ARGS="-k name"]
	@$(VENV)python -m pytest $(ARGS)

# With KUBECONFIG the same tests run in that cluster, and nothing need be built.
test-cluster: setup-dev ## run the tests in a cluster: KUBECONFIG's, or one started here as root [ARGS=…]
	@$(if $(KUBECONFIG),true,$(VENV)python -m toolchain.cluster build)
	@$(VENV)python -m pytest tests/cluster $(ARGS)

check: check-python check-go ## check formatting, lint, types, imports

check-python: setup-dev
	@$(VENV)ruff format --check .
	@$(VENV)ruff check .
	@$(VENV)mypy
	@$(VENV)lint-imports

check-go:
	@if command -v go >/dev/null; then set -e; \
	  unformatted=$$(gofmt -l toolchain); [ -z "$$unformatted" ] || { echo "gofmt: $$unformatted"; exit 1; }; \
	  ($(GO_HOST) vet ./...); ($(GO_HOST) test ./...); \
	else echo "check-go: skipped, no Go on PATH"; fi

fmt: setup-dev ## format the sources
	@$(VENV)ruff format .
	@$(VENV)ruff check --fix .
	@if command -v gofmt >/dev/null; then gofmt -w toolchain; fi

lock: ## write requirements*.txt from versions.toml
	@$(INSTALLER) lock

docs: setup ## write docs/config.md and docs/config.schema.json from the models
	@$(VENV)python -m config.docs

bench: setup ## measure the figures of docs/benchmarks.md
	@$(VENV)python -m benchmarks $(ARGS)

clean: ## remove .venv and tools' caches; keep data/ and the stacks' state
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -not -path './data/*' -prune -exec rm -rf {} +
