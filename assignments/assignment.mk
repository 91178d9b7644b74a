# What every assignment's `make` does; its Makefile includes this.
#
#   make test                 build your solution and run the public tests
#   make test RUNG=3          only the third rung
#   make test DEVICE=cuda     on a real GPU
NAME := $(notdir $(CURDIR))
ROOT := $(abspath ../..)
BUILD ?= $(ROOT)/build
SOURCE ?= $(wildcard $(CURDIR)/*.cu)
DEVICE ?= vgpu
RUNG ?=
FLAGS ?=
WORKER := $(BUILD)/workers/$(NAME)

.PHONY: test run
test:  ## set up, build the harness where needed, run the tests
	@$(MAKE) --no-print-directory -C $(ROOT) build BUILD=$(BUILD)
	@$(MAKE) --no-print-directory run

# A compiler's error ends the run before any test: its message is the whole answer.
run: $(WORKER)
	@$(BUILD)/bin/$(NAME)_suite --assignment=$(CURDIR) --worker=$(WORKER) --device=$(DEVICE) $(if $(RUNG),--rung=$(RUNG)) $(FLAGS)

GLUE := $(ROOT)/harness/suites/$(NAME)_launchers.cc
$(WORKER): $(SOURCE) $(wildcard $(CURDIR)/*.h) $(GLUE) $(wildcard $(BUILD)/lib/*) $(ROOT)/harness/worker/build.sh
	@mkdir -p $(dir $@)
	@$(ROOT)/harness/worker/build.sh --build $(BUILD) --assignment $(CURDIR) --source $(SOURCE) --glue $(GLUE) --out $@
