"""Merges a GPU's results with the virtual GPU's results for the same submission.

The virtual GPU finds faults and counts; a GPU adds its own verdicts, and times. With `alone` there is only the GPU's
result. Else the worse verdict of each test counts, by the table in docs/reference/verdicts.md, with its message; of
equal ones the virtual GPU's message, which names the line. A race that did not show on the GPU is still a race.
"""

from dataclasses import replace

from grader.model.result import TIMING_SUITE, SaidLine, SuiteResult, TestResult, Timing
from grader.model.verdicts import JUDGED

_VIRTUAL = "virtual GPU"


def merge(virtual: SuiteResult, gpu: SuiteResult) -> SuiteResult:
    """One result from both runs: `virtual` has the evidence, `gpu` the times."""
    found = {test.name: test for test in gpu.tests}
    tests = [_worse(test, found[test.name], gpu.device.name) if test.name in found else test for test in virtual.tests]
    return replace(
        virtual,
        finished=virtual.finished and gpu.finished,
        device=replace(virtual.device, kind=gpu.device.kind, name=gpu.device.name),
        tests=(*tests, *timing_failures(gpu)),
        timings=gpu.timings,
    )


def alone(gpu: SuiteResult) -> SuiteResult:
    """A GPU's result without a virtual GPU's."""
    return gpu.with_tests((*gpu.tests, *timing_failures(gpu)))


def timing_failures(gpu: SuiteResult) -> list[TestResult]:
    """The failures while a rung was timed, as one failed test per rung.

    A result that is only right when it is not timed is not right.
    """
    failed: dict[str, Timing] = {}
    for timing in gpu.timings:
        if timing.is_failure:
            failed.setdefault(timing.rung, timing)
    return [
        TestResult(
            name=f"{TIMING_SUITE}.{timing.criterion}/{rung}",
            rung=rung,
            verdict=timing.verdict,
            seconds=0.0,
            message=timing.message,
            lines=(*timing.lines, SaidLine("device", f"{gpu.device.name}, while it was timed")),
            hint=timing.hint,
            output="",
            reproduce="",
            findings=(),
            device=gpu.device.name,
        )
        for rung, timing in failed.items()
    ]


def _worse(virtual: TestResult, gpu: TestResult, name: str) -> TestResult:
    if virtual.verdict == gpu.verdict == "PASS":
        return virtual
    of_gpu = JUDGED.index(gpu.verdict) > JUDGED.index(virtual.verdict)
    worse, where, other, elsewhere = (
        (gpu, name, virtual, f"the {_VIRTUAL}") if of_gpu else (virtual, _VIRTUAL, gpu, f"the {name}")
    )
    said = where if other.verdict == worse.verdict else f"{where}; on {elsewhere} it is {other.verdict}"
    if worse.unfinished:
        return replace(worse, device=where)
    return replace(worse, device=where, lines=(*worse.lines, SaidLine("device", said)))
