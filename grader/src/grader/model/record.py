"""The record of one graded submission: everything needed for its report card, its row and its rank."""

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
NOT_GRADED = "not graded"  # the harness failed
_STATUSES = (GRADED, MISSING, NOT_GRADED)
_SEED_DIGITS = 8  # a number this long does not occur in a text by chance


@dataclass(frozen=True)
class Provenance:
    """What a grade was made with: SHA-256 hashes, versions, the seed, and the command that repeats it.

    The command lacks the seed; `seed` is None in copies for anyone but the grader.
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
    scoring: str = ""  # hash of what the score depends on besides the run: points, titles

    @property
    def public_command(self) -> str:
        """The command with folders outside the current one shortened to their last name."""
        words = shlex.split(self.command)
        return shlex.join(Path(word).name if word.startswith(("/", "..")) else word for word in words)


@dataclass(frozen=True)
class Record:
    """One submission's outcome. `score` is None exactly if the harness failed; `message` is what stopped it early.

    `graded_at` is UTC in ISO 8601, and so is `scored_at`, the time at which an earlier run was scored anew. `source` is
    the student's file as text. If a person asked for a regrade, `regrade` counts these, `reason` says why, and `staff`
    who asked.
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
    run: str = ""  # the key of the judge's run, shared by submissions with the same code
    regrade: int = 0
    staff: str = ""
    scored_at: str = ""

    def document(self) -> dict[str, Any]:
        """As plain JSON."""
        plain = asdict(self)
        result = plain["result"] and {"format": FORMAT, **plain["result"]}
        return {"format": FORMAT, **plain, "result": result, "handed": handed_document(self.handed)}

    def to_json(self) -> str:
        """As JSON text, for files and the journal."""
        return json.dumps(self.document(), ensure_ascii=False, indent=1, allow_nan=False)

    def outline(self) -> "Record":
        """The part needed for grades, ranks and statistics.

        A whole course's outlines fit into memory, its full records may not.
        It has no source, and no messages of the judge, the compiler or the program.
        """
        return replace(self, source="", message="", result=self.result and self.result.outline())

    def without_seed(self) -> "Record":
        """A copy for others: without the seed, and without any line of a message that quotes it."""
        seed = str(self.provenance.seed)

        def clean(text: str) -> str:
            if seed not in text:  # the usual case, and 100 times as fast as the search below
                return text
            # A short seed, chosen by an author, is recognised by the text before it.
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
        """Whether nothing needs another try: the harness did not fail, and every time is conclusive."""
        return self.status != NOT_GRADED and (self.result is None or self.result.is_conclusive)

    @property
    def verdict(self) -> str:
        """The verdict to show: HARNESS if there is no score."""
        if self.status == MISSING:
            return verdicts.MISSING
        return self.score.verdict if self.score else verdicts.HARNESS

    @property
    def shown_verdict(self) -> str:
        """The verdict for people: NOT BEGUN instead of a failure on a rung that was not begun."""
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
        regrade=fields.whole("regrade", 0),  # these three are newer than some journals
        staff=fields.text("staff", ""),
        scored_at=fields.text("scored_at", ""),
    )
