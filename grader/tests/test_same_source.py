"""Files that are equal except for comments and white space, and the mapping of their lines."""

import time

import pytest

from grader.model.same_source import line_map, normal_form

BASE = """#include <cstdio>
#define TWICE(x) ((x) + (x))

__global__ void k(int *p) {  // adds
  p[0] += TWICE(1);  /* two */ p[1] = 'a';
}
"""


def same(one: str, other: str, headers: str = "") -> bool:
    forms = normal_form(one.encode(), headers), normal_form(other.encode(), headers)
    return forms[0] is not None and forms[1] is not None and forms[0].text == forms[1].text


@pytest.mark.parametrize(
    "other",
    [
        "// a head\n\n" + BASE,
        "/* a head\n * of lines\n */\n" + BASE,
        BASE.replace("  p[0]", "\tp[0]"),
        BASE.replace("\n", "\r\n"),
        BASE.replace("// adds", ""),
        BASE.replace(" += ", "+="),
        BASE.replace(") {", ")\n{"),
        BASE.replace("#include", "#  include"),
        BASE.replace("/* two */ ", "\n"),
        BASE + "\n\n// the end",
    ],
)
def test_what_makes_no_difference(other: str) -> None:
    assert same(BASE, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("int a = b+ +c;", "int a = b++c;"),
        ("int a;", "int b;"),
        ('char *s = "a b";', 'char *s = "a  b";'),
        ('char *s = "a//b";', 'char *s = "a";'),
        ('auto s = R"x(a // )" b)x";', 'auto s = R"x(a )" b)x";'),
        ("#define F(x) x\nint a;", "#define F (x) x\nint a;"),
        ("#define F 1\nint a;", "#define F 1 int a;"),
        ("#define F 1\\\n + 2\nint a;", "#define F 1\n + 2\nint a;"),
        ("int a = 1'000;", "int a = 1'001;"),
        ("auto v = a < ::b;", "auto v = a < :b;"),
        ("x\n#if 1\ny\n#endif\n", "x #if 1\ny\n#endif\n"),
        ("int a = __LINE__;", "\nint a = __LINE__;"),
        ("#define S(x) #x\nauto s = S(a+b);", "#define S(x) #x\nauto s = S(a + b);"),
        ("void f() { assert(a+b); }", "void f() { assert(a + b); }"),
        ("void f() { assert(a); }", "// head\nvoid f() { assert(a); }"),
        ("#include <a//b>\nint a;", "#include <a//c>\nint a;"),
        ("int a; /* x\n */ #define Y", "int a;\n#define Y"),
        ("#define X a /*\n*/ b", "#define X a\nb"),
        ("int a; // \\\nint b;", "int a;"),
        ("int a??/\n;", "int a;"),
        ("in\\\nt a;", "in t a;"),
    ],
)
def test_what_makes_a_difference(one: str, other: str) -> None:
    assert not same(one, other)


@pytest.mark.parametrize(
    "source",
    [
        "", "// nothing", "int a; // b \\\nint c;", "int a; /* b", 'char *s = "a', "char c = 'a", "#define A a ## b",
        "#if 0\ndon't\n#endif", "int a<::> = {};", "%:define A", "int a; /* *\\\n/", "in\\\nt a;", "\ufeffint a;",
        "int a;\x00", 'auto s = R"x(a)x";', "int a\x1fb;", "#define X a /* \n */ b",
    ],
)  # fmt: skip
def test_what_has_no_form(source: str) -> None:
    assert normal_form(source.encode()) is None


def test_what_is_no_text_has_no_form() -> None:
    assert normal_form(b"int \xff;") is None


def test_headers_may_turn_source_into_text() -> None:
    assert same("f(a+b);", "f(a + b);")
    assert not same("f(a+b);", "f(a + b);", "#define f(x) g(#x)\n")
    assert not same("f(a);", "\nf(a);", "#define f(x) g(__LINE__)\n")


def test_lines_of_the_other_file() -> None:
    one, other = normal_form(BASE.encode()), normal_form(("// head\n" + BASE.replace(") {", ")\n{")).encode())
    assert one is not None
    assert other is not None
    assert line_map(one, other) is None  # a line of one is two lines of the other
    assert line_map(other, one) == {2: 1, 3: 2, 5: 4, 6: 4, 7: 5, 8: 6}


@pytest.mark.parametrize(
    "piece", ["/*", "/**/", "a ", '"', '"" ', "(", "\\\n ", "// x\n", "/* x\n", 'R"(', 'R"()" ', "1'", "<"]
)
def test_no_file_takes_long(piece: str) -> None:
    source = ("int a;" + piece * (200_000 // len(piece))).encode()
    began = time.process_time()
    normal_form(source)
    assert time.process_time() - began < 3  # 0.25 s at most, and 16 s where the time grew with the square
