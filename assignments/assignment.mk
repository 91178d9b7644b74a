# What every assignment's Makefile includes: `make test`, `watch`, `check`, `profile`, `debug` and `hint` for this folder alone.
# harness/student.mk says what they take.
include ../../harness/student.mk

.PHONY: test watch check profile debug hint run help
test watch check profile debug hint:
	@$(STUDENT) $@ $(lastword $(notdir $(CURDIR))) $(CHOICES)

help:
	@$(STUDENT) help

run:
	@$(RUN)
