# What every assignment's Makefile includes: `make test`, `make check` and `make profile` for this folder alone.
# harness/student.mk says what they take.
include ../../harness/student.mk

.PHONY: test check profile run
test check profile:
	@$(STUDENT) $@ $(notdir $(CURDIR)) $(CHOICES)

run:
	@$(RUN)
