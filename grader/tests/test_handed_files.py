"""Real-world hand-ins: several files, own headers, notebooks, documents, archives; and the message for each."""

import json
import random
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from grader.intake.download import open_class
from grader.intake.joined import included, joined
from grader.intake.tree import Held
from grader.model.discovery import Submission, Wanted
from platforms.packing import pack, tarred, zipped

HEADER = b"#pragma once\nint tile();\n"
WANTED = Wanted(
    "90_fake", "ladder.cu", frozenset({"91_other", "other.cu"}),
    provided={"ladder.h": b"void ladder();\n", "Makefile": b"all:\n"}, stub=b"// TODO\n",
)  # fmt: skip


def hand_in(tmp_path: Path, files: dict[str, bytes], wanted: Wanted = WANTED, form: str = ".zip") -> Submission:
    made = pack(tmp_path / f"week4{form}", {f"ada/{name}": data for name, data in files.items()} | {"alan/x.txt": b""})
    with open_class(made) as download:
        return next(one for one in download.submissions(wanted) if one.folder == "ada")


def notebook(*cells: str, **more: object) -> bytes:
    return json.dumps(
        {"cells": [{"cell_type": "code", "source": cell.splitlines(True)} for cell in cells], **more}
    ).encode()


@pytest.mark.parametrize(
    ("files", "source", "unused"),
    [
        # A folder with its headers and a Makefile: cgn-cs344, several courses' labs.
        ({"ladder.cu": b'#include "tile.cuh"\nk\n', "tile.cuh": HEADER, "Makefile": b"all:", "run.sh": b"x"},
         b"// ---- tile.cuh\n\nint tile();\n// ---- ladder.cu\nk\n", ["run.sh: not run"]),
        ({"src/ladder.cu": b'#include "../inc/a.h"\n', "inc/a.h": b'#include "b.h"\n1', "inc/b.h": b"2\n"},
         b"// ---- a.h\n// ---- b.h\n2\n// ---- a.h\n1\n// ---- ladder.cu\n", []),
        # A platform that flattens folders breaks the paths of headers.
        ({"ladder.cu": b'#include "inc/a.h"\n', "a.h": b"1\n"}, b"// ---- a.h\n1\n// ---- ladder.cu\n", []),
        # Files provided by the assignment win over the student's copies.
        ({"ladder.cu": b'#include "ladder.h"\n', "ladder.h": b"cheat\n"}, b'#include "ladder.h"\n',
         ["ladder.h: the assignment's own is used"]),
        ({"ladder.cu": b'#include "ladder.h"\n', "ladder.h": b"void  ladder();"}, b'#include "ladder.h"\n', []),
        # Not an include.
        ({"ladder.cu": b'// #include "a.h"\n/*\n#include "a.h"\n*/\nchar* s = R"(\n#include "a.h"\n)";\n', "a.h": b"1"},
         b'// #include "a.h"\n/*\n#include "a.h"\n*/\nchar* s = R"(\n#include "a.h"\n)";\n',
         ["a.h: ladder.cu does not include it"]),
        # The main file by another name, next to what it includes.
        ({"CS23B1001.cu": b'#include "kernels.cu"\n', "kernels.cu": b"k\n"},
         b"// ---- kernels.cu\nk\n// ---- CS23B1001.cu\n", []),
        ({"ladder.cu": b"x", "helper.cu": b"y"}, b"x",
         ["helper.cu: not used: ladder.cu is graded and does not include it"]),
        ({"ladder.cu.txt": b"x"}, b"x", []),
        ({"ladder.cu": b"x", "report.pdf": b"%PDF", "notes.md": b"", "other.cu": b"o", "91_other/b.cu": b"o"}, b"x",
         ["notes.md: not read", "report.pdf: a PDF"]),
        # Notebooks: Mattyupeng/psets, nvcc4jupyter.
        ({"lab.ipynb": notebook("import x", "%%writefile ladder.cu\nk\n", "%%writefile -a ladder.cu\nl\n", "!nvcc x")},
         b"k\nl\n", []),
        ({"lab.ipynb": notebook("%%cu\nk\n")}, b"k\n", []),
        ({"lab.ipynb": notebook("%%cuda -c \"--gpu\"\nk\n"), "readme.txt": b""}, b"k\n", ["readme.txt: a text file"]),
        ({"lab.ipynb": notebook("%%writefile src/ladder.cu\n#include \"t.cuh\"\n", "%%writefile t.cuh\n1\n")},
         b"// ---- t.cuh\n1\n// ---- ladder.cu\n", []),
        ({"lab.ipynb": notebook("%%cuda_group_save -g all -n ladder.cu\nk\n")}, b"k\n", []),
        # Exported as a script: nbconvert with IPython and without, Colab, Jupytext.
        ({"lab.py": b"# In[1]:\nget_ipython().run_cell_magic('writefile', 'ladder.cu', 'f(\"\\\\n\")\\n')\nprint(1)\n"},
         b'f("\\n")\n', []),
        ({"lab.py": b"# In[ ]:\n\n%%writefile ladder.cu\nk\n\n# In[ ]:\n\nx = 1\n"}, b"k\n", []),
        ({"lab.py": b"# Commented out IPython magic\n# %%writefile ladder.cu\n# #define A 1\n# \n#   k\n\n!nvcc x\n"},
         b"#define A 1\n\n  k\n", []),
        ({"lab.py": b"# %% [markdown]\n# Task\n# %%\n# %%cu\n#define A\n\nk\n\n# %%\nx\n"}, b"#define A\n\nk\n", []),
        # Archives in archives.
        ({"a.zip": zipped({"b.tar.gz": tarred({"x/ladder.cu": b'#include "t.h"\n', "x/t.h": b"1\n"})})},
         b"// ---- t.h\n1\n// ---- ladder.cu\n", []),
        ({"ladder.cu": b"x", "old.rar": b"Rar!"}, b"x",
         ["old.rar is an archive of a kind that is not taken; pack a .zip or a .tar.gz"]),
    ],
)  # fmt: skip
def test_what_is_taken_and_what_is_said(
    tmp_path: Path, files: dict[str, bytes], source: bytes, unused: list[str]
) -> None:
    found = hand_in(tmp_path, files)
    assert found.source == source, found.problem
    assert sorted(found.handed.unused) == unused


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"solution.pdf": b"%PDF"}, "there is no ladder.cu in this folder; solution.pdf is a PDF, and a .cu is needed"),
        ({"code.docx": b"PK"}, "code.docx is a Word document, and a .cu is needed"),
        ({"lab.ipynb": notebook("print(1)")}, "is a notebook; a cell of it should begin with %%writefile NAME.cu"),
        ({"lab.ipynb": notebook("%%cu\na\n", "%%cu\nb\n")},
         "2 files could be it: lab.ipynb/cell 1.cu, lab.ipynb/cell 2.cu"),
        ({"lab.py": b"get_ipython().run_cell_magic(1)\nprint(1)\n"}, "there is no ladder.cu in this folder"),
        ({"lab.ipynb": b"{"}, "lab.ipynb can't be read: it is no notebook"),
        ({"lab.ipynb": b'{"cells": [1, null]}'}, "lab.ipynb can't be read: it is no notebook"),
        ({"work.7z": b"7z\xbc\xaf\x27\x1c"}, "work.7z is an archive of a kind that is not taken"),
        ({"a.cu": b'#include "b.cu"', "b.cu": b'#include "a.cu"'}, "2 files could be it"),
        ({"ladder.cu": b'#include "a.h"\n', "a.h": b'#include "a.h"\n'}, "ladder.cu|a.h with its headers is more than"),
        ({"ladder.cu": b'#include "a.h"\n' * 20, "a.h": b"x" * 100_000},
         "with its headers is more than 1,048,576 bytes"),
        ({"main.cu": b"1", "step/main.cu": b"2", "kernel.cu": b""}, "3 files could be it"),
    ],
)  # fmt: skip
def test_why_nothing_is_taken(tmp_path: Path, files: dict[str, bytes], why: str) -> None:
    found = hand_in(tmp_path, files)
    assert found.source is None
    assert any(part in found.problem for part in why.split("|"))


