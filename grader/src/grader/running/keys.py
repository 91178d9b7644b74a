"""The keys of stored results: hashes of everything they depend on.

A result has two. Its `key` covers the file byte for byte and the inputs of its score. Its run key covers only what the
judge saw, and only the code of the file: results with the same run key may differ in points, titles and lines, and
share one run.
"""

import json
from functools import lru_cache

from grader import __version__
from grader.base.files import sha256_bytes
from grader.model.discovery import Submission
from grader.model.record import Provenance
from grader.model.same_python import python_form
from grader.model.same_source import Normal, normal_form
from grader.running.bench import Bench

_KEY_FORMAT = "2"


def key_of(bench: Bench, submission: Submission) -> str:
    """A hash of everything a submission's result depends on.

    It is not secret (workers see part of it in their path), so it does not contain a derived seed. Instead it has a
    fingerprint of the secret and a hash of the submission, which determine the seed.
    """
    file = sha256_bytes(submission.source) if submission.source is not None else submission.problem
    return _hash(_parts(bench) | bench.hashes | {"submission": file})


def run_key_of(bench: Bench, submission: Submission) -> str:
    """A hash of everything the judge's findings depend on, except the line numbers in them."""
    hashes = {name: value for name, value in bench.hashes.items() if name != "scoring"}
    return _hash(_parts(bench) | hashes | {"code": sha256_bytes(identity(bench, submission))})


def numbered(key: str, regrade: int) -> str:
    """The key of the regrade with this number; for 0 the key itself."""
    return f"{key}#{regrade}" if regrade else key


def provenance_of(bench: Bench, submission: Submission, command: str) -> Provenance:
    """What a grade depends on: sources, suite, toolchain, settings."""
    return Provenance(
        submission=sha256_bytes(submission.source) if submission.source else "",
        suite=bench.hashes["suite"],
        library=bench.hashes["library"],
        assignment=bench.hashes["assignment"],
        reference=bench.hashes["reference"],
        nvcc=bench.toolchain.nvcc_version,
        host_compiler=bench.toolchain.host_version,
        grader=__version__,
        device=bench.settings.device,
        seed=bench.settings.for_source(bench.assignment.id, identity(bench, submission)).seed,
        sandboxed=bench.settings.sandboxed,
        command=command,
        scoring=bench.hashes["scoring"],
    )


def identity(bench: Bench, submission: Submission) -> bytes:
    """The input of seed derivation: the code of the file, else the file byte for byte.

    Files with the same code get the same inputs, whoever is graded first, and a changed comment doesn't change them.
    """
    if submission.source is None:
        return submission.problem.encode()
    normal = code_of(bench, submission.source)
    return normal.text.encode() if normal else submission.source


def code_of(bench: Bench, source: bytes) -> Normal | None:
    """The file's tokens and their lines; None if it must be compared byte for byte."""
    return _code(source, bench.headers, is_python=bench.assignment.is_python)


@lru_cache(maxsize=256)
def _code(source: bytes, headers: str, *, is_python: bool) -> Normal | None:
    return python_form(source) if is_python else normal_form(source, headers)


def _parts(bench: Bench) -> dict[str, object]:
    secret = bench.settings.secret
    return {
        "format": _KEY_FORMAT,
        "nvcc": bench.toolchain.nvcc_version,
        "host": bench.toolchain.host_version,
        "seed": f"derived with {secret.fingerprint}" if secret else bench.settings.seed,
        "device": bench.settings.device,
        "sandboxed": bench.settings.sandboxed,
        **({"fail_fast": True} if bench.settings.fail_fast else {}),
        **({"alone": True} if bench.settings.alone else {}),
        **({"rung": bench.settings.rung} if bench.settings.rung else {}),
    }


def _hash(parts: dict[str, object]) -> str:
    return sha256_bytes(json.dumps(parts, sort_keys=True).encode())
