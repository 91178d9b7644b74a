"""Stands in for a suite: reads the "worker" through the prefix, and writes the result file as its lines say.

A source's lines: `slow SECONDS`, `fail RUNG VERDICT`, `value CRITERION NUMBER`, `time RUNG MICROSECONDS`,
`harness TIMES` (exit 3 that many times), `hog MEGABYTES` (that much memory), `busy SECONDS` (of work, before the first
test), `todo RUNG` (not begun), `print TEXT` (@ROOT@, @WORKER@: paths), `unfinished` (cut short), `garbage`.
With --device=cuda: `gpufail RUNG VERDICT`, `ratio CRITERION NUMBER`, `gputime CRITERION VERDICT` (what was wrong while
it was timed), `noisy TIMES` (inconclusive that many times), `stall TESTS` (after so many it waits to be killed, the
first time). If a file no_gpu is next to the executable, there is no GPU. The lines of a file noise there are added to
every source. Each run and each test is appended to runs.log there. Filters are a list to leave out, or one `*PART*`.
"""

import json
import os
import subprocess
import sys
import time
from fnmatch import fnmatchcase
from pathlib import Path

RUNGS = ("alpha_one", "beta_two", "gamma_bonus")
TESTS = ("LadderTest.SumsAll", "LadderTest.SumsNone")

arguments = dict(word[2:].partition("=")[::2] for word in sys.argv[1:])
log = Path(__file__).parent / "runs.log"


def say(text: str) -> None:
    with log.open("a") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())


names = [f"{test}/{rung}" for rung in RUNGS for test in TESTS]
if "gtest_list_tests" in arguments:
    if 'metric = "grace"' in (Path(arguments["assignment"]) / "assignment.toml").read_text():
        print('90_fake_suite: assignment.toml: [leaderboard] metric = "grace": "grace" is no counter')
        sys.exit(3)
    print("Running main() from somewhere")
    for test in TESTS:
        print(f"{test.split('.')[0]}.")
        for rung in RUNGS:
            print(f"  {test.split('.')[1]}/{rung}  # GetParam() = {rung}")
    print("Evidence.\n  Fast/beta_two")
    sys.exit(0)

on_gpu = arguments.get("device") == "cuda"
if on_gpu and (Path(__file__).parent / "no_gpu").exists():
    print("90_fake_suite: --device=cuda found no GPU (cudaErrorNoDevice); --device=vgpu needs none", file=sys.stderr)
    sys.exit(3)
if "edits" in arguments:
    sys.exit(3)  # no edit of its ladder is known
if arguments.get("gtest_filter") == "*-*":
    sys.exit(0)
prefix = Path(arguments["prefix"]).read_text().splitlines() if "prefix" in arguments else []
source = subprocess.run([*prefix, arguments["worker"]], capture_output=True, text=True, check=True).stdout
noise = Path(__file__).parent / "noise"
source += noise.read_text() if noise.exists() else ""
directives = [line.removeprefix("// ").split() for line in source.splitlines() if line.startswith("// ")]
who = next((words[1] for words in directives if words[0] == "who"), "?")
is_timing = arguments.get("gtest_filter", "").startswith("Timing.")
is_record = "record" in arguments
say(f"{'record' if is_record else 'time' if is_timing else 'gpu' if on_gpu else 'run'} {who}")
slow = next((float(words[1]) for words in directives if words[0] == "slow"), 0.0)
stall = next((int(words[1]) for words in directives if words[0] == "stall"), 0)
todo = {words[1] for words in directives if words[0] == "todo"}
fails = dict.fromkeys(todo, "WRONG") | {words[1]: words[2] for words in directives if words[0] == "fail"}
if on_gpu:
    fails = {words[1]: words[2] for words in directives if words[0] == "gpufail"}
values = {words[1]: float(words[2]) for words in directives if words[0] == "value"}
times = {words[1]: float(words[2]) for words in directives if words[0] == "time"}
printed = "\n".join(" ".join(words[1:]) for words in directives if words[0] == "print") or "<script>alert(1)</script>"
said = printed if "@ROOT@" in printed else ""  # by the judge, too
said = said.replace("@ROOT@", str(Path(__file__).parents[2])).replace("@WORKER@", arguments["worker"])
printed = printed.replace("@ROOT@", str(Path(__file__).parents[2])).replace("@WORKER@", arguments["worker"])
kinds = {words[0] for words in directives}