def test_a_python_assignment_reads_notebooks_too(tmp_path: Path) -> None:
    wanted = Wanted("12_python", "shift.py")
    files = {"lab.ipynb": notebook("%%writefile shift.py\nimport x\n", "%%cu\nk\n"), "ladder.cu": b"x"}
    found = hand_in(tmp_path, files, wanted)
    assert (found.source, found.handed.unused) == (b"import x\n", ("ladder.cu: not read",))


def test_a_header_once_and_a_header_often() -> None:
    files = {("a.h",): Held("a.h", b"#pragma once\nA\n"), ("x.h",): Held("x.h", b"X\n")}
    twice = b'#include "a.h"\n#include "a.h"\n#include "x.h"\n  #  include "x.h" // again\n'
    text = twice + b'#include <a.h>\n#include "gone.h"\n'
    whole, used = joined(("m.cu",), text, files, frozenset())
    assert whole.count(b"\nA\n") == 1
    assert whole.count(b"\nX\n") == 2
    assert whole.endswith(b'#include <a.h>\n#include "gone.h"\n')
    assert used == [("a.h",), ("x.h",)]
    assert included(text) == ["a.h", "a.h", "x.h", "x.h", "gone.h"]
    assert joined(("m.cu",), b'"#include \\"a.h\\""\n', files, frozenset())[0] == b'"#include \\"a.h\\""\n'


