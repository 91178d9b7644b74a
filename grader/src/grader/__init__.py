"""Grades CUDA coursework: builds submissions, has the judge run them, scores, and writes report cards."""

# Lockstep's version: pyproject.toml, the build and CHANGELOG.md follow this line.
__version__ = "0.1.0"
