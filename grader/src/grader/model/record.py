"""The record of one graded submission: everything that its report card, its row and its rank are made from."""

import json
import re
import shlex
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from grader.base.schema import Fields, read
from grader.model import verdicts
from grader.model.handed import Handed, handed_document, handed_from, student_from
from grader.model.result import FORMAT, SuiteResult, TestResult, is_not_begun, result_from
from grader.model.roster import Student
from grader.model.score import Score, score_from

GRADED = "graded"
MISSING = "missing"
NOT_GRADED = "not graded"  # the harness's fault
_STATUSES = (GRADED, MISSING, NOT_GRADED)
_SEED_DIGITS = 8  # a number that is this long stands in a text by no chance


@dataclass(frozen=True)
class Provenance:
    """With what a grade was made: SHA-256 hashes, versions, the seed, and the line that makes it again.

    The line is without the seed; `seed` is None in what others than the grader see.
    """

    submission: str
    suite: str
    library: str
    assignment: str
    reference: str
    nvcc: str
    host_compiler: str
    grader: str
    device: str
    seed: int | None
    sandboxed: bool
    command: str
    scoring: str = ""  # of what the score is made of besides the run: points, titles

    @property
    def public_command(self) -> str:
        """The command with a folder from elsewhere on this machine by its last name only."""
        words = shlex.split(self.command)
        return shlex.join(Path(word).name if word.startswith(("/", "..")) else word for word in words)


@dataclass(frozen=True)
class Record:
    """One submission's outcome. `score` is None exactly where the harness failed; `message` is what stopped it early.

    `graded_at` is UTC in ISO 8601, and so is `scored_at`, where an earlier run was only scored anew: then it says when.
    `source` is the student's file as text. Where a person asked that it be graded again, `regrade` is how often that
    was, `reason` says why, and `staff` who asked.
    """

    assignment: str
    folder: str
    student: Student
    key: str
    status: str
    message: str
    score: Score | None
    result: SuiteResult | None
    source: str
    provenance: Provenance
    graded_at: str
    handed: Handed = field(default_factory=Handed)
    reason: str = ""
    run: str = ""  # the key of the judge's run, which other submissions with the same code share
    regrade: int = 0
    staff: str = ""
    scored_at: str = ""

    def document(self) -> dict[str, Any]:
        """As plain JSON."""
        result = None if self.result is None else {"format": FORMAT, **asdict(self.result)}
        return {"format": FORMAT, **asdict(self), "result": result, "handed": handed_document(self.handed)}

    def to_json(self) -> str:
        """As JSON text, for files and the journal."""
        return json.dumps(self.document(), ensure_ascii=False, indent=1, allow_nan=False)

    def outline(self) -> "Record":
        """What grades, ranks and statistics need: a class of these fits into memory, where that of whole ones may not.

        No source, and nothing of what the judge, the compiler or the program said.
        """
        return replace(self, source="", message="", result=self.result and self.result.outline())

    def without_seed(self) -> "Record":
        """What others may see: no seed, and no line that has it, wherever a message may quote one."""
        seed = str(self.provenance.seed)

        def clean(text: str) -> str:
            if seed not in text:  # nearly always, and a hundred times as fast as the search below
                return text
            # A short one, which an author chose, is recognised by what stands before it.
            before = "" if len(seed) >= _SEED_DIGITS else "(?<=seed[ =])"
            return re.sub(rf"(?i){before}(?<!\d){seed}(?!\d)", "…", text)

        def cleaned(test: TestResult) -> TestResult:
            findings = tuple(replace(finding, text=clean(finding.text)) for finding in test.findings)
            return replace(test.with_texts(clean), output=clean(test.output), reproduce="", findings=findings)

        return replace(
            self,
            message=clean(self.message),
            result=self.result
            and replace(
                self.result,
                seed=0,
                tests=tuple(map(cleaned, self.result.tests)),
                evidence=tuple(entry.with_texts(clean) for entry in self.result.evidence),
                timings=tuple(entry.with_texts(clean) for entry in self.result.timings),
            ),
            provenance=replace(self.provenance, seed=None),
        )

    @property
    def is_final(self) -> bool:
        """Whether nothing of it has to be tried again: the harness did not fail, and every time is conclusive."""
        return self.status != NOT_GRADED and (self.result is None or self.result.is_conclusive)

    @property
    def verdict(self) -> str:
        """The verdict to show: HARNESS where there is no score."""
        if self.status == MISSING:
            return verdicts.MISSING
        return self.score.verdict if self.score else verdicts.HARNESS

    @property
    def shown_verdict(self) -> str:
        """The verdict as a person reads it: a rung that was not begun is no failure to study."""
        if self.score and self.result and is_not_begun(self.score.rung, self.result.tests):
            return verdicts.NOT_BEGUN
        return self.verdict


def record_from_json(text: str) -> Record:
    """Reads a record back; raises SchemaError."""
    return record_from_document(json.loads(text))


def record_from_document(document: Any) -> Record:
    """Reads a parsed record; raises SchemaError."""
    fields = Fields(document, "record")
    return read(
        Record,
        fields,
        student=student_from(fields.table("student")),
        status=fields.choice("status", _STATUSES),
        score=score_from(fields.table("score")) if fields.has("score") else None,
        result=result_from(document["result"]) if fields.has("result") else None,
        source=fields.text("source", longest=1 << 24),
        provenance=read(Provenance, fields.table("provenance")),
        handed=handed_from(fields.table("handed")),
        regrade=fields.whole("regrade", 0),  # these three are younger than some journals
        staff=fields.text("staff", ""),
        scored_at=fields.text("scored_at", ""),
    )
