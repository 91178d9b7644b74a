"""The secret from which the seeds of a class are derived.

A submission's inputs follow from its seed, so anyone who knows the seed knows the answers before the run. Each
submission has a seed of its own: the HMAC-SHA256 of its code under a secret that is created once at random. The same
code under the same secret has the same seed, so a grade can be repeated. A file that differs in one token has another
seed, and a leaked seed says nothing about the others. Comments and white space don't count (`running.keys.identity`).

The secret is a file next to the gradebook that only its owner can read. Graders who want the same grades share one file
and name it (`--secret`, or LOCKSTEP_SECRET in the environment). Students see neither the secret nor a seed.
"""

import hashlib
import hmac
import os
import secrets
import stat
from dataclasses import dataclass, field
from pathlib import Path

from grader.base.errors import GraderError
from grader.base.files import FileError, read_regular

NAME = "seed-secret"
VARIABLE = "LOCKSTEP_SECRET"
_SEED_BYTES = 16
MOST_SEED = 2 ** (8 * _SEED_BYTES) - 1  # the largest seed that a suite accepts
_MOST_BYTES = 4096
_FEWEST_BYTES = 16


@dataclass(frozen=True)
class Secret:
    """The secret that seeds are derived with; never written anywhere except its own file."""

    value: bytes = field(repr=False)

    def seed(self, assignment: str, source: bytes) -> int:
        """The seed of a submission's inputs, of 128 bits."""
        return int.from_bytes(self._derived("seed", assignment, source)[:_SEED_BYTES], "big")

    @property
    def fingerprint(self) -> str:
        """Identifies the secret without revealing it or a seed."""
        return self._derived("fingerprint", "", b"").hex()[:32]

    @property
    def alias_salt(self) -> str:
        """Salt for made-up aliases; reveals neither the secret nor a seed."""
        return self._derived("aliases", "", b"").hex()[:32]

    @property
    def cluster_key(self) -> str:
        """The key that signs results from a cluster's nodes."""
        return self._derived("cluster", "", b"").hex()

    def _derived(self, purpose: str, assignment: str, source: bytes) -> bytes:
        content = hashlib.sha256(source).digest()
        return hmac.new(self.value, f"{purpose}\0{assignment}\0".encode() + content, hashlib.sha256).digest()


def open_secret(out: Path, given: Path | None) -> tuple[Secret, Path, bool]:
    """Opens the secret in `given`, else in `out`, where it is created if missing: secret, path, whether it is new.

    Raises GraderError if the file can't be used, or if others can read it.
    """
    path = given or out / NAME
    is_new = given is None and _made(path)
    try:
        mode = path.stat().st_mode
        value = read_regular(path, _MOST_BYTES).strip()
    except (OSError, FileError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise GraderError(f"the secret {path} can't be read: {reason}") from error
    if mode & stat.S_IROTH:
        raise GraderError(f"the secret {path} can be read by every user of this machine.\nType:  chmod o= {path}")
    if len(value) < _FEWEST_BYTES:
        raise GraderError(
            f"the secret {path} is too short to be one.\nType:  (umask 077; openssl rand -hex 32 > {path})"
        )
    return Secret(value), path, is_new


def _made(path: Path) -> bool:
    """Writes a new secret atomically; False if there is one already."""
    if path.exists():
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(f"{secrets.token_hex(32)}\n")
        file.flush()
        os.fsync(file.fileno())
    scratch.rename(path)
    return True
