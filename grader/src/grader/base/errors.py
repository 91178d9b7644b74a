"""Errors with which the grader itself gives up."""


class GraderError(Exception):
    """An error that the user can fix; its text says what to type next."""


class UsageError(GraderError):
    """A name on the command line that does not exist; the text lists those that do."""


class InfrastructureError(Exception):
    """The harness failed on one submission: retried, reported, never scored as the student's fault."""


class OverrunError(InfrastructureError):
    """The submission drove the judge over its memory or time limit: its fault, and not retried."""
