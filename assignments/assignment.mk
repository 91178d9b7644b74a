# What every assignment's Makefile includes: `make test`, `watch`, `check`, `profile` and `hint` for this folder alone.
# harness/student.mk says what they take.
include ../../harness/student.mk

.PHONY: test watch check profile hint run
test watch check profile hint:
	@$(STUDENT) $@ $(notdir $(CURDIR)) $(CHOICES)

run:
	@$(RUN)
