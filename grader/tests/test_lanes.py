"""The timeline on a report card: positions of bars, and parsing from a result."""

from dataclasses import replace
from pathlib import Path

import pytest

from grader.base.schema import Fields, SchemaError
from grader.model.assignment import load_assignment
from grader.model.result import Device, Profile, SuiteResult
from grader.model.timeline import Operation, Timeline, timeline_from
from grader.model.units import metric_words
from grader.pages.lanes import rung_lanes

ROOT = Path(__file__).parents[2]
STREAMS = load_assignment(ROOT / "assignments" / "09_streams")

OPERATIONS = (
    Operation("to_device", "copy", "stream 1", 4_000_000, True, 0.0, 50.0),
    Operation("compute", "simulate_kernel", "stream 1", 0, False, 50.0, 75.0),
    Operation("to_device", "copy", "stream 2", 4_000_000, True, 50.0, 100.0),
    Operation("to_host", "copy", "stream 1", 4_000_000, True, 75.0, 125.0),
    Operation("compute", "<b>", "stream 2", 0, False, 100.0, 100.1),
)
TIMELINE = Timeline(125.0, 100.0, 200.0, 25.0, 25.0, 150.0, 150.0, 0.0, 2.0, OPERATIONS)


def result_with(timeline: Timeline | None) -> SuiteResult:
    run = Profile(STREAMS.rungs[1].id, "submission", 1000, 1.0, {}, (), (), timeline=timeline)
    return SuiteResult(STREAMS.id, "full", 1, True, Device("vgpu", "h200", "", 1), (), (), (), (run,))


def test_each_engine_has_a_lane_and_each_stream_a_colour() -> None:
    (rung,) = rung_lanes(STREAMS, result_with(TIMELINE))
    assert (rung.label, rung.title) == ("2", "Chunks in streams")
    assert [lane.name for lane in rung.lanes] == ["to device", "kernels", "to host"]
    there, kernels, back = (lane.bars for lane in rung.lanes)
    assert [(bar.x, bar.width, bar.colour) for bar in there] == [(0.0, 40.0, 0), (40.0, 40.0, 1)]
    assert [(bar.x, bar.width, bar.colour) for bar in back] == [(60.0, 40.0, 0)]
    assert kernels[1].width == 0.25, "what is short can be seen"
    assert there[0].label == "copy, stream 1: 0.0 to 50.0 µs, 4,000,000 bytes"
    assert (rung.time, rung.ratio) == ("125 µs", "1.25 × the busiest engine")
    assert rung.overlap == "copies both ways 20\u00a0%, kernels overlapping copies 20\u00a0% of the time"


def test_several_devices_have_lanes_of_what_they_did() -> None:
    copy = Operation("to_peer", "copy", "stream 1", 4_000_000, False, 75.0, 125.0, device=1)
    (rung,) = rung_lanes(STREAMS, result_with(replace(TIMELINE, operations=(*OPERATIONS[:2], copy))))
    names = [lane.name for lane in rung.lanes]
    assert names == ["device 0, to device", "device 0, kernels", "device 1, to other devices"]


def test_there_are_no_lanes_where_nothing_ran() -> None:
    assert rung_lanes(STREAMS, result_with(None)) == ()
    assert rung_lanes(STREAMS, result_with(replace(TIMELINE, operations=()))) == ()


def test_timelines_are_read_as_they_are_stored() -> None:
    document = {
        **{name: getattr(TIMELINE, name) for name in Timeline.__dataclass_fields__ if name != "operations"},
        "operations": [vars(operation) for operation in OPERATIONS],
    }
    assert timeline_from(Fields(document, "x")) == TIMELINE
    document["operations"] = [{**vars(OPERATIONS[0]), "engine": "tea"}]
    with pytest.raises(SchemaError, match="engine"):
        timeline_from(Fields(document, "x"))


def test_a_timelines_metrics_are_said_in_words() -> None:
    said = {metric: metric_words(STREAMS, metric) for metric in {one.metric for one in STREAMS.criteria if one.metric}}
    assert said["timeline_us / reference.bound_us"] == "× the reference’s busiest engine"
    assert said["one_engine_us / reference.one_engine_bound_us"] == "× the reference’s copy engine, the only one"
    assert said["copy_overlap_us / reference.copy_overlap_us"] == "× the reference’s time of copies both ways"
    assert said["pageable_bytes / elements"] == "bytes copied from or to pageable memory per element"
