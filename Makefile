# Lockstep. `make help` lists what there is.
#
# Set-up happens by itself: harness/setup.sh finds or installs what is missing, once, and leaves a stamp.
BUILD ?= build
DEMO := out/demo
SHELL := /bin/bash
STAMP := $(BUILD)/.setup
TOOLS := $(BUILD)/.setup-dev
# The target that is built while the Python packages are installed.
BESIDE_SETUP := $(if $(filter check check-all build-all unit-tests,$(MAKECMDGOALS)),all,$(if $(filter demo,$(MAKECMDGOALS)),grading,$(if $(filter build bench grader-% cluster-check,$(MAKECMDGOALS)),core)))
include harness/student.mk

.DEFAULT_GOAL := help
.PHONY: help setup build build-all demo gpu check check-all test watch hint profile debug run lint tidy format unit-tests grader-check grader-tests cluster-check bench release arm64-check release-arm64 docs pictures clean

help:  ## list the targets
	@echo "Lockstep: autograded CUDA coursework, with or without a GPU"
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

$(STAMP): harness/setup.sh $(wildcard grader/requirements.txt grader/constraints.txt grader/pyproject.toml)
	@harness/setup.sh --build $(BUILD) --target '$(BESIDE_SETUP)'
	@mkdir -p $(BUILD) && touch $@

$(TOOLS): grader/requirements-dev.txt grader/constraints.txt | $(STAMP)
	@harness/setup.sh --dev
	@touch $@

setup: $(STAMP)  ## install and find all that is needed (the other targets do it too)

.PHONY: doctor
doctor:  ## what is found on this machine, what is missing, and what to type
	@harness/setup.sh --doctor --build $(BUILD)

build: $(STAMP)  ## build the virtual GPU, the judge and the suites
	@[ -n "$(BUILT)" ] || harness/build.sh --build $(BUILD) core

build-all: $(STAMP)  ## build the project's tests too
	@[ -n "$(BUILT)" ] || harness/build.sh --build $(BUILD) all

demo: $(STAMP)  ## grade a sample class with no GPU: report cards, gradebook, leaderboard
	@harness/build.sh --build $(BUILD) grading
	@.venv/bin/grader grade reference/sample_class --build $(BUILD) --out $(DEMO) --device $(DEVICE)
	@echo "Try next: make run FILE=mine.cu CHECK=1 (any CUDA program), make test (what students do)"

# C++ tests depend on wall-clock time, so they run alone. The other parts wait a third of their time: two run at once.
check: build-all unit-tests $(TOOLS)  ## pass the project's own tests, C++ and Python
	@echo "==> Static checks, Python tests and solutions, two parts at a time; each is shown when it ends"
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target BUILT=1 lint grader-check grader-tests

check-all: export LOCKSTEP_ALL = 1
check-all: check cluster-check  ## once a day: make check, tests of the project's own tools, set-up in clean systems, a real Slurm (root)
	@.venv/bin/grader check --build $(BUILD) --only reference --only 'right/*' --seed $(COMMITS)
	@if command -v aarch64-linux-gnu-g++ qemu-aarch64-static | grep -q qemu; then $(MAKE) --no-print-directory arm64-check; \
	  else echo "arm64 is left out; type: apt-get install g++-aarch64-linux-gnu qemu-user-static debootstrap"; fi

gpu:  ## on a machine with a GPU: grade all on it, meet the opponents, measure, write docs/records/gpu-*.md
	@harness/dev/gpu.sh --build $(BUILD)

tidy: $(STAMP) $(TOOLS)  ## clang-tidy alone, which lint runs too
	@harness/dev/tidy.sh --build $(BUILD)

lint: $(STAMP) $(TOOLS)  ## formatting and static checks; clang-tidy, which takes minutes, where LOCKSTEP_ALL is set
	@harness/dev/lint.sh --build $(BUILD) $$([ -n "$$LOCKSTEP_ALL" ] || echo --quick)

format: $(STAMP) $(TOOLS)  ## format C++, CUDA and Python sources
	@harness/dev/lint.sh --build $(BUILD) --fix

# Each commit runs the next 24th of the solutions and of the costly tests, and one ladder. make check-all runs all.
TURNS = 24
COMMITS = $$(git rev-list --count HEAD 2>/dev/null || echo 0)
SHARE = $$(($(COMMITS) % $(TURNS) + 1))/$(TURNS)
unit-tests: build-all  ## C++ tests
	@harness/dev/unit_tests.sh $(BUILD) $$([ -n "$$LOCKSTEP_ALL" ] && echo all || echo $(SHARE))

