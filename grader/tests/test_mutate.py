"""Mutants, and the handling of survivors."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from grader.authoring.mutants import mutants, sample
from grader.base.layout import Layout
from grader.commands.cli import cli


def changes(source: str) -> set[str]:
    return {mutant.change for mutant in mutants(source)}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a < b", {"< → <=", "< → >"}),
        ("a >= b", {">= → >"}),
        ("a == b && c", {"== → !=", "&& → ||"}),
        ("x += y - z", {"+= → -=", "- → +"}),
        ("s[10]", {"10 → 11", "10 → 9", "10 → 20"}),
        ("s[0u]", {"0 → 1"}),
        ("__syncthreads();", {"__syncthreads(); → ;"}),
        ("__syncwarp(mask);", {"__syncwarp(mask); → ;", "mask → 0xffffu", "mask → (1u << threadIdx.x % 32)"}),
        ("  cudaFree(a_d);\n", {"cudaFree(a_d); → ;"}),
        ("cudaMemcpy(a,\n           b);\n", {"cudaMemcpy(a, b); → ;"}),
        ("f(cudaMallocHost(&h, n)); f(cudaMemcpy(h, d));", {"cudaMemcpy → cudaMemcpyAsync"}),
        ("int main() {\n  f(1 + 2);\n}\nint x = 1;", {"1 → 2", "1 → 0", "int → unsigned char"}),
        ("RETURN_IF_FAILED(a.allocate(n));", {"RETURN_IF_FAILED(a.allocate(n)); → ;"}),
        ("f(cudaMemcpyHostToDevice)", {"HostToDevice → DeviceToHost", "HostToDevice → DeviceToDevice"}),
        ("n * sizeof(int)", {"* → +"}),
        ("threadIdx.x", {"x → y"}),
        ("if (i < n) f();", {"i < n → true", "< → <=", "< → >"}),
        ("if (f(i) < g(n)) h();", {"f(i) < g(n) → true", "< → <=", "< → >"}),
        ("if (done) f();", set()),
        ("__threadfence();", {"__threadfence(); → ;", "__threadfence(); → __threadfence_block();"}),
        ("__threadfence_block();", {"__threadfence_block(); → ;"}),
        ("f.store(x, cuda::memory_order_release);", {"release → relaxed"}),
        ("f.load(cuda::std::memory_order_acquire);", {"acquire → relaxed"}),
        ("atomic_ref<T, cuda::thread_scope_device>(x)", {"device → block"}),
        ("volatile T* p", {"volatile → "}),
        ('asm volatile("st.release.gpu.u32 [%0], x;")', {"release → relaxed", "gpu → cta"}),
        ('asm("fence.acq_rel.gpu;")', {"fence.acq_rel.gpu; → ", "acq_rel → relaxed", "gpu → cta"}),
        (
            "atomicExch(p, x);",
            {
                "atomicExch → [](auto* p, auto v) { auto old = *p; *p = v; return old; }",
                "atomicExch → [](volatile auto* p, auto v) { auto old = *p; *p = v; return old; }",
            },
        ),
        ("__ballot_sync(kAll, x);", {"kAll → 0xffffu", "kAll → (1u << threadIdx.x % 32)"}),
        (
            "__shfl_up_sync(kAll, x, s);",
            {"kAll → 0xffffu", "kAll → (1u << threadIdx.x % 32)", "up → down"},
        ),
        ("k<<<a, b, c, stream>>>(x);", {"stream → 0"}),
        ("x = cudaMemsetAsync(a, b, stream2);", {"stream2 → 0"}),
        ("x = cudaStreamSynchronize(s);", {"cudaStreamSynchronize(s) → cudaSuccess"}),
        ("x = cudaStreamWaitEvent(s, e);", {"cudaStreamWaitEvent(s, e) → cudaSuccess"}),
        ("f(d_in, x)", {"d_in → d_in + 1"}),
        ("reinterpret_cast<size_t>(p) | x", {"reinterpret_cast<size_t>(p) → size_t(0)"}),
        ("return -INFINITY;", {"INFINITY → FLT_MAX", "INFINITY → 0.0f"}),
        ("unsigned count = x;", {"unsigned → unsigned char"}),
        ("unsigned i = f(blockIdx.x);", {"x → y", "unsigned → unsigned char", "unsigned → float"}),
        ("unsigned t = threadIdx.x;", {"x → y"}),
        ("grid.sync();", {"grid.sync(); → ;"}),
    ],
)
def test_one_change_each(source: str, expected: set[str]) -> None:
    assert changes(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "// a < b", "/* a < b\n 1 + 2 */", 'puts("a < b");', "#define N 12", "#if 1 < 2 \\\n + 3", "Kernel<kBlock>",
        "template <unsigned kThreads>", "k<<<kGrid, kBlock>>>(d)", "int* p", "v2f.x1", "1.5f", "reduce2_strided()",
        "static_assert(sizeof(int) == 4);", '// asm("st.release.gpu")', 'puts("release.gpu");', "asm volatile(x);",
        "void f(const float* d_in, float* d_out);",
    ],
)  # fmt: skip
def test_what_is_no_operator_is_left_alone(source: str) -> None:
    assert not mutants(source)


def test_designs_are_mutated_too() -> None:
    source = """  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaMemcpy(a, b, n * sizeof(int), kind);
  k<<<(n + 255 - 1) / 255, 255>>>(a, n);
  while (i < n) __syncthreads();
  cudaStreamSynchronize(s);
  int sum = 0;
