# What students type, at the top, where the including Makefile names the targets, and in an assignment's folder:
#
#   make test                  build your solution and run the public tests
#   make test RUNG=3           one rung of the ladder
#   make test TEST=SumsOne     the tests whose names contain this
#   make test VERBOSE=1        every message, as each test ends
#   make check                 all that the fault checkers find: races, bad addresses, unwritten memory, barriers
#   make profile RUNG=3        what each line costs: sectors, conflicts, divergence, instructions
#
# DEVICE=cuda runs the tests on a GPU. SEED=7 repeats a run's inputs. SOURCE=FILE tests another file in place of the
# assignment's. BUILD=DIR is the build tree, which other checkouts of the same version may share.
LOCKSTEP := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))..)
BUILD ?= $(LOCKSTEP)/build
DEVICE ?= vgpu
RUNG ?=
TEST ?=
SEED ?=
VERBOSE ?=
SOURCE ?=
FLAGS ?=

STUDENT = $(LOCKSTEP)/harness/student.sh --build '$(BUILD)'
CHOICES = --device '$(DEVICE)' --rung '$(RUNG)' --test '$(TEST)' --seed '$(SEED)' --verbose '$(VERBOSE)' \
	--source '$(SOURCE)' --flags='$(FLAGS)'
