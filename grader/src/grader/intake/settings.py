"""course.toml's settings for reading downloads: the rule of `[matching]`, and the time zone.

The rest of the file is the course's policy, which is read elsewhere.
"""

import tomllib
import zoneinfo
from dataclasses import dataclass
from datetime import UTC, tzinfo
from pathlib import Path

from grader.base.errors import GraderError
from grader.base.files import FileError, read_regular
from grader.base.schema import Fields, SchemaError
from grader.intake.presets import Preset, custom

_LIMIT = 16 << 20


@dataclass(frozen=True)
class Settings:
    """`matching` is None if platforms are to be recognised; times without an offset are in `zone`, UTC by default."""

    path: Path
    zone: tzinfo = UTC
    matching: Preset | None = None
    has_zone: bool = False


def read_settings(path: Path) -> Settings:
    """Reads them from a course.toml, which may be missing; raises GraderError if the rule can't be used.

    Other mistakes in the file are reported where the policy is read.
    """
    try:
        fields = Fields(tomllib.loads(read_regular(path.resolve(), _LIMIT).decode("utf-8-sig")), str(path))
    except (OSError, FileError, ValueError):
        return Settings(path)
    name = ""
    try:
        name = fields.text("time_zone", "")
        zone = zoneinfo.ZoneInfo(name) if name else UTC
    except (SchemaError, ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        zone = UTC
    if not fields.has("matching"):
        return Settings(path, zone, has_zone=bool(name))
    try:
        own = fields.table("matching")
        rules = (own.text("rule"),) if own.is_text("rule") else own.texts("rule")
        own.finish()
    except SchemaError as error:
        raise GraderError(str(error)) from error
    if not rules:
        raise GraderError(f'{path}: [matching] has no rule.\nWrite for instance  rule = "{{login}}/{{file}}"')
    return Settings(path, zone, custom(rules, f"{path}: [matching]"), bool(name))
