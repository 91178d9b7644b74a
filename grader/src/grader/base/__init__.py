"""Foundations: errors, files, names, processes, the sandbox, paths in the repository."""
