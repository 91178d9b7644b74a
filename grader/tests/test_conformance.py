"""Compares the virtual GPU's answers with an H100's recorded ones (harness/dev/conformance)."""

import importlib.util
import subprocess
import sys
from types import ModuleType

import pytest

from conftest import BUILD, ROOT, needs_build

FOLDER = ROOT / "harness/dev/conformance"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("conformance", FOLDER / "conformance.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["conformance"] = module
    spec.loader.exec_module(module)
    return module


conformance = load()


@needs_build
@pytest.mark.in_turn
@pytest.mark.parametrize("program", conformance.programs())
def test_answers_are_no_further_from_a_gpus_than_recorded(program: str) -> None:
    done = subprocess.run(
        [FOLDER / "conformance.py", "--build", BUILD, "run", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_record_holds_what_was_printed(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(conformance, "RECORDED", tmp_path / "recorded.txt")
    answers = conformance.read_output("class/a/x 1\nclass/a/y 0 two words\nclass/b/x 1\nclass/a/x 7\nnoise\n")
    assert answers == {"a/x": "1", "a/y": "0 two words", "b/x": "1"}
    conformance.write_record("any", answers, "a GPU")
    assert conformance.read_record("any") == answers


def test_few_questions_are_allowed_to_differ() -> None:
    asked = allowed = 0
    for program in conformance.programs():
        recorded = conformance.read_record(program)
        differing, by_allowance, _ = conformance.compare(program, {})
        asked += len(recorded)
        allowed += by_allowance
        assert len(differing) + by_allowance == len(recorded)
    assert asked >= 6000
    assert allowed <= 0.06 * asked  # most of them agree all the same


def test_the_page_is_up_to_date() -> None:
    assert conformance.PAGE.read_text(encoding="utf-8") == conformance.page()