if "seed" in arguments:
    print(f"A ladder, seed {arguments['seed']}")
busy = next((float(words[1]) for words in directives if words[0] == "busy"), 0.0)
while time.process_time() < busy:
    pass
hoard = [b"x" * (int(words[1]) << 20) for words in directives if words[0] == "hog"]
for words in directives:
    if words[0] == "harness":
        count = log.read_text().splitlines().count(f"run {who}")
        if count <= int(words[1]):
            sys.exit(3)

chosen = arguments.get("gtest_filter", "*")
left_out = chosen.partition("-")[2].split(":")
wanted = chosen.partition("-")[0].rstrip(":") or "*"
document = {
    "format": 2,
    "assignment": "90_fake",
    "suite": "public",
    "seed": arguments.get("seed", "5"),
    "finished": False,
    "device": {"kind": "cuda", "profile": "", "name": "Real <b>GPU</b>", "threads": 1}
    if on_gpu
    else {"kind": "vgpu", "profile": "h200", "name": "Fake <b>GPU</b>", "threads": 1},
    "tests": [],
    "evidence": [],
    "profiles": [],
}


def save() -> None:
    temporary = Path(arguments["result"] + ".tmp")
    temporary.write_text("garbage" if "garbage" in kinds else json.dumps(document))
    temporary.replace(arguments["result"])


def is_chosen(name: str, rung: str) -> bool:
    is_wanted = fnmatchcase(name, wanted) and not any(fnmatchcase(name, pattern) for pattern in left_out)
    return is_wanted and arguments.get("rung", rung) in (rung, rung.partition("_")[0])


def is_settled(rung: str) -> bool:
    failed = [test for test in document["tests"] if test["rung"] == rung and test["verdict"] != "PASS"]
    return "one-failure" in arguments and any(not test["unfinished"] for test in failed)


for name in names:
    rung = name.partition("/")[2]
    if not is_chosen(name, rung) or is_settled(rung):
        continue
    time.sleep(slow)
    verdict = fails.get(rung, "PASS")
    finding = {
        "kind": "race",
        "kernel": "k<int>",
        "places": [{"file": "/somewhere/ladder.cu", "line": 2}],
        "text": "t",
        "count": 1,
    }
    document["tests"].append(
        {
            "name": name,
            "rung": rung,
            "verdict": verdict,
            "seconds": slow,
            "unfinished": rung in todo,
            "message": "" if verdict == "PASS" else f"{verdict}  {name}",
            "lines": [{"text": text} for text in ("<img src=x>", said) if text and verdict != "PASS"],
            "hint": "" if verdict == "PASS" else "think",
            "output": printed,
            "reproduce": f"make test TEST={name} SEED={document['seed']}",
            "findings": [finding] if verdict == "RACE" else [],
        }
    )
    say(f"{'gpu test' if on_gpu else 'test'} {who} {name}")
    save()
    if on_gpu and len(document["tests"]) == stall and not (Path(__file__).parent / "stalled").exists():
        (Path(__file__).parent / "stalled").touch()
        time.sleep(60)
    if "gtest_fail_fast" in arguments and verdict != "PASS":
        break
value = None if "beta_two" in fails else values.get("beta.fast", 1.0)
verdict = "WRONG" if value is None else "SLOW" if value > 2 else "PASS"
if is_chosen("Evidence.Fast/beta_two", "beta_two") and not is_settled("beta_two"):
    document["tests"].append({"name": "Evidence.Fast/beta_two", "rung": "beta_two", "verdict": "PASS"})
    document["evidence"] = [
        {
            "criterion": "beta.fast",
            "rung": "beta_two",
            "metric": "branches / blocks",
            "value": value,
            "verdict": verdict,
            "message": "" if verdict == "PASS" else f"{verdict}  Evidence.Fast/beta_two   beta_two",
            "lines": [] if verdict == "PASS" else [{"label": "counted", "text": str(value)}],
            "hint": "" if verdict == "PASS" else "less",
        }
    ]