"""
    kinds = {mutant.kind: mutant.change for mutant in mutants(source, designs=True)}
    assert kinds.keys() == {
        "unit", "warp's barrier", "part's barrier", "launch", "off by one", "tail", "loop", "short", "question",
        "rounded down", "no first value", "once",
    }  # fmt: skip
    assert kinds["rounded down"] == "(n + 255 - 1) / 255 → n / 255"
    assert kinds["question"] == "cudaStreamSynchronize → cudaStreamQuery"
    assert kinds["unit"].startswith("* sizeof(int)")
    assert kinds["no first value"] == "int sum = 0; → int sum;"


def test_a_mutant_differs_in_its_one_place() -> None:
    source = "int f() {\n  // 1 < 2\n  return a < 3;\n}\n"
    for mutant in mutants(source):
        assert mutant.line == 3
        assert mutant.code == "return a < 3;"
        lines, changed = source.split("\n"), mutant.source.split("\n")
        assert [a == b for a, b in zip(lines, changed, strict=True)] == [True, True, False, True, True]
        assert lines[2][: mutant.column] == changed[2][: mutant.column]


def test_a_seed_is_a_sample() -> None:
    every = mutants("f(1, 2, 3, 4, 5, 6, 7, 8);")
    assert sample(every, 1) == sample(every, 1) != sample(every, 2)
    assert set(sample(every, 1)) == set(every)


def test_operators_take_turns() -> None:
    kinds = [mutant.kind for mutant in sample(mutants("f(1, 2, 3, 4, 5, 6, 7, 8);\n__threadfence();"), 1)]
    assert kinds.count("number") > 10
    assert max(index for index, kind in enumerate(kinds) if kind == "fence") < 4


def mutate(*words: str) -> Result:
    return CliRunner().invoke(cli, ["mutate", "--no-sandbox", "--jobs", "2", *words])


@pytest.fixture
def reference(in_checkout: Layout) -> Path:
    """A reference for which all mutants but two are caught: the fake suite reads the value."""
    path = in_checkout.reference("90_fake") / "ladder.cu"
    # As comments, these lines would not be mutated: the build script makes them directives.
    path.write_text("value beta.fast 1 \nnothing 7 \n")
    script = in_checkout.build_script
    script.write_text(
        script.read_text().replace('cat "$source"', "sed 's/^value/\\/\\/ value/' \"$source\"").replace(
            '# Tests put', 'if grep -q "nothing 8" "$source"; then exit 2; fi\n# Tests put'
        )
    )  # fmt: skip
    return path


def test_survivors_are_shown_and_fail(reference: Path) -> None:
    # value 1 → 0 and 1 → 2 are within the budget, 7 → 6 and 7 → 14 do nothing, and 7 → 8 does not compile.
    result = mutate()
    assert result.exit_code == 1, result.output
    assert "survives  reference/90_fake/ladder.cu:2  7 → 14\n  - nothing 7\n  + nothing 14\n" in result.output
    assert "4 mutants, 0 of them equivalent; of the others 0 caught (0.0 %); 1 more did not compile" in result.output
    assert reference.read_text().startswith("value")


def test_caught_and_equivalent_ones_hold(reference: Path) -> None:
    reference.write_text("value beta.fast 2 \n")  # 2 → 1 is no worse; 2 → 3 and 2 → 4 are over the budget
    assert "2 → 1\n" in mutate().output
    (reference.parent / "equivalent_mutants.toml").write_text('["less is no worse"]\n"value beta.fast 2" = "2 → 1"\n')
    result = mutate()
    assert result.exit_code == 0, result.output
    assert "equivalent  reference/90_fake/ladder.cu:1  2 → 1: less is no worse" in result.output
    assert "3 mutants, 1 of them equivalent; of the others 2 caught (100.0 %)" in result.output
    assert "2 SLOW" in result.output


def test_an_entry_about_no_mutant_fails(reference: Path) -> None:
    reference.write_text("value beta.fast 2 \n")
    (reference.parent / "equivalent_mutants.toml").write_text(
        '["less is no worse"]\n"value beta.fast 2" = "2 → 1"\n["was so once"]\ngone = ["1 → 2"]\n'
    )
    result = mutate()
    assert result.exit_code == 1
    assert "stale  equivalent_mutants.toml: no mutant of reference/90_fake is 1 → 2 in gone" in result.output
    (reference.parent / "equivalent_mutants.toml").write_text('[[mutant]]\ncode = "x"\n')
    assert "mutant: expected a table, got a list" in str(mutate().exception)


def test_what_was_run_is_not_run_again(reference: Path, in_checkout: Layout) -> None:
    reference.write_text("value beta.fast 2 \n")
    mutate("--count", "2")
    log = in_checkout.build / "bin" / "runs.log"
    first = len(log.read_text().splitlines())
    mutate("--count", "2")
    assert len(log.read_text().splitlines()) == first
    mutate("--count", "3")
    assert len(log.read_text().splitlines()) > first


def test_right_solutions_are_mutated_too(reference: Path) -> None:
    reference.write_text("value beta.fast 2 \n")
    right = reference.parent / "right"
    right.mkdir(exist_ok=True)
    (right / "other.cu").write_text("// points: 10 + 2\nvalue beta.fast 2 \n")
    result = mutate()
    assert "survives  reference/90_fake/ladder.cu:1  2 → 1\n" in result.output
    assert "reference/90_fake/right/other.cu:2  2 → 1\n" in result.output
    assert "6 mutants" in result.output


def test_shares_are_of_all_and_do_not_overlap(reference: Path) -> None:
    reference.write_text("value beta.fast 2 \n")
    halves = [mutate("--shard", f"{index}/2", "--out", f"out/{index}").output for index in (1, 2)]
    assert "2 mutants, 0 of them equivalent" in halves[0]
    assert "1 mutants, 0 of them equivalent" in halves[1]
    assert sum("2 → 1\n" in half for half in halves) == 1
    assert "not a share" in mutate("--shard", "3/2").output


def test_time_that_is_over_is_said(reference: Path) -> None:
    reference.write_text("value beta.fast 2 \n")
    result = mutate("--minutes", "0.0000001")
    assert result.exit_code == 1
    assert "0 mutants" in result.output
    assert "time is over: 3 mutants were not tried" in result.output
