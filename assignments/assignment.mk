# What every assignment's Makefile includes: `make test`, `check`, `profile` and `hint` for this folder alone.
# harness/student.mk says what they take.
include ../../harness/student.mk

.PHONY: test check profile hint run
test check profile hint:
	@$(STUDENT) $@ $(notdir $(CURDIR)) $(CHOICES)

run:
	@$(RUN)
