# What students type, at the top, where the including Makefile names the targets, and in an assignment's folder:
#
#   make test                  build your solution and run the public tests
#   make test RUNG=3           one rung of the ladder
#   make test TEST=SumsOne     the tests whose names contain this
#   make test VERBOSE=1        every message, as each test ends, and a table of all counters and modelled times
#   make check                 all that the fault checkers find: races, bad addresses, unwritten memory, barriers
#   make profile RUNG=3        what each line costs: sectors, conflicts, divergence, instructions
#   make hint RUNG=3           one hint more each time, up to the last idea before the code
#   make run FILE=mine.cu      any CUDA program on the virtual GPU; CHECK=1 reports faults, PROFILE=1 costs by line,
#                              ARGS='1000 7' are the program's arguments
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
ARGS ?=

STUDENT = $(LOCKSTEP)/harness/student.sh --build '$(BUILD)'
CHOICES = --device '$(DEVICE)' --rung '$(RUNG)' --test '$(TEST)' --seed '$(SEED)' --verbose '$(VERBOSE)' \
	--source '$(SOURCE)' --flags='$(FLAGS)'
RUN = $(LOCKSTEP)/harness/run.sh --build '$(BUILD)' --file '$(FILE)' --device '$(DEVICE)' --check '$(CHECK)' \
	--profile '$(PROFILE)' --arguments '$(ARGS)'
