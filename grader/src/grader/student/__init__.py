"""What a student's `make test`, `make check` and `make profile` run: the standard library alone."""