counters = {"global_load_requests": 10, "global_load_sectors": 320, "global_load_sectors_ideal": 40, "branches": 4}
streamed = [("to_device", "copy", 0, 10), ("compute", "<b>k</b>", 10, 15), ("to_host", "copy", 15, 25)]
timeline = {
    "timeline_us": 35,
    "bound_us": 20,
    "serial_us": 50,
    "kernel_overlap_us": 10,
    "copy_overlap_us": 5,
    "one_engine_us": 50,
    "one_engine_bound_us": 40,
    "pageable_bytes": 0,
    "streams": 2,
    "operations": [
        {"engine": engine, "name": name, "stream": f"stream {k}", "bytes": 4096, "page_locked": True}
        | {"begin": begin + 10 * k, "end": end + 10 * k}
        for k in range(2)
        for engine, name, begin, end in streamed
    ],
}
lines = [{"file": "ladder.cu", "line": 2}, {"file": "<b>", "line": 3}]
change = {"technique": "coalesce", "text": "", "saved_microseconds": 0.25, "lines": lines}
limits = {"kernel": "k<b>", "microseconds": 1.0, "bound_by": "dram", "intensity": 0.5, "ridge": 14, "share": 0.41}
document["profiles"] = [
    {
        "rung": rung,
        "source": source_kind,
        "n": 1024,
        "microseconds": times.get(rung, 10.0) if source_kind == "submission" else 8.0,
        "counters": counters,
        "launches": [{"kernel": "k", "grid": [2, 1, 1], "block": [128, 1, 1], "microseconds": 1.0, "bound_by": "dram"}],
        "lines": [{"file": "/x/ladder.cu", "line": 1, "counters": counters}],
        "timeline": timeline,
        "advice": [{**limits, "changes": [change]}],
    }
    for rung in RUNGS
    if rung not in todo and arguments.get("rung", rung) in (rung, rung.partition("_")[0])
    for source_kind in ("submission", "reference")
    if not on_gpu
]
status = 0
if is_timing:
    time.sleep(slow)
    noisy = next((int(words[1]) for words in directives if words[0] == "noisy"), 0)
    wrong = {words[1]: words[2] for words in directives if words[0] == "gputime"}
    ratios = {words[1]: float(words[2]) for words in directives if words[0] == "ratio"}
    inconclusive = log.read_text().splitlines().count(f"time {who}") <= noisy
    ratio = ratios.get("beta.time", 1.0)
    verdict = "HARNESS" if inconclusive else wrong.get("beta.time", "PASS" if ratio >= 1 else "SLOW")
    status = 3 if inconclusive else 0
    measured = verdict in ("PASS", "SLOW", "HARNESS")
    document["timings"] = [
        {
            "criterion": "beta.time",
            "rung": "beta_two",
            "n": 4096,
            "bytes": 16_000_000,
            "repeats": 12 if measured else 0,
            "microseconds": 8.0 / ratio if measured else 0.0,
            "reference_microseconds": 8.0 if measured else 0.0,
            "copy_microseconds": 7.5 if measured else 0.0,
            "figure": {"value": ratio, "low": ratio - 0.01, "high": ratio + 0.02} if status == 0 and measured else None,
            "verdict": verdict,
            "message": f"{verdict}  Timing.Quick/beta_two   beta_two",
            "lines": [{"label": "found", "text": "something"}],
            "hint": "less",
            "throttled": ratio > 1,
            "gpu": {"SM clock, before": "1980 MHz", "driver, before": "580.1", "SM clock, after": "1965 MHz"},
        }
    ]
document["finished"] = "unfinished" not in kinds
ranked = {run["source"]: run["microseconds"] for run in document["profiles"] if run["rung"] == "beta_two"}
document["leaderboard"] = {
    "rung": "beta_two",
    "metric": "microseconds",
    "profile": "h200",
    "value": ranked.get("submission"),
    "reference": ranked.get("reference"),
}
save()
if "record" in arguments:
    figures = {key: document[key] for key in ("format", "assignment", "device")}
    figures["profiles"] = [profile for profile in document["profiles"] if profile["source"] == "submission"]
    Path(arguments["record"]).write_text(json.dumps(figures))
say(f"done {who}")
if is_timing:
    say(f"timed {who}")
if status:
    sys.exit(status)
print("\nEvidence at n = 1024\n")
sys.exit(1 if fails else 0)
