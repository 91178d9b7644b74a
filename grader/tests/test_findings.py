"""Findings as SARIF, JUnit XML and annotations: read by models made from SARIF's schema, and by a reader of JUnit."""

import importlib.util
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import BUILD, ROOT, needs, needs_build
from grader.authoring.solutions import solutions_in
from grader.model import reports
from grader.model.result import Finding, Place, SaidLine, TestResult

pytestmark = pytest.mark.in_turn

PAGE = ROOT / "docs/reference/findings.md"
needs_readers = needs(
    all(importlib.util.find_spec(name) for name in ("pydantic_sarif", "junitparser")),
    "readers of SARIF and JUnit are missing; type: harness/setup.sh --dev",
)
NAME, FILE = "03_circular_shift", "shift.cu"


def checked(text: str) -> list[dict[str, Any]]:
    """The results of a document that fits the schema of SARIF 2.1.0."""
    from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Sarif  # noqa: PLC0415

    Sarif.model_validate_json(text)
    (run,) = json.loads(text)["runs"]
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(one["ruleId"] in ids for one in run["results"])
    return run["results"]  # type: ignore[no-any-return]


def cases(text: str) -> dict[str, Any]:
    """The cases of JUnit XML by rung and name; the suite's counts match its contents."""
    import junitparser  # noqa: PLC0415

    (suite,) = junitparser.JUnitXml.fromstring(text.encode())
    found = list(suite)
    kinds = [type(one).__name__ for case in found for one in case.result]
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (
        len(found), kinds.count("Failure"), kinds.count("Error"), kinds.count("Skipped"),
    )  # fmt: skip
    return {f"{case.classname} {case.name}": case for case in found}


def outcome(verdict: str, **given: Any) -> reports.Outcome:
    empty: dict[str, Any] = {"message": "", "seconds": 0.5, "output": "", "reproduce": "", "findings": ()}
    return "SumsOne", "reduce1", TestResult(name="T.SumsOne/reduce1", rung="reduce1", verdict=verdict, **empty | given)


@needs_readers
def test_hostile_words_stay_words(tmp_path: Path) -> None:
    text = "RACE <b>&amp;]]>\x01\ud800% ,:"
    lines = (SaidLine("first", "a", "k,1:%.cu", 7), SaidLine("", "b"), SaidLine("second", "c", "tile.cuh", 9))
    finding = Finding(
        "race",
        "k",
        (Place("k.cu", 4), Place("k.cu", 5)),
        "RACE  k<<<1,64>>>\n  first …",
        3,
        verdict="RACE",
        launch="k<<<1,64>>>",
    )
    found = [outcome("RACE", message=text, lines=lines, output=text), outcome("HARNESS", message="\x00"),
             outcome("WRONG", unfinished=True), outcome("PASS"), outcome("PASS", findings=(finding,))]  # fmt: skip
    source = tmp_path / "my dir" / "k,1:%.cu"
    (one, harness, not_begun, passed) = checked(reports.sarif(found, source))
    uri = one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri.endswith("/my%20dir/k%2C1%3A%25.cu")
    assert one["relatedLocations"][0]["physicalLocation"]["region"] == {"startLine": 9}
    assert not_begun["level"] == "note"
    assert passed["locations"][0]["physicalLocation"]["region"] == {"startLine": 4}
    assert harness["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}
    # Each of them is a case, and they have one name here.
    assert next(iter(cases(reports.junit("03", found[:1])).values())).system_out.startswith("RACE <b>&amp;]]>?")
    line = reports.annotations(found, Path("my dir/k,1:%.cu")).splitlines()
    assert line[0].startswith("::error file=my dir/k%2C1%3A%25.cu,line=7,title=RACE SumsOne of reduce1::RACE <b>")
    assert [one.partition(" ")[0] for one in line] == ["::error", "::error", "::notice", "::error"]


def lockstep(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [ROOT / "lockstep", *words, "--build", BUILD]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@needs_build
@needs_readers
def test_a_students_test_writes_them(tmp_path: Path) -> None:
    solutions = solutions_in(ROOT / "reference" / NAME, "wrong", FILE)[0]
    (tmp_path / FILE).write_bytes(next(one.source for one in solutions if b"BOUNDS" in one.source.partition(b"\n")[0]))
    words = ["test", NAME, "--source", FILE, "--sarif", "out/a.sarif", "--junit", "out/a.xml", "--annotations"]
    ended = lockstep(tmp_path, *words)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    found = checked((tmp_path / "out/a.sarif").read_text())
    first = next(one for one in found if one["ruleId"] == "BOUNDS")
    where = first["locations"][0]["physicalLocation"]
    assert where["artifactLocation"]["uri"] == FILE
    source = (tmp_path / FILE).read_text().splitlines()
    assert "[" in source[where["region"]["startLine"] - 1]  # the access
    failed = [case for case in cases((tmp_path / "out/a.xml").read_text()).values() if case.result]
    assert {one.type for case in failed for one in case.result} >= {"BOUNDS"}
    # The problem matcher of the page finds the same places.
    pattern = json.loads(re.search(r"^```json\n(.*?)^```", PAGE.read_text(), re.M | re.S)[1])["tasks"][0]  # type: ignore[index]
    matcher = pattern["problemMatcher"]["pattern"]
    seen = [match for line in ended.stdout.splitlines() if (match := re.match(matcher["regexp"], line))]
    assert [(match[matcher["file"]], int(match[matcher["line"]])) for match in seen] == [
        (one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
         one["locations"][0]["physicalLocation"]["region"]["startLine"]) for one in found
    ]  # fmt: skip
    (tmp_path / FILE).write_text("int main( {\n")
    lockstep(tmp_path, *words)
    (one, *_) = checked((tmp_path / "out/a.sarif").read_text())
    assert (one["ruleId"], one["locations"][0]["physicalLocation"]["region"]["startLine"]) == ("COMPILE", 1)
    assert lockstep(tmp_path, "test", "--sarif", "x").returncode == 2


@needs_build
@needs_readers
def test_any_programs_findings(tmp_path: Path) -> None:
    (tmp_path / "my race.cu").write_text(
        "__global__ void k(int* x) {\n  __shared__ int s[64];\n  s[threadIdx.x] = 1;\n"
        "  x[0] = s[63 - threadIdx.x];\n}\n"
        "int main() {\n  int* d;\n  cudaMalloc(&d, 4);\n  k<<<1, 64>>>(d);\n  cudaFree(d);\n}\n"
    )
    ended = lockstep(tmp_path, "run", "my race.cu", "--check", "--sarif", "a.sarif")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found = checked((tmp_path / "a.sarif").read_text())
    race = next(one for one in found if "s[" in one["message"]["text"])
    places = [place["physicalLocation"] for place in (*race["locations"], *race["relatedLocations"])]
    assert {place["artifactLocation"]["uri"] for place in places} == {"my%20race.cu"}
    assert sorted(place["region"]["startLine"] for place in places) == [3, 4], ended.stderr
    refused = lockstep(tmp_path, "run", "my race.cu", "--check", "--sarif", "none/a.sarif")
    assert (refused.returncode, "type: mkdir -p 'none'" in refused.stderr) == (2, True)
    refused = lockstep(tmp_path, "run", "my race.cu", "--check", "--sarif", ".")
    assert (refused.returncode, ". can't be written" in refused.stderr) == (2, True)
