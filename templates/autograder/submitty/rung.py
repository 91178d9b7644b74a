"""Submitty's validator of a rung: reads what lockstep-rung printed, and writes validation_results.json."""

import json
from pathlib import Path

given = json.loads(Path("custom_validator_input.json").read_text(encoding="utf-8"))
printed = Path(given["testcase_prefix"], given["actual_file"])
text = (
    printed.read_text(encoding="utf-8", errors="replace") if printed.is_file() else ""
)
said, _, status = text.rpartition("lockstep-rung: ")
if status.strip() in ("0", "1"):  # 1: a test failed, or it does not compile
    passed = status.strip() == "0"
    data = {
        "score": int(passed),
        "message": said.strip(),
        "status": "success" if passed else "failure",
    }
    result = {"status": "success", "data": data}
else:
    result = {
        "status": "fail",
        "message": "The tests did not end: the grading system failed, or time was up.",
    }
Path("validation_results.json").write_text(json.dumps(result), encoding="utf-8")
