# Everything starts from a fresh clone: Python 3.11 or newer, pip and make are all it takes.

PYTHONS := python3 python3.14 python3.13 python3.12 python3.11 python
PYTHON ?= $(shell for p in $(PYTHONS); do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
STAMP := $(VENV)/.installed
JOBS ?= 2
# `make test HOST=x86-64-v3` takes this machine for that one; some shells have a HOST of their own, which is not meant.
ifeq ($(origin HOST),command line)
export LAMINA_HOST := $(HOST)
endif
# Where byte code is written pytest need not take each file of tests apart anew.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(PY) -m pytest -q -n $(JOBS) --dist worksteal
LIT := $(BIN)/lit -q -j$(JOBS) test
PYRIGHT := $(BIN)/pyright --pythonpath $(PY)
SOURCES := lamina dialects passes frontends backends
# The tests start hundreds of processes: where the environment keeps Python from writing byte code, each would compile
# every file that it imports anew.
BYTECODE := $(PY) -m compileall -q -j $(JOBS) $(SOURCES)

.PHONY: help setup setup-frontends demo test test-models test-long test-frontends runtime-wheel conformance fuzz check lint types lit bench bench-convolutions bench-compile bench-opt-tool bench-time-laws bench-start-up index docs index-check lock clean
.DEFAULT_GOAL := help

help: ## show this
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 18

setup: $(STAMP) ## make the virtual environment .venv with the locked versions

$(STAMP): pyproject.toml requirements-dev.lock
	@test -n "$(PYTHON)" || { echo "error: Python 3.11 or newer is needed; give it with make PYTHON=..."; exit 1; }
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PY) -m pip install -q --disable-pip-version-check -r requirements-dev.lock
	$(PY) -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@$(BYTECODE)
	@touch $@

demo: $(STAMP) ## compile ResNet-50, compare it with onnxruntime, leave all texts in build/demo
	$(PY) examples/demo.py

# The tests compare the index and the pages of the reference (index-check) as well.
test: $(STAMP) ## all tests but the long ones (under 10 minutes on two cores); HOST=x86-64-v3: as on that machine
	@$(MAKE) --no-print-directory lint lit
	$(PYTEST) -m "not long"

test-models: $(STAMP) ## all models at every level of optimisation, and without each graph pass
	$(PYTEST) -m long test/unit/test_light_models.py

test-long: $(STAMP) ## the other long tests: every sample of every op five ways, gradients compiled, more random programs
	$(PYTEST) -m long --ignore=test/unit/test_light_models.py

# TensorFlow alone is left out: its results are stored (test/oracles/tensorflow/make.py).
FRONTENDS := pytorch tflite jax keras opencv

setup-frontends: $(STAMP) ## add torch, LiteRT, JAX, Keras and OpenCV, which the tests of `make test-frontends` compare with
	$(BIN)/pip install -q $(FRONTENDS:%=-r test/oracles/%/requirements.txt)

test-frontends: setup-frontends ## the tests that need other frameworks
	$(PYTEST) $(FRONTENDS:%=test/oracles/%)

runtime-wheel: $(STAMP) ## build/lamina_runtime-*.whl: what runs compiled programs, without the compiler
	cd tools/runtime_wheel && $(abspath $(PY)) -m hatchling build -t wheel -d $(abspath build)

conformance: $(STAMP) ## ONNX's 2,033 backend tests, each in a worker process; the table by operator and by kind
	$(PY) -m tools.conformance --jobs $(JOBS)

fuzz: $(STAMP) ## random programs run in several ways that must agree, for MINUTES (default: 10), with fresh seeds
	$(BIN)/lamina fuzz --minutes $(or $(MINUTES),10) --jobs $(JOBS)

check: $(STAMP) ## the inner loop: lint, types of what changed, lit, quick tests (under a minute)
	$(MAKE) --no-print-directory lint lit
	files=$$(git diff --name-only --diff-filter=d HEAD -- $(SOURCES:%='%/*.py') 2>/dev/null); \
	if [ -n "$$files" ]; then $(PYRIGHT) $$files; fi
	$(PYTEST) -m "not long and not slow" -x

lint: $(STAMP)
	$(BIN)/ruff check $(SOURCES) tools test bench examples

types: $(STAMP) ## pyright over everything (6 minutes of one processor)
	$(PYRIGHT)

lit: $(STAMP)
	@$(BYTECODE)
	$(LIT)

bench: $(STAMP) ## models against onnxruntime and OpenVINO, one thread and two; compile times and memory
	$(BIN)/pip install -q -r bench/requirements.txt
	$(PY) bench/models.py --threads 1 2 --results
	$(PY) -m tools.results

bench-convolutions: $(STAMP) ## every convolution of six models: part of the peak, and against onnxruntime
	$(PY) bench/convolutions.py --json convolutions.json

bench-compile: $(STAMP) ## where the time of a compilation goes, by stage and by pass; from the cache, and of a saved program
	$(PY) bench/compile_time.py resnet50 densenet121 vgg19 --json compile_time.json

bench-opt-tool: $(STAMP) ## the cost of opt-tool by the number of ops, and the chain of 50,000 nodes
	$(PY) bench/scaling.py

bench-time-laws: $(STAMP) ## what start-up, linear passes and calls in processes may cost; fails where one got slower
	$(PY) bench/time_laws.py

bench-start-up: $(STAMP) ## what starting a command and compiling take, by turns with a commit: COMMIT=...
	$(PY) bench/start_up.py $(or $(COMMIT),$(error give COMMIT=...))

index: $(STAMP) ## write dialects/relay/op_index.py afresh
	$(PY) -m tools.op_index

docs: $(STAMP) ## write docs/reference afresh: primitives, ops and passes, each with its example run; the tour's list of files; lamina.h
	$(PY) -m tools.reference
	$(PY) -m tools.walk
	$(PY) -m tools.rooms
	$(PY) -m tools.choices
	$(PY) -m tools.results
	$(PY) -m tools.header

index-check: $(STAMP)
	$(PY) -m tools.op_index --check
	$(PY) -m tools.reference --check
	$(PY) -m tools.walk --check
	$(PY) -m tools.rooms --check
	$(PY) -m tools.choices --check
	$(PY) -m tools.results --check
	$(PY) -m tools.header --check

lock: $(STAMP) ## write the versions of .venv into requirements-dev.lock
	$(PY) -m pip freeze --exclude-editable > requirements-dev.lock

clean: ## remove what was built, and the reproducers of faults
	rm -rf build lamina-reproducers $(VENV)
