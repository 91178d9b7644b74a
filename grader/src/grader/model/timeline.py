"""The timeline of a rung's streams in an evidence run, from the judge's result file."""

from dataclasses import dataclass

from grader.base.schema import Fields, read

ENGINES = ("to_device", "compute", "to_host", "to_peer")


@dataclass(frozen=True)
class Operation:
    """A copy, a memset or a launch: its engine, its stream, and its times in microseconds."""

    engine: str
    name: str
    stream: str
    bytes: int
    page_locked: bool
    begin: float
    end: float
    device: int = 0


@dataclass(frozen=True)
class Timeline:
    """The whole run, in microseconds; docs/reference/assignment-toml.md defines each figure."""

    timeline_us: float
    bound_us: float
    serial_us: float
    kernel_overlap_us: float
    copy_overlap_us: float
    one_engine_us: float
    one_engine_bound_us: float
    pageable_bytes: float
    streams: float
    operations: tuple[Operation, ...] = ()


def timeline_from(fields: Fields) -> Timeline:
    """Reads a profile's timeline; raises SchemaError."""
    operations = tuple(
        read(Operation, entry, engine=entry.choice("engine", ENGINES), device=entry.whole("device", 0))
        for entry in (fields.tables("operations") if fields.has("operations") else ())
    )
    return read(Timeline, fields, operations=operations)
