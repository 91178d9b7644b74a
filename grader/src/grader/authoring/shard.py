"""Splits the solutions into shares: one for each of several machines or runs."""

import zlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Shard:
    """The share `index`, from 0, of `of` shares."""

    index: int = 0
    of: int = 1

    @classmethod
    def of_text(cls, text: str) -> "Shard":
        """The share that "I/N" names, I from 1; raises ValueError where it names none."""
        index, _, of = text.partition("/")
        if not (index.isdecimal() and of.isdecimal() and 1 <= int(index) <= int(of)):
            raise ValueError(f"{text} is not a share")
        return cls(int(index) - 1, int(of))

    def holds(self, name: str) -> bool:
        """Whether what is called `name` is in this share; it is in exactly one of them, on every machine."""
        return zlib.crc32(name.encode()) % self.of == self.index


ALL = Shard()
