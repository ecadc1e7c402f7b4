# All set-up happens in .venv; `make help` lists what there is.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# A processor with AVX2 alone, as far as software can pretend: PyTorch and oneDNN leave newer instructions out. ONNX Runtime
# reads the processor itself and has no switch for it, so int8 without 8-bit dot products (VNNI) needs real hardware.
AVX2 := ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2
# Test processes; a file of tests stays in one of them, so that its fixtures are made once.
JOBS ?= 2
SUITE := pytest -n $(JOBS) --dist loadfile
PYTEST := $(BIN)/python -m $(SUITE)
FUZZ_SECONDS ?= 900
# What has been measured so far: long runs go on from there, on any machine.
STAGES := results/reproduction/stages.jsonl.gz
RECIPES ?= ood-main classification-accuracy ood-ablation cross-domain nli stsb

.DEFAULT_GOAL := help
.PHONY: help setup demo docs docs-pictures test test-browser test-avx2 test-slow test-random coverage lint type bench bench-avx2 bench-setfit bench-serving bench-drift trust fuzz mutants versions sbom audit-packages advisories reproduce reproduce-page quality open-world lock clean

help:  ## list the targets
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16

$(STAMP): requirements.lock requirements-torch.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	@echo "installing locked dependencies (a few minutes on the first run)"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-torch.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

setup: $(STAMP)  ## virtual environment with locked dependencies and the embedded backbone

demo: $(STAMP)  ## train vanilla and MASKER on 20 Newsgroups, compare, classify three posts
	$(BIN)/masker demo

docs: $(STAMP)  ## the documentation site in build/site, opened from disk or by any web server
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

docs-pictures: $(STAMP)  ## the pictures of thresholds and concepts, from the models of make demo
	$(BIN)/python tools/threshold_pictures.py runs/demo

test: $(STAMP)  ## the test suite, without the slow ones
	$(BIN)/python -m ruff check src tests benchmarks tools examples
	$(BIN)/python -m mypy
	$(PYTEST)
	@$(MAKE) --no-print-directory test-browser

test-browser: $(STAMP)  ## the pages in a real Chromium, installed with apt-get if it can be; part of make test
	@sh tools/chromium.sh
	$(PYTEST) -m browser tests/browser

test-avx2: $(STAMP)  ## the test suite as on a processor without AVX-512; part of the release checklist
	$(AVX2) $(PYTEST)

test-slow: $(STAMP)  ## the tests that take minutes
	$(BIN)/python -m pytest -m slow

test-random: $(STAMP)  ## the test suite in a random order; SEED=N repeats one
	@seed=$${SEED:-$$($(BIN)/python -c "import random; print(random.randrange(2**32))")}; \
	echo "make test-random SEED=$$seed JOBS=$(JOBS) repeats this order"; \
	$(PYTEST) -p randomly --no-loadscope-reorder --randomly-seed=$$seed

coverage: $(STAMP)  ## lines and branches that the test suite runs, at least 92 %; writes docs/reliability.md
	rm -rf build/coverage && mkdir -p build/coverage
	$(BIN)/python -m coverage run -m $(SUITE)
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage json --quiet --fail-under=0 -o build/coverage/coverage.json
	$(BIN)/python -m benchmarks.coverage_page build/coverage/coverage.json

lint: $(STAMP)  ## style
	$(BIN)/python -m ruff check src tests benchmarks tools examples
	$(BIN)/python -m ruff format --check src tests benchmarks tools examples

type: $(STAMP)  ## strict types of the package
	$(BIN)/python -m mypy

bench: $(STAMP)  ## speed, side by side; writes results/benchmarks.json and docs/performance.md
	$(BIN)/python -m benchmarks

bench-avx2: $(STAMP)  ## the same as on a processor without AVX-512, beside the other column
	$(AVX2) $(BIN)/python -m benchmarks

bench-setfit: $(STAMP)  ## SetFit in .venv-setfit, for the short texts of bench
	$(BIN)/python -m benchmarks.environments setfit

bench-serving: $(STAMP)  ## the service under load, beside LitServe and Ray Serve (half an hour); writes docs/serving.md
	$(BIN)/python -m benchmarks.environments litserve
	$(BIN)/python -m benchmarks.serving

bench-drift: $(STAMP)  ## false alarms and delays of masker monitor, beside river; writes docs/monitoring.md
	$(BIN)/python -m benchmarks.environments river
	$(BIN)/python -m benchmarks.drift

trust: $(STAMP)  ## kills, full disks, degenerate data (20 minutes; disks need root); writes docs/reliability.md
	$(BIN)/python -m benchmarks.trust

fuzz: $(STAMP)  ## coverage-guided fuzzing of what reads files, FUZZ_SECONDS for each of four targets
	$(BIN)/python -m benchmarks.environments atheris
	$(BIN)/python -m benchmarks.fuzz --seconds $(FUZZ_SECONDS)

mutants: $(STAMP)  ## faults planted in equations, metrics, scores and drift statistics: do their tests notice? docs/reliability.md
	$(BIN)/python -m benchmarks.environments cosmic_ray
	$(BIN)/python -m benchmarks.mutants

versions: $(STAMP)  ## the suite with the lowest and the newest dependencies that pyproject.toml admits; docs/reliability.md
	$(BIN)/python -m benchmarks.versions

sbom: $(STAMP)  ## what the lock installs as a CycloneDX document, build/sbom.json
	$(BIN)/python -m benchmarks.environments cyclonedx_py
	mkdir -p build
	cat requirements.lock requirements-torch.lock | .venv-cyclonedx_py/bin/python -I -m cyclonedx_py requirements - \
	    --pyproject pyproject.toml --mc-type library --output-reproducible --of JSON -o build/sbom.json

audit-packages: $(STAMP)  ## licences of the locked packages; ends with 1 if one was withdrawn, conflicts, or is copyleft without a reason
	$(BIN)/python tools/audit_packages.py

advisories: $(STAMP)  ## known vulnerabilities of the locked packages, by pip-audit; asks PyPI itself, not a mirror
	$(BIN)/python -m benchmarks.environments pip_audit
	.venv-pip_audit/bin/python -I -m pip_audit --strict --no-deps --disable-pip -r requirements.lock -r requirements-torch.lock

reproduce: $(STAMP)  ## the paper's tables and figures at the small scale (hours); RECIPES="nli stsb" for some
	$(BIN)/masker reproduce $(RECIPES) --stages $(STAGES)

reproduce-page: $(STAMP)  ## write docs/reproduction.md from results/reproduction
	$(BIN)/python -m masker.report.page

quality: $(STAMP)  ## the default against vanilla and a linear model (hours); docs/quality.md
	$(BIN)/masker reproduce quality quality-short open-intent false-alarms --output runs/quality --stages $(STAGES)
	$(BIN)/python -m masker.report.page runs/quality

open-world: $(STAMP)  ## masker discover, extend and review on corpora split by class (about two hours); docs/open-world.md
	$(BIN)/masker reproduce open-world --output runs/open-world --stages $(STAGES)
	$(BIN)/python -m masker.report.page runs/open-world

lock: $(STAMP)  ## write the versions that are installed now into requirements.lock, with the hashes of all their files
	$(BIN)/python tools/lock.py

clean:  ## remove the virtual environments and caches, keep runs
	rm -rf $(VENV) .venv-setfit .venv-river .venv-litserve .venv-atheris .venv-cyclonedx_py .venv-cosmic_ray .venv-pip_audit .venv-lowest .venv-newest .venv-base-* .pytest_cache .mypy_cache .ruff_cache .hypothesis build *.egg-info src/*.egg-info
