"""The folder that the head and the nodes share: inputs and results of a run.

Only the head writes `batches`, only nodes write `results` and `tests`; both write files named by their hash to `files`.
A file appears complete or not at all, and its hash is checked when it is read. Nothing in here is mounted into a
sandbox.

Results and tests are signed with a key derived from the secret of the seeds. Nodes get it in their environment and
never through this folder, so a file that anyone else writes there is not accepted as a result.
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

KEY = "LOCKSTEP_CLUSTER_KEY"  # environment variable of a node


class SharedFolder:
    """One run's folder; later runs with the same results folder use it again."""

    def __init__(self, path: Path, key: str = "") -> None:
        """Creates nothing yet; `key` signs the data from nodes."""
        self.path = path
        self.key = key

    def signature(self, name: str, text: str) -> str:
        """The signature of a node's data under this name."""
        return hmac.new(self.key.encode(), f"{name}\0{text}".encode(), hashlib.sha256).hexdigest()

    def make(self) -> None:
        """Makes the folder, readable only by its owner: it contains sources and seeds."""
        for name in ("batches", "files", "results", "tests", "slurm"):
            (self.path / name).mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path.chmod(0o700)

    def remove(self) -> None:
        """Removes all of it."""
        shutil.rmtree(self.path, ignore_errors=True)

    @property
    def slurm(self) -> Path:
        """Where submitit keeps scripts, pickles and the tasks' output."""
        return self.path / "slurm"

    def put(self, data: bytes, *, executable: bool = False) -> str:
        """Stores a file; returns its hash."""
        name = sha256_bytes(data)
        path = self.path / "files" / name
        if not path.is_file():
            write_atomic(path, data, mode=0o700 if executable else 0o600)
        return name

    def get(self, name: str) -> bytes:
        """The file with this hash; raises InfrastructureError if its contents don't match."""
        return _read(self.path / "files" / name, name)

    def copy(self, name: str, to: Path) -> Path:
        """Copies a stored file to a private path."""
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(self.get(name))
        to.chmod(0o755)
        return to

    def put_batch(self, document: dict[str, Any]) -> str:
        """Stores the work of one array task; returns its name."""
        text = json.dumps(document).encode()
        name = sha256_bytes(text)
        write_atomic(self.path / "batches" / f"{name}.json", text, mode=0o600)
        return name

    def batch(self, name: str) -> dict[str, Any]:
        """The work of an array task; raises InfrastructureError if it can't be read."""
        return dict(json.loads(_read(self.path / "batches" / f"{name}.json", name)))

    def put_array(self, name: str, batches: list[str]) -> None:
        """Records the batches of a job array's tasks, in order, before the array is submitted."""
        write_atomic(self.path / "batches" / f"array-{name}.json", json.dumps(batches), mode=0o600)

    def array(self, name: str) -> list[str]:
        """The batches of a job array's tasks, in order; [] if no such array is on record."""
        path = self.path / "batches" / f"array-{name}.json"
        return list(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else []

    def put_result(self, name: str, document: dict[str, Any]) -> None:
        """Stores the result of a run."""
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
        """The result of a run; raises InfrastructureError if it can't be read."""
        path = self.path / "results" / f"{name}.json"
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            text, signature = str(document["text"]), str(document["signature"])
            result = dict(json.loads(text))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InfrastructureError(f"{path} is no result, or was cut short") from error
        if not hmac.compare_digest(signature.encode(), self.signature(name, text).encode()):
            raise InfrastructureError(f"{path} was changed, or was not written by a node: its signature is wrong")
        return result

    def drop_result(self, name: str) -> None:
        """Deletes a result that the journal holds."""
        (self.path / "results" / f"{name}.json").unlink(missing_ok=True)
        (self.path / "tests" / f"{name}.jsonl").unlink(missing_ok=True)

    def tests_path(self, name: str) -> Path:
        """Where a run stores finished tests until it ends."""
        return self.path / "tests" / f"{name}.jsonl"

    @property
    def cancelled(self) -> Path:
        """A marker file, present once a person has cancelled the jobs."""
        return self.path / "cancelled"


def _read(path: Path, digest: str) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InfrastructureError(f"{path} can't be read: {error.strerror}") from error
    if sha256_bytes(data) != digest:
        raise InfrastructureError(f"{path} was changed: its hash is wrong")
    return data