@pytest.mark.parametrize("form", [".zip", ".tar.gz"])
def test_what_archives_keep_is_bounded_by_hand_in(tmp_path: Path, form: str) -> None:
    odd = random.Random(1).randbytes(8192)
    bomb = tarred({f"f{number}.cuh": odd[:8192] + bytes(1 << 20) for number in range(60)})
    assert len(bomb) < 1_000_000
    files = {f"{number}.tgz": bomb for number in range(10)} | {"ladder.cu": b"mine"}
    tracemalloc.start()
    found = hand_in(tmp_path, files, form=form)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.source == b"mine"
    assert peak < 200 << 20
    assert any("would not fit" in one or "more files" in one for one in found.handed.unused)


def test_ninety_nine_files_are_one_attempt(tmp_path: Path) -> None:
    files = {f"lovelaceada_4201_{880000 + number}_ladder-{number}.cu": b"%d" % number for number in range(1, 99)}
    with open_class(pack(tmp_path / "c.zip", files)) as download:
        (one,) = download.submissions(WANTED)
    assert one.source == b"98"
    assert len(one.handed.unused) == 13


@pytest.mark.parametrize(
    ("takes", "has_header", "unused"),
    [
        ((), True, []),
        (("*.cuh",), True, []),
        (("*.h",), False, ["tile.cuh: the assignment takes ladder.cu, *.h"]),
        (("-",), False, ["tile.cuh: the assignment takes ladder.cu, -"]),
    ],
)
def test_an_assignment_says_which_files_it_takes(
    tmp_path: Path, takes: tuple[str, ...], has_header: bool, unused: list[str]
) -> None:
    files = {"ladder.cu": b'#include "tile.cuh"\nk\n', "tile.cuh": HEADER}
    one = hand_in(tmp_path, files, replace(WANTED, takes=takes))
    assert one.source is not None
    assert (b"int tile();" in one.source) is has_header
    assert list(one.handed.unused) == unused


def test_what_comes_with_an_assignment_is_known(tmp_path: Path) -> None:
    for name, data in (("ladder.cu", b"// TODO\n"), ("ladder.h", b"x"), ("big.bin", bytes(2 << 20))):
        (tmp_path / name).write_bytes(data)
    wanted = Wanted("90_fake", "ladder.cu").given_by(tmp_path)
    assert (wanted.provided, wanted.stub) == ({"ladder.h": b"x"}, b"// TODO\n")
    assert [wanted.is_stub(one) for one in (b" // TODO", b"// TODO 2", None)] == [True, False, False]
