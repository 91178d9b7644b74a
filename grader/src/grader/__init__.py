"""Grades CUDA coursework: builds submissions, has the judge run them, scores, and writes report cards."""

__version__ = "0.1.0"
