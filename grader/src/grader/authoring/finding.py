"""A finding of a check of an assignment."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing that was checked; `problem` is empty where it is right."""

    what: str
    detail: str
    problem: str = ""
