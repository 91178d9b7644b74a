"""Autograders that run on a learning platform: packing one, and the code that runs inside."""
