"""Sources stored as edits of another: valid and invalid edits, and that every text can be restored."""

import random
import tomllib

import pytest

from grader.authoring.edits import apply_edits, find_edits, toml_text
from grader.base.errors import GraderError

BASE = "int a;\nfor (;;) {\n  step();\n}\nfor (;;) {\n  step();\n}\nint b;\n"


def test_a_hunk_has_only_the_context_it_needs() -> None:
    """A line that is in the base once needs none."""
    assert find_edits(BASE, BASE.replace("int b", "int c")) == "-int b;\n+int c;\n"
    assert find_edits(BASE, BASE.replace("int a;\n", "")) == "-int a;\n"
    second = find_edits(BASE, BASE[::-1].replace("step"[::-1], "jump"[::-1], 1)[::-1])
    assert second == " }\n for (;;) {\n-  step();\n+  jump();\n"
    assert find_edits(BASE, BASE) == ""


def test_hunks_are_applied_in_order() -> None:
    """A later hunk sees the result of earlier ones."""
    assert apply_edits("a\nb\n", "-a\n+b\n+c\n@@\n c\n-b\n") == "b\nc\n"
    assert apply_edits("a\n\nb\n", " a\n\n-b\n") == "a\n\n", "an empty line of context needs no blank"


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        ("-int c;\n", "found nowhere:\nint c;"),
        ("-  step();\n", "found 2 times:\n  step();"),
        ("-nt a;\n", "found nowhere"),  # whole lines
        ("+int c;\n", "found 9 times"),  # nothing says where
        ("int a;\n", "begins with a blank, - or +"),
        ("\\\n", "begins with a blank, - or +"),
    ],
)
def test_what_does_not_fit_is_refused(edits: str, said: str) -> None:
    """Never applied at another place."""
    with pytest.raises(GraderError) as refused:
        apply_edits(BASE, edits)
    assert said in str(refused.value)


def _random_text(rng: random.Random, lines: list[str]) -> str:
    text = "".join(rng.choice(lines) for _ in range(rng.randrange(12)))
    return text.removesuffix("\n") if rng.random() < 0.2 else text


def test_every_text_comes_back() -> None:
    """Texts with few different lines, so that hardly any is unique; also as TOML."""
    rng = random.Random(1)
    lines = ["a\n", "b\n", "\n", " \n", "-\n", "+a\n", "@@\n", "\\\n", "'''\n", '"""\\\n', "\r\n", "\f\u2028é\n"]
    for _ in range(3000):
        base, wanted = _random_text(rng, lines), _random_text(rng, lines)
        if rng.random() < 0.5:
            wanted = base + wanted if rng.random() < 0.5 else base[: len(base) // 2] + wanted
        edits = find_edits(base, wanted)
        assert apply_edits(base, edits) == wanted
        for text in (base, wanted, edits):
            assert tomllib.loads(f"text = {toml_text(text)}\n") == {"text": text}


def test_toml_has_no_escapes_where_none_are_needed() -> None:
    """Backslashes and quotes stand in it as they are in the text."""
    assert toml_text("one line") == '"one line"'
    assert toml_text('say "no"') == "'say \"no\"'"
    assert toml_text('printf("%d\\n", i);\n') == "'''\nprintf(\"%d\\n\", i);\n'''"
    assert toml_text("'''\n") == '"""\n\'\'\'\n"""'
