"""What the rest stands on: errors, files, names, processes, the sandbox, where things are in the repository."""
