"""`grader opponents` and `grader gpu-pages`, which make the results of a run on a GPU."""

import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path

import click
from rich.markup import escape

from grader.authoring.check import SEED
from grader.authoring.gpu_ladders import (
    RECORDED,
    Recorded,
    gpu_ladders_page,
    measure_on_gpu,
    model_ladder,
    read_recorded,
    recorded_text,
)
from grader.authoring.gpu_results import OPPONENTS, corpus_document, load_run, results_page
from grader.authoring.in_order import InOrder
from grader.authoring.ladder import ladder_assignments
from grader.authoring.opponents import CorpusEntry, Met, corpus_text, find_corpus, run_corpus
from grader.authoring.shard import ALL, Shard
from grader.authoring.unity import UnityBuilds
from grader.base.errors import GraderError
from grader.base.files import write_atomic
from grader.base.layout import find_layout
from grader.base.toolchain import find_toolchain
from grader.commands.common import (
    FOLDER,
    WRONG_STATUS,
    at_work,
    build_option,
    device_option,
    is_sandboxed,
    jobs_option,
    known_assignments,
    make_console,
    need_gpu,
    no_sandbox_option,
    shard_option,
    show_finding,
    split_jobs,
)
from grader.model.assignment import load_assignment
from grader.running.bench import Bench, prepare
from grader.running.gpu_gate import GpuGate
from grader.running.progress import Quiet
from grader.running.run import RunSettings
from grader.running.worker_cache import WorkerCache


@click.command(short_help="Are hostile solutions defeated?")
@click.argument("names", metavar="[ASSIGNMENT]...", nargs=-1)
@device_option
@click.option("--out", type=FOLDER, default=Path("out/opponents"), show_default=True, help="Where the journal is.")
@click.option("--only", metavar="GLOB", multiple=True, help="Run only these, such as 'hostile/greets_*'; repeatable.")
@shard_option
@jobs_option
@no_sandbox_option
@build_option
def opponents(
    names: tuple[str, ...],
    device: str,
    out: Path,
    only: tuple[str, ...],
    shard: Shard,
    jobs: int | None,
    no_sandbox: bool,
    build: Path | None,
) -> None:
    """Runs the hostile solutions of reference/ASSIGNMENT/hostile, and says whether each gets the verdict it must get.

    With --device cuda the GPU's judge must reach it without the virtual GPU's help, and some solutions must also be no
    faster than the reference. Otherwise the virtual GPU must reach it. A stopped run continues where it was.

    \b
    Examples:
      grader opponents --device cuda
      grader opponents 04_reduction

    Status: 0 all defeated, 1 some not.
    """
    console, layout = make_console(), find_layout(build)
    sandboxed = is_sandboxed(no_sandbox)
    toolchain = find_toolchain(layout)
    jobs, threads = split_jobs(jobs)
    assignments = [load_assignment(layout.assignment(name)) for name in known_assignments(layout, names)]
    listed = [(assignment, *find_corpus(layout, assignment)) for assignment in assignments]
    unreadable = [problem for *_, problems in listed for problem in problems]
    for problem in unreadable:
        show_finding(console, problem)
    with at_work(out) as (journal, stop):
        benches: list[tuple[Bench, list[CorpusEntry]]] = []
        cache, gate = WorkerCache(layout), GpuGate()
        for assignment, every, _ in listed:
            found = [one for one in every if not only or any(fnmatchcase(one.submission.folder, glob) for glob in only)]
            found = [one for one in found if shard.holds(one.submission.folder)]
            if found:
                need_gpu(layout, [assignment], device)
                settings = RunSettings(SEED, device, threads, sandboxed, alone=device == "cuda")
                bench = prepare(layout, toolchain, assignment, settings, (out / "work").resolve(), stop, cache.build)
                benches.append((replace(bench, gpu=gate), found))
        left = [len(found) for _, found in benches]
        shown = InOrder(
            [bench.assignment for bench, _ in benches],
            lambda assignment: console.print(f"[bold]{escape(assignment.id)}[/]", highlight=False),
            lambda finding: show_finding(console, finding),
        )

        def on_met(place: int, one: Met) -> None:
            shown.add(place, one.finding)
            left[place] -= 1
            if left[place] == 0:
                shown.finish(place)

        met = run_corpus(benches, journal, Quiet(), on_met, batches=UnityBuilds(cache), jobs=jobs, stop=stop)
    if not names and not only and shard == ALL:
        write_atomic(out / OPPONENTS, corpus_document(met, device))
    console.print(corpus_text(met), highlight=False)
    if unreadable or any(one.finding.problem for one in met):
        raise click.exceptions.Exit(WRONG_STATUS)


@click.command(name="gpu-pages", short_help="Writes the documentation's pages of a run on a GPU.")
@click.option("--out", type=FOLDER, default=Path("out/gpu"), show_default=True, help="Where `make gpu` keeps results.")
@click.option("--pages", type=FOLDER, default=Path("docs/records"), show_default=True, help="Where the pages go.")
@click.option("--measure/--no-measure", default=True, show_default=True, help="Time the ladders' rungs, too.")
@no_sandbox_option
@build_option
def gpu_pages(out: Path, pages: Path, measure: bool, no_sandbox: bool, build: Path | None) -> None:
    """Writes gpu-ladders.md from timing every rung of the ladders, and gpu-results.md from what `make gpu` found.

    Measured times are recorded in harness/dev/bench/recorded/ladders.csv. With --no-measure the pages are written from
    the recorded times, on any machine; gpu-results.md stays as it is unless --out has the results of a run.

    \b
    Examples:
      grader gpu-pages
      grader gpu-pages --no-measure
    """
    console, layout = make_console(), find_layout(build)
    toolchain = find_toolchain(layout)
    sandboxed = is_sandboxed(no_sandbox)
    chosen = ladder_assignments(layout)
    where = _gpu_and_driver() if measure else ""
    recorded = layout.root / RECORDED
    if measure:
        need_gpu(layout, [load_assignment(layout.assignment(chosen[0]))], "cuda")
        found = []
        for name in chosen:
            work = (out / "work" / name).resolve()
            try:
                found += measure_on_gpu(layout, toolchain, name, work, sandboxed=sandboxed)
            finally:
                shutil.rmtree(work, ignore_errors=True)
            console.print(f"  {name}: {len(found)} rungs timed so far", highlight=False)
        write_atomic(recorded, recorded_text(Recorded(where, {one.rung: one for one in found})))
    ladders = [model_ladder(layout, toolchain, name, sandboxed=sandboxed) for name in chosen]
    text = gpu_ladders_page(ladders, read_recorded(recorded), toolchain.nvcc_version)
    write_atomic(pages / "gpu-ladders.md", text)
    run = load_run(layout, out / "references", out / "class", out / "opponents")
    if run.references:
        page = pages / "gpu-results.md"
        old = page.read_text(encoding="utf-8") if page.is_file() else ""
        made = where or _gpu_and_driver()
        write_atomic(page, results_page(run, f"{made}, nvcc {toolchain.nvcc_version}", "make gpu", old))
    console.print(f"Wrote {pages}/gpu-ladders.md{' and gpu-results.md' if run.references else ''}", highlight=False)


def _gpu_and_driver() -> str:
    """The GPU's name, its driver version and the date; raises GraderError if there is no GPU."""
    command = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        raise GraderError(
            "nvidia-smi names no GPU here.\nThe pages of a GPU run are written on the machine that has one: make gpu"
        ) from None
    name, _, driver = said.partition(", ")  # parses a program's output
    return f"{name}, driver {driver}, {datetime.now(UTC).date()}"
