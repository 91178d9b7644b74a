"""Splits the solutions into shares: one for each of several machines or runs."""

import zlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Shard:
    """The share `index`, from 0, of `of` shares."""

    index: int = 0
    of: int = 1

    def holds(self, name: str) -> bool:
        """Whether what is called `name` is in this share; it is in exactly one of them, on every machine."""
        return zlib.crc32(name.encode()) % self.of == self.index


ALL = Shard()
