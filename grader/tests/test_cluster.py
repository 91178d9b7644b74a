"""Grading on a cluster: the same grades as on one machine, and nothing lost or done twice, whatever fails.

The cluster is a fake whose nodes run the real node code; test_slurm.py has a real Slurm.
"""

import contextlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import grader.commands.cluster as command
from conftest import journal_rows
from grader.base.errors import GraderError, InfrastructureError
from grader.base.layout import Layout
from grader.cluster.executor import Pace
from grader.cluster.node import _TestsFile, grade_batch, work
from grader.cluster.shared import KEY, SharedFolder
from grader.commands.cli import cli, main
from grader.model.result import TestResult
from stand_in_cluster import StandIn

pytestmark = pytest.mark.in_turn

Class = Callable[..., Path]
SHARED = Path("out/cluster")


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """A cluster of two nodes instead of Slurm."""
    made = StandIn()
    monkeypatch.setattr(command, "Slurm", made)
    monkeypatch.setattr(
        command.Cluster, "pace", Pace(results=0.02, scheduler=0.02, rest=0.0, hold=0.2, late=0.3, busy=0.1)
    )
    yield made
    made.end()


def grade(folder: Path, *arguments: str) -> Result:
    words = ["grade", str(folder), "--no-sandbox", "--seed", "7", *arguments]
    return CliRunner().invoke(cli, words)


def on_cluster(folder: Path, *arguments: str) -> Result:
    return grade(folder, "--executor", "slurm", *arguments)


def pages(out: Path) -> dict[str, str]:
    """All pages, tables and JSON files that were written, without times and aliases, which differ by folder."""
    moment = re.compile(r"Anonymous [0-9a-f]{8}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\+00:00| UTC)?")
    return {
        str(path.relative_to(out)): moment.sub("then", path.read_text()).replace(f"--out {out.name}", "--out out")
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.suffix in (".html", ".csv", ".json") and "cluster" not in path.parts
    }


def log(layout: Layout) -> list[str]:
    path = layout.build / "bin/runs.log"
    return path.read_text().splitlines() if path.exists() else []


def a_class(submissions: Class) -> Path:
    """Right, wrong, racing, not compiling, slow, not begun, missing, and two with the same code."""
    folder = submissions(
        ada="", grace="", wrong="// fail beta_two WRONG", racing="// fail alpha_one RACE", broken="#error no",
        slow="// slow 0.1", todo="// todo beta_two",
    )  # fmt: skip
    (folder / "nothing").mkdir()
    (folder / "twin").mkdir()
    (folder / "twin/ladder.cu").write_bytes((folder / "ada/ladder.cu").read_bytes())
    return folder


@pytest.mark.parametrize("device", ["vgpu", "cuda"])
def test_results_are_those_of_one_machine(
    in_checkout: Layout, submissions: Class, cluster: StandIn, device: str
) -> None:
    folder = a_class(submissions)
    local = grade(folder, "--device", device, "--out", "local")
    remote = on_cluster(folder, "--device", device)
    assert (local.exit_code, remote.exit_code) == (0, 0), remote.output
    assert pages(in_checkout.root / "out") == pages(in_checkout.root / "local")
    parts = [part for part, _ in cluster.arrays]
    assert parts[0] == "cpu"
    assert set(parts[1:]) == (set() if device == "vgpu" else {"gpu"})
    assert not SHARED.exists()


@pytest.mark.parametrize("order", [("n1",), ("n1", "n2", "n3", "n4", "n5")])
def test_the_number_of_nodes_changes_nothing(
    in_checkout: Layout, submissions: Class, monkeypatch: pytest.MonkeyPatch, cluster: StandIn, order: tuple[str, ...]
) -> None:
    folder = a_class(submissions)
    assert on_cluster(folder).exit_code == 0
    others = StandIn(order)
    monkeypatch.setattr(command, "Slurm", others)
    assert on_cluster(folder, "--out", "other").exit_code == 0
    others.end()
    assert pages(in_checkout.root / "out") == pages(in_checkout.root / "other")


