# What students type in an assignment's folder; the top folder's Makefile, which also includes this file, has the same:
#
#   make test                  build your solution and run the public tests
#   make test RUNG=3           one rung of the ladder
#   make test TEST=SumsOne     the tests whose names contain this
#   make test VERBOSE=1        every message, as each test ends, and a table of all counters and modelled times
#   make check                 all that the fault checkers find: races, bad addresses, unwritten memory, barriers
#   make profile RUNG=3        what each line costs: sectors, conflicts, divergence, instructions
#   make profile PAGE=1        a page for a browser too: the source with a counter next to each line, accesses drawn
#   make debug RUNG=3          step through your kernels, forwards and back: stops where the call that fails begins
#   make watch                 run the tests whenever you save; goes on to the next rung when one is right
#   make hint RUNG=3           one more hint each time, up to the last idea before the code
#   make run FILE=mine.cu      any CUDA program on the virtual GPU; CHECK=1 reports faults, PROFILE=1 costs by line,
#                              PAGE=1 writes a page with both, ARGS='1000 7' are the program's arguments
#
# DEVICE=cuda runs the tests, or the program, on a GPU; check and profile need the virtual one. SEED=7 repeats a run's
# inputs. SOURCE=FILE tests another file in place of the assignment's. BUILD=DIR is the build tree, which other checkouts
# of the same version may share.
LOCKSTEP := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))..)
BUILD ?= $(LOCKSTEP)/build
DEVICE ?= vgpu
RUNG ?=
TEST ?=
SEED ?=
VERBOSE ?=
SOURCE ?=
FLAGS ?=
FILE ?=
CHECK ?=
PROFILE ?=
PAGE ?=
ARGS ?=

# `make` ends a failure with a line of its own, "make: *** [...] Error 1", which only a status of 0 would suppress. The
# command that it calls, `lockstep`, can be typed instead: lockstep --help.
STUDENT = "$(LOCKSTEP)/lockstep"
CHOICES = --by-make --build "$(BUILD)" --device '$(DEVICE)' $(if $(RUNG),--rung '$(RUNG)') $(if $(TEST),--test '$(TEST)') \
	$(if $(SEED),--seed '$(SEED)') $(if $(filter-out 0,$(VERBOSE)),--verbose) $(if $(SOURCE),--source "$(SOURCE)") \
	$(if $(filter-out 0,$(PAGE)),--page) $(if $(FLAGS),--flags='$(FLAGS)')
RUN = $(STUDENT) run --by-make --build "$(BUILD)" --device '$(DEVICE)' $(if $(filter-out 0,$(CHECK)),--check) \
	$(if $(filter-out 0,$(PROFILE)),--profile) $(if $(filter-out 0,$(PAGE)),--page) $(if $(FILE),"$(FILE)") $(if $(ARGS),-- $(ARGS))
