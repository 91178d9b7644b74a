"""What a student's `make test`, `make check` and `make profile` run, with only the standard library."""