def test_a_task_grades_several_and_arrays_have_a_limit(
    in_checkout: Layout, submissions: Class, cluster: StandIn, tmp_path: Path
) -> None:
    folder = submissions(**{f"s{number:02}": f"// slow 0.0{number}" for number in range(65)})
    settings = tmp_path / "cluster.toml"
    settings.write_text("[cpu]\nsubmissions = 2\n[array]\nmost = 10\n")
    assert on_cluster(folder, "--cluster", str(settings)).exit_code == 0
    assert [len(batches) for _, batches in cluster.arrays] == [10, 10, 10, 3]
    assert len([line for line in log(in_checkout) if line.startswith("run ")]) == 65


def test_no_node_learns_who_handed_in(in_checkout: Layout, submissions: Class, cluster: StandIn) -> None:
    cluster.is_held = {"n1", "n2"}
    folder = submissions(lovelace_ada="", hopper_grace="// fail beta_two WRONG")
    seen: dict[str, bytes] = {}

    def look(shared: SharedFolder, name: str, node_name: str, processors: int) -> None:
        seen.update({path.name: path.read_bytes() for path in shared.path.rglob("*") if path.is_file()})
        assert shared.path.stat().st_mode & 0o777 == 0o700
        grade_batch(shared, name, node_name, processors)

    cluster.work, cluster.is_held = look, set()
    assert on_cluster(folder, "--json").exit_code == 0
    assert len(seen) > 3
    known = [name for name, data in seen.items() for who in (b"lovelace", b"hopper") if who in name.encode() + data]
    # Text that students wrote into their files remains: their names there are their own words.
    assert all(re.fullmatch(r"[0-9a-f]{64}", name) and b"// who" in seen[name] for name in known)


# What fails.


def test_a_task_that_ends_without_a_result_is_queued_again(
    in_checkout: Layout, submissions: Class, cluster: StandIn
) -> None:
    cluster.crash = {"n1": 1, "n2": 1}
    folder = a_class(submissions)
    result = on_cluster(folder)
    assert result.exit_code == 0, result.output
    assert grade(folder, "--out", "local").exit_code == 0
    assert pages(in_checkout.root / "out") == pages(in_checkout.root / "local")


def test_one_that_never_ends_well_is_not_graded_and_no_zero(
    in_checkout: Layout, submissions: Class, cluster: StandIn
) -> None:
    cluster.crash = {"n1": 99, "n2": 99}
    folder = submissions(ada="")
    result = on_cluster(folder, "--json")
    assert result.exit_code == 3
    rows = journal_rows(in_checkout, "SELECT document FROM record")
    record = json.loads(rows[0][0])
    assert record["status"] == "not graded"
    assert record["score"] is None
    assert re.fullmatch(
        r"Tried 3 times on the cluster: the job ended on n[12] without a result "
        r"\(FAILED\): n[12] caught fire in …/slurm",
        record["message"],
    )
    assert len(cluster.arrays) == 3
    cluster.crash = {}
    assert on_cluster(folder).exit_code == 0  # the same command tries again


def test_what_killed_a_task_ends_nobody_elses_twice(in_checkout: Layout, submissions: Class, cluster: StandIn) -> None:
    """A batch with one submission that kills its task: the others are graded, in separate tasks."""

    def work(shared: SharedFolder, name: str, node_name: str, processors: int) -> None:
        orders = shared.batch(name)["orders"]
        if any(b"who bad" in shared.get(order["source"]) for order in orders):
            raise RuntimeError
        grade_batch(shared, name, node_name, processors)

    cluster.work = work
    names = [f"s{number:02}" for number in range(66)]
    result = on_cluster(submissions(bad="", **dict.fromkeys(names, "")), "--json")
    assert result.exit_code == 3
    failed = journal_rows(in_checkout, "SELECT folder FROM record WHERE is_final=0")
    assert failed == [("bad",)]


class OfAnother(SharedFolder):
    """The folder as read by a node with another compiler, which does not match the expected one."""

    def batch(self, name: str) -> dict[str, Any]:
        document = super().batch(name)
        return document | {"expected": document["expected"] | {"nvcc": "12.4.1"}}


