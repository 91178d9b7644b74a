"""The folder that the head and the nodes share: what a run needs, and what comes of it.

Only the head writes `batches`, only nodes write `results` and `tests`; both put files by their hash into `files`. A
file appears complete or not at all, and is read only where it has the hash that was asked for. Nothing in here is
mounted into a sandbox.

Results and tests are signed with a key that follows from the secret of the seeds. Nodes get it in their environment and
never through this folder, so that what somebody else writes into it is no result of anybody's.
"""

import hashlib
import hmac
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grader.base.errors import InfrastructureError
from grader.base.files import sha256_bytes, write_atomic

KEY = "LOCKSTEP_CLUSTER_KEY"  # of a node's environment


class SharedFolder:
    """One run's folder; that of the next run of the same results is the same."""

    def __init__(self, path: Path, key: str = "") -> None:
        """Makes nothing yet; `key` signs what nodes give."""
        self.path = path
        self.key = key

    def signature(self, name: str, text: str) -> str:
        """The signature of data that a node hands in under this name."""
        return hmac.new(self.key.encode(), f"{name}\0{text}".encode(), hashlib.sha256).hexdigest()

    def make(self) -> None:
        """Makes the folder, for its owner alone: sources and seeds are in it."""
        for name in ("batches", "files", "results", "tests", "slurm"):
            (self.path / name).mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path.chmod(0o700)

    def remove(self) -> None:
        """Removes all of it."""
        shutil.rmtree(self.path, ignore_errors=True)

    @property
    def slurm(self) -> Path:
        """Where submitit keeps scripts, pickles and what tasks print."""
        return self.path / "slurm"

    def put(self, data: bytes, *, executable: bool = False) -> str:
        """Keeps a file; gives its hash."""
        name = sha256_bytes(data)
        path = self.path / "files" / name
        if not path.is_file():
            write_atomic(path, data, mode=0o700 if executable else 0o600)
        return name

    def get(self, name: str) -> bytes:
        """The file with this hash; raises InfrastructureError where it is another."""
        return _read(self.path / "files" / name, name)

    def copy(self, name: str, to: Path) -> Path:
        """Writes a program that others keep here to a place of one's own."""
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(self.get(name))
        to.chmod(0o755)
        return to

    def put_batch(self, document: dict[str, Any]) -> str:
        """Keeps what one task of an array is to do; gives its name."""
        text = json.dumps(document).encode()
        name = sha256_bytes(text)
        write_atomic(self.path / "batches" / f"{name}.json", text, mode=0o600)
        return name

    def batch(self, name: str) -> dict[str, Any]:
        """What a task of an array is to do; raises InfrastructureError where that can't be read."""
        return dict(json.loads(_read(self.path / "batches" / f"{name}.json", name)))

    def put_array(self, name: str, batches: list[str]) -> None:
        """Records the batches of a job array's tasks, in order, before the array is submitted."""
        write_atomic(self.path / "batches" / f"array-{name}.json", json.dumps(batches), mode=0o600)

    def array(self, name: str) -> list[str]:
        """The batches of a job array's tasks, in order; [] if no such array is on record."""
        path = self.path / "batches" / f"array-{name}.json"
        return list(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else []

    def put_result(self, name: str, document: dict[str, Any]) -> None:
        """Hands in the result of a run."""
        text = json.dumps(document, ensure_ascii=False)
        path = self.path / "results" / name
        write_atomic(path.with_suffix(".json"), json.dumps({"signature": self.signature(name, text), "text": text}))

    def has_result(self, name: str) -> bool:
        """Whether a run has a result already."""
        return (self.path / "results" / f"{name}.json").is_file()

    def results(self) -> Iterator[str]:
        """The names of all results."""
        with os.scandir(self.path / "results") as entries:
            yield from [entry.name[: -len(".json")] for entry in entries if entry.name.endswith(".json")]

    def result(self, name: str) -> dict[str, Any]:
        """What a run has come to; raises InfrastructureError where it can't be read."""
        path = self.path / "results" / f"{name}.json"
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            text, signature = str(document["text"]), str(document["signature"])
            result = dict(json.loads(text))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InfrastructureError(f"{path} is no result, or was cut short") from error
        if not hmac.compare_digest(signature.encode(), self.signature(name, text).encode()):
            raise InfrastructureError(f"{path} was changed, or was not written by a node: its signature is another")
        return result

    def drop_result(self, name: str) -> None:
        """Deletes a result that the journal holds."""
        (self.path / "results" / f"{name}.json").unlink(missing_ok=True)
        (self.path / "tests" / f"{name}.jsonl").unlink(missing_ok=True)

    def tests_path(self, name: str) -> Path:
        """Where a run keeps its tests until it is over."""
        return self.path / "tests" / f"{name}.jsonl"

    @property
    def cancelled(self) -> Path:
        """A file that is there once a person has ended the jobs."""
        return self.path / "cancelled"


def _read(path: Path, digest: str) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InfrastructureError(f"{path} can't be read: {error.strerror}") from error
    if sha256_bytes(data) != digest:
        raise InfrastructureError(f"{path} was changed: its hash is another")
    return data
