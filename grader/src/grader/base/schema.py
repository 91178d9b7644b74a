"""Checked reading of parsed TOML and JSON: every error names the file, the place and the key."""

import dataclasses
import difflib
import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from datetime import date, datetime, time
from functools import cache
from types import NoneType
from typing import Any, TypeVar, cast, get_args, get_type_hints

T = TypeVar("T")

_MISSING: Any = object()
_MOST_DIGITS = 100
_MOST_BITS = 128  # of a whole number: as many as a seed has


class SchemaError(Exception):
    """The document isn't what its format says; the text names the place."""


class Fields:
    """One table of a document. Reading a key checks its type; `finish` refuses keys that were never read."""

    def __init__(self, table: object, where: str) -> None:
        """Wraps `table`, which `where` names in messages; raises SchemaError if it is not a table."""
        if not isinstance(table, Mapping):
            raise SchemaError(f"{where}: expected a table, got {_kind(table)}")
        self._table: Mapping[str, Any] = table
        self._where = where
        self._read: set[str] = set()

    def at(self, key: str) -> str:
        """How a message names this key."""
        return f"{self._where}: {key}"

    def has(self, key: str) -> bool:
        """Whether the key is there (and not null)."""
        self._read.add(key)
        return self._table.get(key) is not None

    def text(self, key: str, default: str = _MISSING, *, longest: int = 1 << 20) -> str:
        """A string."""
        value = self._take(key, default)
        if not isinstance(value, str):
            raise SchemaError(f"{self.at(key)}: expected text, got {_kind(value)}")
        if len(value) > longest:
            raise SchemaError(f"{self.at(key)}: longer than {longest} characters")
        return value.encode("utf-8", "replace").decode("utf-8")  # JSON may contain lone surrogates

    def number(self, key: str, default: float = _MISSING, *, least: float = -math.inf) -> float:
        """A finite number, at least `least`."""
        value = self._take(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise SchemaError(f"{self.at(key)}: expected a number, got {_kind(value)}")
        if isinstance(value, int) and value.bit_length() > _MOST_BITS:
            raise SchemaError(f"{self.at(key)}: a number of {value.bit_length()} bits; at most {_MOST_BITS}")
        if not math.isfinite(value) or value < least:
            raise SchemaError(f"{self.at(key)}: expected a number of at least {least:g}, got {value}")
        return float(value)

    def whole(self, key: str, default: int = _MISSING, *, least: int = 0) -> int:
        """A whole number, at least `least`."""
        value = self._take(key, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise SchemaError(f"{self.at(key)}: expected a whole number, got {_kind(value)}")
        if value.bit_length() > _MOST_BITS:
            raise SchemaError(f"{self.at(key)}: a number of {value.bit_length()} bits; at most {_MOST_BITS}")
        if value < least:
            raise SchemaError(f"{self.at(key)}: expected at least {least}, got {value}")
        return value

    def large(self, key: str) -> int:
        """A whole number of at least 0, possibly as text: few JSON readers handle numbers beyond 2^53."""
        if not isinstance(self._table.get(key), str):
            return self.whole(key)
        text = self.text(key, longest=_MOST_DIGITS)
        if not (text.isascii() and text.isdecimal()):
            raise SchemaError(f"{self.at(key)}: expected a whole number, got text")
        return int(text)

    def flag(self, key: str, default: bool = _MISSING) -> bool:
        """True or false."""
        value = self._take(key, default)
        if not isinstance(value, bool):
            raise SchemaError(f"{self.at(key)}: expected true or false, got {_kind(value)}")
        return value

    def choice(self, key: str, choices: tuple[str, ...], default: str = _MISSING) -> str:
        """One of a few words."""
        value = self.text(key, default)
        if value not in choices:
            raise SchemaError(f'{self.at(key)}: expected one of {", ".join(choices)}, got "{value[:40]}"')
        return value

    def texts(self, key: str, *, most: int = 10_000) -> tuple[str, ...]:
        """A list of strings, empty where the key is missing."""
        values = self._list(key, most)
        for index, value in enumerate(values):
            if not isinstance(value, str):
                raise SchemaError(f"{self.at(key)}[{index}]: expected text, got {_kind(value)}")
        return tuple(values)

    def wholes(self, key: str, *, most: int = 10_000) -> tuple[int, ...]:
        """A list of whole numbers, empty where the key is missing."""
        values = self._list(key, most)
        for index, value in enumerate(values):
            if isinstance(value, bool) or not isinstance(value, int):
                raise SchemaError(f"{self.at(key)}[{index}]: expected a whole number, got {_kind(value)}")
        return tuple(values)

    def tables(self, key: str, *, most: int = 10_000) -> Iterator["Fields"]:
        """A list of tables, empty where the key is missing."""
        for index, value in enumerate(self._list(key, most)):
            yield Fields(value, f"{self.at(key)}[{index}]")

    def table(self, key: str) -> "Fields":
        """A table; an empty one where the key is missing."""
        return Fields(self._take(key, {}), self.at(key))

    def named_tables(self, key: str, *, most: int = 1_000) -> dict[str, "Fields"]:
        """A table of tables by their names, empty where the key is missing."""
        inner = self.table(key)
        if len(inner._table) > most:
            raise SchemaError(f"{self.at(key)}: more than {most} entries")
        return {name: inner.table(name) for name in inner._table}

    def names(self, key: str, *, most: int = 10_000) -> list[str]:
        """The keys of a table."""
        inner = self.table(key)
        if len(inner._table) > most:
            raise SchemaError(f"{self.at(key)}: more than {most} entries")
        return list(inner._table)

    def is_text(self, key: str) -> bool:
        """Whether the key's value is a string, for keys that accept several types."""
        return isinstance(self._table.get(key), str)

    def moment(self, key: str) -> datetime | str:
        """A date and time: a TOML date-time (without a zone if it has none), or a string, as it is."""
        value = self._take(key, _MISSING)
        if isinstance(value, datetime | str):
            return value
        raise SchemaError(f'{self.at(key)}: expected a date and a time, such as "2026-11-02 23:59", got {_kind(value)}')

    def counts(self, key: str, *, most: int = 1_000) -> dict[str, float]:
        """A table of finite numbers, empty where the key is missing."""
        inner = self.table(key)
        if len(inner._table) > most:
            raise SchemaError(f"{self.at(key)}: more than {most} entries")
        return {name: inner.number(name) for name in inner._table}

    def words(self, key: str, *, most: int = 1_000) -> dict[str, str]:
        """A table of texts, empty where the key is missing."""
        inner = self.table(key)
        if len(inner._table) > most:
            raise SchemaError(f"{self.at(key)}: more than {most} entries")
        return {name: inner.text(name, "") for name in inner._table}

    def finish(self) -> None:
        """Raises SchemaError for a key that was never read, suggesting the nearest known one."""
        for key in self._table:
            if key not in self._read:
                near = difflib.get_close_matches(key, self._read, n=1)
                meant = f'; did you mean "{near[0]}"?' if near else f"; known here: {', '.join(sorted(self._read))}"
                raise SchemaError(f"{self.at(key)}: unknown key{meant}")

    def _take(self, key: str, default: Any) -> Any:
        self._read.add(key)
        value = self._table.get(key)
        if value is not None:
            return value
        if default is _MISSING:
            raise SchemaError(f"{self.at(key)}: missing")
        return default

    def _list(self, key: str, most: int) -> list[Any]:
        values = self._take(key, [])
        if not isinstance(values, list):
            raise SchemaError(f"{self.at(key)}: expected a list, got {_kind(values)}")
        if len(values) > most:
            raise SchemaError(f"{self.at(key)}: more than {most} entries")
        return values


def read(made: type[T], fields: Fields, **given: Any) -> T:
    """Makes a dataclass from the keys named like its fields; `given` are fields that the caller has read.

    Supports strings, numbers, whole numbers and flags, each of them optional or not. Raises SchemaError.
    """
    readers: dict[Any, Callable[[str], Any]] = {
        str: fields.text,
        float: fields.number,
        int: fields.whole,
        bool: fields.flag,
    }
    values = {
        name: None if may_be_null and not fields.has(name) else readers[kind](name)
        for name, kind, may_be_null in _plan(cast(Hashable, made))
        if name not in given
    }
    return made(**values, **given)


@cache
def _plan(made: Any) -> tuple[tuple[str, Any, bool], ...]:
    """The name and type of each field, and whether it may be null."""
    hints = get_type_hints(made)
    plan = []
    for field in dataclasses.fields(made):
        kinds = get_args(hints[field.name]) or (hints[field.name],)
        plan.append((field.name, kinds[0], NoneType in kinds))
    return tuple(plan)


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return f'"{value[:40]}"'
    if isinstance(value, date | time):
        return str(value)
    return "a table" if isinstance(value, Mapping) else "a list"