grader-check: build  ## references pass; a 24th of the stubs and of the other solutions get their verdicts
	@# Hostile solutions (opponents) mostly make the judge wait, so they run during the check; their output comes after it.
	@if [ -z "$$LOCKSTEP_ALL" ]; then share="--shard $(SHARE)"; echo "Of the solutions only share $(SHARE); make check-all grades all"; fi; \
	  .venv/bin/grader opponents --build $(BUILD) --out $(BUILD)/opponents $$share > $(BUILD)/opponents.log 2>&1 & opponents=$$!; \
	  trap 'kill $$opponents' INT TERM; \
	  .venv/bin/grader check --build $(BUILD) $${share:---whole}; checked=$$?; \
	  wait $$opponents; met=$$?; cat $(BUILD)/opponents.log; [ $$checked = 0 ] && [ $$met = 0 ]
	@# One ladder per commit, in turn.
	@.venv/bin/grader ladder $$([ -n "$$LOCKSTEP_ALL" ] || ls docs/records/ladders | sed -n "$$(($(COMMITS) % $$(ls docs/records/ladders | wc -l) + 1))s/\.md//p") --build $(BUILD) --pages docs/records/ladders --verify

grader-tests: build $(TOOLS)  ## Python tests
	@harness/setup.sh --docs || echo "test_site.py leaves the site out"
	@[ -z "$$LOCKSTEP_ALL" ] || harness/setup.sh --browser || echo "test_browser_*.py leave out what needs a browser"
	@harness/setup.sh --python || echo "test_python_*.py leave out what needs Numba"
	@# Some tests only wait, so one more runs at a time than there are processors. Without xdist they run one by one.
	@LOCKSTEP_SHARE=$(SHARE) LOCKSTEP_BUILD="$(abspath $(BUILD))" .venv/bin/pytest -q grader/tests \
	  $$(.venv/bin/python -c 'import os, xdist; print(f"--numprocesses={os.cpu_count() + 1} --dist=worksteal")' 2>/dev/null)

cluster-check: build $(TOOLS)  ## grade on a real Slurm, which runs on this machine: Debian's packages, root
	@harness/dev/slurm/install.sh
	@LOCKSTEP_BUILD="$(abspath $(BUILD))" LOCKSTEP_CLUSTER=1 .venv/bin/pytest -v grader/tests/test_slurm.py

bench: build  ## benchmarks of the virtual GPU
	@harness/build.sh --build $(BUILD) benchmarks
	@for b in $(BUILD)/bench/*_bench; do "$$b"; done

release: $(STAMP) $(TOOLS)  ## a wheel with vgpu-run, the grader and notebooks' cells: out/release
	@harness/build.sh --build $(BUILD) cudart
	@.venv/bin/python harness/dev/release.py $(BUILD) out/release

ARM64 = /var/tmp/lockstep-arm64
arm64-check: $(TOOLS)  ## a short list on arm64 Linux, by qemu: instructions, floating point, three references' results
	@harness/dev/arm64.py $(ARM64) build core core_tests isa_tests
	@for part in core isa; do harness/dev/arm64.py $(ARM64) run $(ARM64)/build/tests/$${part}_tests --gtest_brief=1 --gtest_filter='LanesTest.*:FloatTest.*:IntegerTest.*:ConvertTest.*' || exit 1; done
	@harness/dev/arm64.py $(ARM64) compare $(BUILD) 01_handson_copy 02_handson_launch 07_occupancy

release-arm64: $(TOOLS)  ## the same for arm64 Linux, cross-built in the folder ARM64: root, Debian's g++-aarch64-linux-gnu
	@harness/dev/arm64.py $(ARM64) build vgpu-run
	@harness/dev/arm64.py $(ARM64) run .venv/bin/python harness/dev/release.py $(ARM64)/build out/release-arm64

docs:  ## build the documentation's site in out/site
	@harness/setup.sh --docs
	@harness/dev/site/build.sh --build $(BUILD)

pictures: build  ## draw again the documentation's pictures that are made from data and runs
	@.venv/bin/python harness/dev/site/pictures.py --build $(BUILD)

test:  ## run the public tests on the stubs in assignments/: what students do; ASSIGNMENT=15_histogram: one
	@$(STUDENT) test $(ASSIGNMENT) $(CHOICES)

watch:
	@$(STUDENT) watch $(ASSIGNMENT) $(CHOICES)

hint:
	@$(STUDENT) hint $(ASSIGNMENT) $(CHOICES)

profile:  ## what each line of the kernels in assignments/ costs, once they are right
	@$(STUDENT) profile $(ASSIGNMENT) $(CHOICES)

debug:
	@$(STUDENT) debug $(ASSIGNMENT) $(CHOICES)

run:  ## any CUDA program on the virtual GPU: make run FILE=mine.cu, CHECK=1, PROFILE=1
	@$(RUN)

clean:  ## remove what was built
	rm -rf $(BUILD) out
