"""The picture of docs/tutorials/find-a-race.md: the race that a run of its program finds, as its page shows it."""

import json
import re
import subprocess
import tempfile
from html import escape
from pathlib import Path

from grader.model.picture import WIDTH, of_finding
from grader.model.result import Finding, Memory, Place
from terminal import RunError

ROOT = Path(__file__).resolve().parents[3]
TUTORIAL = ROOT / "docs/tutorials/find-a-race.md"
FIGURE = ROOT / "docs/figures/race.svg"
_STYLE = """text { font: 12px system-ui, sans-serif; fill: #24292f; } .ground { fill: #fff; } .soft { fill: #57606a; }
.bad { fill: #b3241b; } .event { fill: #2459a9; } .rail { stroke: #57606a; stroke-width: 2; }
.gap { stroke: #b3241b; stroke-width: 1.5; stroke-dasharray: 5 4; }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3; } .ground { fill: #161b22; } .soft { fill: #9198a1; }
.bad { fill: #ff938a; } .event { fill: #86b4ff; } .rail { stroke: #9198a1; } .gap { stroke: #ff938a; } }"""


def drawn(page: str) -> str:
    """The picture of a page's first finding."""
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    found = json.loads(data[1])["findings"] if data else []
    if not found:
        raise RunError("the run of find-a-race.md found no race")
    first = found[0]
    places = tuple(
        Place("", place["line"], _point(place["block"]), _point(place["thread"]), place["access"])
        for place in first["places"]
    )
    finding = Finding(first["kind"], "", places, "", 1, first["missing"], Memory(space="", **first["memory"]))
    picture = of_finding(finding)
    if picture is None:
        raise RunError("there is nothing to draw of what find-a-race.md finds")
    paths = "".join(f'<path class="{style}" d="{path}"/>' for style, path in picture.paths)
    texts = "".join(
        f'<text x="{text.x:g}" y="{text.y:g}" text-anchor="{text.anchor}" class="{text.style}">'
        f"{escape(text.words)}</text>"
        for text in picture.texts
    )
    size = f'width="{1.5 * WIDTH:g}" height="{1.5 * picture.height:g}" viewBox="0 0 {WIDTH} {picture.height:g}"'
    return f"""<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">
<title>{escape(picture.told)}</title>
<style>
{_STYLE}
</style>
<rect width="100%" height="100%" rx="6" class="ground"/>
{paths}
{texts}
</svg>
"""


def write(build: Path) -> None:
    """Runs the tutorial's program and draws what was found."""
    program = re.search(r"^```cuda file=sum\.cu\n(.*?)^```$", TUTORIAL.read_text(), re.MULTILINE | re.DOTALL)
    if program is None:
        raise RunError("find-a-race.md has no program sum.cu")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "sum.cu"
        source.write_text(program[1])
        command = [str(ROOT / "lockstep"), "run", "--build", str(build), "--check", "--page", str(source)]
        subprocess.run(command, check=False, capture_output=True)
    FIGURE.write_text(drawn((build / "pages/sum.html").read_text()))


def _point(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.strip("()").split(","))