def other_compiler_on(*nodes: str) -> Callable[[SharedFolder, str, str, int], None]:
    def work(shared: SharedFolder, name: str, node_name: str, processors: int) -> None:
        own = OfAnother(shared.path, shared.key) if node_name in nodes else shared
        grade_batch(own, name, node_name, processors)

    return work


REFUSAL = "n2: not the same as where the class is graded from: nvcc (13.0.88 and not 12.4.1)"


def test_a_node_that_may_not_grade_is_named_and_left_out(
    in_checkout: Layout, submissions: Class, cluster: StandIn
) -> None:
    cluster.work = other_compiler_on("n2")
    cluster.is_held = {"n1"}  # until n2 has refused
    result = on_cluster(submissions(**{f"s{number}": "" for number in range(6)}))
    assert result.exit_code == 0, result.output
    assert result.output.count(f"Note: {REFUSAL.replace(': ', ' grades nothing: ', 1)}") == 1
    assert cluster.excluded == {"n2"}
    assert len([line for line in log(in_checkout) if line.startswith("run ")]) == 6


def test_where_no_node_may_grade_the_run_ends(in_checkout: Layout, submissions: Class, cluster: StandIn) -> None:
    cluster.work = other_compiler_on("n1", "n2")
    result = on_cluster(submissions(**{f"s{number}": "" for number in range(6)}))
    assert result.exit_code == 1
    assert "no node of the cluster may grade (cpu in cluster.toml):\n  n1: not the same" in str(result.exception)
    assert REFUSAL in str(result.exception)
    assert not journal_rows(in_checkout, "SELECT folder FROM record")


def test_without_a_gpu_on_any_node_the_half_that_is_done_is_kept(
    in_checkout: Layout, submissions: Class, cluster: StandIn
) -> None:
    folder = submissions(ada="", broken="#error no")
    no_gpu = in_checkout.build / "bin/no_gpu"
    no_gpu.touch()
    result = on_cluster(folder, "--device", "cuda")
    assert result.exit_code == 1
    assert "no node of the cluster may grade (gpu in cluster.toml):\n  n1: no NVIDIA GPU" in str(result.exception)
    no_gpu.unlink()
    cluster.excluded = set()
    assert on_cluster(folder, "--device", "cuda").exit_code == 0
    assert log(in_checkout).count("run ada") == 1
    assert [part for part, _ in cluster.arrays] == ["cpu", "gpu", "gpu", "gpu"]  # two were refused
    assert grade(folder, "--device", "cuda", "--out", "local").exit_code == 0
    assert pages(in_checkout.root / "out") == pages(in_checkout.root / "local")


def test_a_source_that_was_changed_on_the_way_is_not_graded(
    in_checkout: Layout, submissions: Class, cluster: StandIn
) -> None:
    def work(shared: SharedFolder, name: str, node_name: str, processors: int) -> None:
        source = shared.batch(name)["orders"][0]["source"]
        (shared.path / "files" / source).write_text("// who somebody else\n")
        grade_batch(shared, name, node_name, processors)

    cluster.work = work
    assert on_cluster(submissions(ada="")).exit_code == 3
    assert not [line for line in log(in_checkout) if line.startswith("run ")]


def test_a_result_that_was_cut_short_is_made_again(in_checkout: Layout, submissions: Class, cluster: StandIn) -> None:
    broken: list[str] = []

    def work(shared: SharedFolder, name: str, node_name: str, processors: int) -> None:
        grade_batch(shared, name, node_name, processors)
        order = shared.batch(name)["orders"][0]["name"]
        path = shared.path / "results" / f"{order}.json"
        if not broken and path.exists():
            broken.append(order)
            path.write_text(path.read_text()[:100])

    cluster.work = work
    assert on_cluster(submissions(ada="")).exit_code == 0
    assert len(cluster.arrays) == len(broken) + 1


def test_a_scheduler_that_does_not_answer_is_asked_again(
    in_checkout: Layout, submissions: Class, cluster: StandIn
) -> None:
    cluster.busy = 5
    result = on_cluster(submissions(ada="", grace="// fail beta_two WRONG"))
    assert result.exit_code == 0
    assert result.output.count("the cluster does not answer, and is asked again: no answer") == 1


