"""Which launchers have the same code in two sources, and which only appear to."""

import pytest

from grader.authoring.declared import collect
from grader.authoring.same_code import Code
from grader.base.layout import Layout
from grader.model.assignment import load_assignment
from test_check import ROOT

_SOURCE = """#include "ladder.h"
constexpr int kBlock = 128;  // threads
__global__ void good_kernel(int* d_out, int n) {
#pragma unroll
  for (int i = 0; i < n; ++i) d_out[i] = kBlock;
}
template <class T>
void good(T* d_out, int n) { good_kernel<<<1, kBlock>>>(d_out, n); }
void alpha(int* d_out, int n) { good(d_out, n); }
__global__ void own_kernel(int* d_out) { *d_out = 1; }
void beta(int* d_out, int) { own_kernel<<<1, 1>>>(d_out); }
"""


def _is_same(changed: str, launcher: str = "alpha") -> bool:
    key = Code(_SOURCE).key(launcher)
    assert key
    return Code(changed).key(launcher) == key


def test_the_code_of_another_rung_and_comments_make_no_difference() -> None:
    assert _is_same(_SOURCE.replace("*d_out = 1;", "*d_out = 2;"))
    assert not _is_same(_SOURCE.replace("*d_out = 1;", "*d_out = 2;"), "beta")
    assert _is_same(_SOURCE.replace("// threads", '/* a "comment" { */').replace("  for", "\n    for"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("kBlock = 128", "kBlock = 64"),
        ("i < n; ++i", "i < n - 1; ++i"),
        ("#pragma unroll", "#pragma unroll 1"),
        ("<<<1, kBlock>>>", "<<<2, kBlock>>>"),
        ("{ good(d_out, n); }", "{ good(d_out, n); good(d_out, n); }"),
        ('#include "ladder.h"', '#include "ladder.h"\n#define n 0'),
        # Pieces that no launcher names but that may matter.
        ("constexpr", "struct Noise { Noise(); } g_noise;\nconstexpr"),
        ("constexpr", "std::string g_name(1, 2);\nconstexpr"),
        ("constexpr", "void* operator new(size_t n) { return nullptr; }\nconstexpr"),
        ("constexpr", "namespace { int s_x; }\nconstexpr"),
        ("constexpr", "__attribute__((constructor)) void first() {}\nconstexpr"),
        ("constexpr", 'extern "C" int cudaMalloc(void**, size_t) { return 0; }\nconstexpr'),
    ],
)
def test_each_part_of_the_code_makes_a_difference(old: str, new: str) -> None:
    assert old in _SOURCE
    assert not _is_same(_SOURCE.replace(old, new))


def test_what_shares_state_is_one_code() -> None:
    with_state = _SOURCE.replace("constexpr", "static int s_calls = 0;\nconstexpr").replace(
        "{ good(", "{ ++s_calls; good("
    )
    other = with_state.replace("*d_out = 1;", "*d_out = 2;")
    assert Code(with_state).key("alpha") == Code(other).key("alpha")
    writes = with_state.replace("own_kernel<<<", "s_calls = 7; own_kernel<<<")
    assert Code(with_state).key("alpha") != Code(writes).key("alpha")
    # The state of a function that both call belongs to both.
    once = _SOURCE.replace("{ good_kernel", "{ static int calls; ++calls; good_kernel")
    assert Code(once).key("alpha") != Code(once.replace("own_kernel<<<", "good(d_out, 1); own_kernel<<<")).key("alpha")


@pytest.mark.parametrize(
    "source",
    [
        "",
        "void alpha(int*, int);",  # defined nowhere
        _SOURCE + "#define RUNG(name) void name##_two() {}\n",  # a name that is not read as one word
        _SOURCE + 'const char* text = R"({)";\n',
        _SOURCE + "void gamma() {\n",
    ],
)
def test_what_can_not_be_cut_up_has_no_key(source: str) -> None:
    assert Code(source).key("alpha") == ""


def test_wrong_solutions_share_the_code_that_is_not_the_point() -> None:
    """Otherwise a check silently takes ten times as long."""
    layout = Layout(ROOT, ROOT / "build")
    assignment = load_assignment(layout.assignment("06_transpose"))
    collected = collect(layout, assignment)
    keys = []
    for submission in collected.submissions:
        verdict, rung = collected.wrong.get(submission.folder, ("COMPILE", ""))
        if verdict != "COMPILE" and rung != assignment.rungs[0].id:
            assert submission.source is not None
            keys.append(Code(submission.source.decode()).key(assignment.rungs[0].id))
    assert len(keys) > 10
    assert len(set(keys)) < len(keys) / 2
