"""Errors with which the grader itself gives up."""


class GraderError(Exception):
    """Something the person at the keyboard can fix; its text says what to type next."""


class UsageError(GraderError):
    """What was typed names something that does not exist; the text says what does."""


class InfrastructureError(Exception):
    """The harness failed on one submission: retried, reported, never scored as the student's fault."""


class OverrunError(InfrastructureError):
    """The submission made the judge take more memory or time than it may: its fault, and not tried again."""
