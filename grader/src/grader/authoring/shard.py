"""Splits the solutions into shares: one for each of several machines or runs."""

import zlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Shard:
    """Share `index` (from 0) of `of` shares."""

    index: int = 0
    of: int = 1

    @classmethod
    def of_text(cls, text: str) -> "Shard":
        """Parses "I/N", with I from 1; raises ValueError for anything else."""
        index, _, of = text.partition("/")
        if not (index.isdecimal() and of.isdecimal() and 1 <= int(index) <= int(of)):
            raise ValueError(f"{text} is not a share")
        return cls(int(index) - 1, int(of))

    def holds(self, name: str) -> bool:
        """Whether the item called `name` is in this share; every machine assigns it to the same one."""
        return zlib.crc32(name.encode()) % self.of == self.index


ALL = Shard()
