"""The sample class in reference/sample_class: students' files, some stored in class.toml as edits of other files.

    ["turing_alan/occupancy.cu"]
    base = "../../assignments/07_occupancy/occupancy.cu"
    change = '''
    -  return 0;
    +  return warps;
    '''

`base` is a path from the class's folder, or an entry above; `change` is a diff (see `edits`).
"""

import contextlib
import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

from grader.authoring.edits import apply_edits
from grader.base.errors import GraderError
from grader.base.schema import Fields, SchemaError

SAMPLE_CLASS = "reference/sample_class"
ENTRIES = "class.toml"


def lay_out(folder: Path, out: Path) -> None:
    """Makes the new folder `out`: one folder per student with all of the student's files, and the roster."""
    if out.exists():
        raise GraderError(f"{out} exists already.\nName a folder that does not")
    edited = _edited(folder)
    shutil.copytree(folder, out, ignore=shutil.ignore_patterns(ENTRIES))
    for name, source in edited.items():
        if (out / name).exists():
            raise GraderError(f"{folder / ENTRIES}: [{name}]: {folder / name} is a file, too")
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_bytes(source)


def _edited(folder: Path) -> dict[str, bytes]:
    """The files that are edits of others, by student and name."""
    path, name = folder / ENTRIES, ""
    files: dict[str, bytes] = {}
    try:
        for name, table in tomllib.loads(path.read_text(encoding="utf-8")).items():
            entry = Fields(table, "entry")
            base = entry.text("base")
            source = files[base] if base in files else (folder / base).read_bytes()
            files[name] = apply_edits(source.decode(), entry.text("change")).encode()
            entry.finish()
    except (GraderError, SchemaError, tomllib.TOMLDecodeError, OSError) as error:
        raise GraderError(f"{path}: {name and f'[{name}]: '}{error}") from error
    return files


@contextlib.contextmanager
def laid_out(path: Path) -> Iterator[Path]:
    """The path itself, or for the sample class a temporary folder with all files written out.

    Only the project's own sample class is expanded: a student could hand in a class.toml.
    """
    if not path.resolve().match(SAMPLE_CLASS):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="grader-class-") as folder:
        lay_out(path, Path(folder) / path.name)
        yield Path(folder) / path.name