def test_a_head_that_was_killed_finds_its_jobs_and_their_results(
    in_checkout: Layout, submissions: Class, cluster: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = a_class(submissions)
    real, taken = command.ClusterExecutor._take, []

    def killed(self: object, flight: object) -> None:
        if len(taken) == 2:
            raise KeyboardInterrupt
        taken.append(flight)
        real(self, flight)  # type: ignore[arg-type]

    monkeypatch.setattr(command.ClusterExecutor, "_take", killed)
    words = ["grade", str(folder), "--no-sandbox", "--seed", "7", "--executor", "slurm"]
    monkeypatch.setattr("sys.argv", ["grader", *words])
    assert main() == 130
    assert len(journal_rows(in_checkout, "SELECT folder FROM record")) >= 2
    cluster.wait()  # the jobs go on without a head
    monkeypatch.setattr(command.ClusterExecutor, "_take", real)
    assert main() == 0
    assert len(cluster.arrays) == 1  # nothing was queued again
    runs = [line for line in log(in_checkout) if line.startswith("run ")]
    assert len(runs) == len(set(runs))
    assert grade(folder, "--out", "local").exit_code == 0
    assert pages(in_checkout.root / "out") == pages(in_checkout.root / "local")


def test_grading_one_keeps_the_others_results(
    in_checkout: Layout, submissions: Class, cluster: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = submissions(ada="", grace="", alan="")
    with monkeypatch.context() as patch:
        patch.setattr(command.ClusterExecutor, "_take", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        on_cluster(folder)
    cluster.wait()
    assert on_cluster(folder, "--only", "ada").exit_code == 0
    assert on_cluster(folder).exit_code == 0
    assert len(cluster.arrays) == 1
    assert not SHARED.exists()


def test_ctrl_c_says_how_to_come_back_and_cancel_ends_the_jobs(
    in_checkout: Layout, submissions: Class, cluster: StandIn, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    cluster.is_held = {"n1", "n2"}
    words = ["grade", str(a_class(submissions)), "--no-sandbox", "--seed", "7", "--executor", "slurm"]
    monkeypatch.setattr("sys.argv", ["grader", *words])
    monkeypatch.setattr(command.ClusterExecutor, "_look_for_lost", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    assert main() == 130
    said = capfd.readouterr().err
    line = " ".join(["grader", *words])
    assert "The jobs on the cluster go on: 7 submissions.\n" in said
    assert f"To take their results, type:  {line}\nTo end them, type:  {line} --cancel\n" in said
    monkeypatch.setattr("sys.argv", ["grader", *words, "--cancel"])
    assert main() == 0
    assert "Ended 7 jobs on the cluster." in capfd.readouterr().out


def test_a_head_that_waits_hears_that_the_jobs_were_ended(
    in_checkout: Layout, submissions: Class, cluster: StandIn
) -> None:
    cluster.is_held = {"n1", "n2"}
    folder = submissions(ada="")

    def cancel() -> None:
        while not cluster.arrays:
            pass
        command.Cluster(folder, Path("out"), None).cancel()

    other = threading.Thread(target=cancel)
    other.start()
    result = on_cluster(folder)
    other.join()
    assert result.exit_code == 1
    assert "the jobs were ended" in str(result.exception)
    cluster.is_held = set()
    assert on_cluster(folder).exit_code == 0


def test_a_job_that_somebody_cancelled_is_not_queued_again(
    in_checkout: Layout, submissions: Class, cluster: StandIn
) -> None:
    cluster.is_held = {"n1", "n2"}

    def cancel() -> None:
        while not cluster.arrays:
            pass
        cluster.cancel()

    other = threading.Thread(target=cancel)
    other.start()
    assert on_cluster(submissions(ada="")).exit_code == 3
    other.join()
    assert len(cluster.arrays) == 1
    assert "its job was cancelled on the cluster" in journal_rows(in_checkout, "SELECT document FROM record")[0][0]


def test_a_task_that_is_put_back_goes_on_behind_its_tests(
    in_checkout: Layout, submissions: Class, cluster: StandIn
) -> None:
    """The first time it is killed after two of six tests, which are not run again."""
    killed: list[str] = []

    def work(shared: SharedFolder, name: str, node_name: str, processors: int) -> None:
        grade_batch(shared, name, node_name, processors)
        if killed:
            return
        order = shared.batch(name)["orders"][0]["name"]
        tests = shared.tests_path(order).read_text().splitlines()
        killed.extend(json.loads(json.loads(line)["text"])["test"]["name"] for line in tests[:2])
        shared.drop_result(order)
        shared.tests_path(order).write_text("\n".join(tests[:2]) + '\n{"key": "cut sho')
        raise RuntimeError

    cluster.is_held = {"n1", "n2"}
    cluster.work, cluster.is_held = work, set()
    assert on_cluster(submissions(ada="")).exit_code == 0
    ran = [line.removeprefix("test ada ") for line in log(in_checkout) if line.startswith("test ada ")]
    assert len(ran) == 6 + 4
    assert [ran.count(name) for name in killed] == [1, 1]


# Settings.


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[cpu]\npartitoin = 'x'", 'cpu: partitoin: unknown key; did you mean "partition"?'),
        ("[cpu]\nminutes = 0", "cpu: minutes: expected at least 1, got 0"),
        ("[gpu]\nexclusive = 1", "gpu: exclusive: "),
        ("array = 5", "array: expected a table"),
        ("= 5", "Invalid statement"),
    ],
)
def test_mistakes_in_cluster_toml_are_told(
    in_checkout: Layout, submissions: Class, cluster: StandIn, tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "my.toml"
    path.write_text(text)
    result = on_cluster(submissions(ada=""), "--cluster", str(path))
    assert result.exit_code == 1
    assert said in re.sub(r"\[|\]", "", str(result.exception)).replace("my.toml ", "")


def test_options_of_a_cluster_need_one(in_checkout: Layout, submissions: Class) -> None:
    result = grade(submissions(ada=""), "--cancel")
    assert result.exit_code == 1
    assert "Type the same command with --executor slurm" in str(result.exception)


def test_a_dry_run_shows_the_scripts(in_checkout: Layout, submissions: Class, cluster: StandIn) -> None:
    result = on_cluster(a_class(submissions), "--dry-run", "--device", "cuda")
    assert "7 tasks on CPU nodes for 7 submissions\n#SBATCH cpu 7" in result.output
    assert "#SBATCH gpu 7" in result.output
    assert not cluster.arrays
    assert not SHARED.exists()


def test_what_no_node_has_signed_is_no_result(tmp_path: Path) -> None:
    """Rejects another file under this name, a changed file, and one made by somebody without the key."""
    node, stranger = (SharedFolder(tmp_path, key) for key in ("the key", "another"))
    node.make()
    for name in ("ada", "grace"):
        node.put_result(name, {"record": name})
    head = SharedFolder(tmp_path, "the key")
    assert head.result("ada") == {"record": "ada"}
    results = tmp_path / "results"
    (results / "alan.json").write_bytes((results / "ada.json").read_bytes())
    changed = json.loads((results / "grace.json").read_text())
    changed["text"] = changed["text"].replace("grace", "ada")
    (results / "grace.json").write_text(json.dumps(changed))
    stranger.put_result("linus", {"record": "linus"})
    (results / "old.json").write_text(json.dumps({"sha256": "0" * 64, "text": "{}"}))
    for name in ("alan", "grace", "linus", "old"):
        with pytest.raises(InfrastructureError):
            head.result(name)


def test_a_planted_test_is_run_all_the_same(tmp_path: Path) -> None:
    shared = SharedFolder(tmp_path, "the key")
    shared.make()
    test = TestResult(
        message="", hint="", name="A", rung="one", verdict="PASS", seconds=0.0, output="", reproduce="", findings=()
    )
    for key in ("the key", "another"):
        own = _TestsFile(SharedFolder(tmp_path, key), "ada")
        own.add_tests("", "run", [replace(test, name=key)])
        own.close()
    with contextlib.closing(_TestsFile(shared, "ada")) as found:
        assert [one.name for one in found.tests("", "run")] == ["the key"]


def test_a_job_without_the_key_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(KEY, raising=False)
    with pytest.raises(GraderError, match="--export=ALL"):
        work(str(tmp_path), "batch")
