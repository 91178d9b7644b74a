#!/usr/bin/env python3
"""How near the references come to what a GPU's memory allows, beside NVIDIA's own libraries.

Builds gpu_limits/ with the references, runs it on this machine's GPU and writes docs/reference/gpu-limits.md.

    harness/bench/gpu_limits.py            # on a machine with a GPU and the CUDA toolkit, cuBLAS included
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import tempfile
from pathlib import Path

from gpu_pages import HERE, REFERENCE_PAGES, ROOT, gpu_and_driver, run

_REFERENCES = {
    "reduction": "04_reduction",
    "scan": "05_scan",
    "transpose": "06_transpose",
    "circular shift": "03_circular_shift",
}
_BASES = {"read", "copy"}


def measure() -> list[dict[str, str]]:
    """The program's rows: task, size, what, microseconds, gb_s."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "limits"
        sources = [*sorted((HERE / "gpu_limits").glob("*.cu"))]
        includes = [f"-I{HERE / 'gpu_limits'}"]
        for name in _REFERENCES.values():
            sources += sorted((ROOT / "reference" / name).glob("*.cu"))
            includes.append(f"-I{ROOT / 'assignments' / name}")
        run(
            os.environ.get("NVCC", "nvcc"),
            *("-std=c++17", "-O3", "-arch=native", "--threads", "0"),
            *includes,
            *sources,
            "-lcublas",
            "-o",
            program,
        )
        return list(csv.DictReader(io.StringIO(run(program))))


def page(rows: list[dict[str, str]], gpu: str) -> str:
    """The page: a table a task."""
    lines = [
        "# At the limit",
        "",
        "The last rung of each ladder beside NVIDIA's libraries, and beside a plain read or copy of as many bytes: "
        "what the",
        "memory allows. Buffers take turns, so that no call finds its input in the cache.",
        "",
        f"{gpu}. Made by `harness/bench/gpu_limits.py`.",
    ]
    for task in _REFERENCES:
        own = [row for row in rows if row["task"] == task]
        columns = list(dict.fromkeys(row["what"] for row in own))
        sizes = list(dict.fromkeys(row["size"] for row in own))
        lines += ["", f"## {task.capitalize()}, GB/s", ""]
        known = {(row["size"], row["what"]): float(row["gb_s"]) for row in own}
        libraries = [what for what in columns if what not in _BASES | {"reference"}]
        base = next(what for what in columns if what in _BASES)
        ratios = [*(f"reference ÷ {what}" for what in libraries), f"reference ÷ {base}"]
        lines.append("| size | " + " | ".join([*columns, *ratios]) + " |")
        lines.append("|---|" + "---:|" * len([*columns, *ratios]))
        for size in sizes:
            if (size, "reference") not in known:
                continue
            reference = known[size, "reference"]
            cells = [f"{known[size, what]:.0f}" if (size, what) in known else "" for what in columns]
            for what in [*libraries, base]:
                # A copy does not depend on the shift: it is measured once.
                other = known.get((size, what)) or next(v for (_, w), v in known.items() if w == what)
                cells.append(f"{reference / other:.3f}")
            lines.append(f"| {size} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measures, and writes the page."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    text = page(measure(), gpu_and_driver())
    (REFERENCE_PAGES / "gpu-limits.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
