"""The command line: options, the console, and what each command calls."""
