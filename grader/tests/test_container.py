"""The Dockerfile and the dev container: both name files that exist, and leave what is installed to harness/setup.sh.

test_clean_root.py runs the Dockerfile's steps, which takes minutes.
"""

import importlib.util
import json
import os
import re
import subprocess
from types import ModuleType

import pytest

from conftest import ROOT
from grader.base import sandbox

DEV = ROOT / ".devcontainer"
SCRIPTS = ROOT / "harness/dev/clean_root"


def _module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dockerfile", SCRIPTS / "dockerfile.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


DOCKERFILE = (ROOT / "Dockerfile").read_text()
STEPS = list(_module().instructions(DOCKERFILE))


def test_what_is_copied_and_run_exists() -> None:
    copied = [source for name, words in STEPS if name == "COPY" for source in words.split()[:-1]]
    assert copied[-1] == "."
    assert not [source for source in copied if not (ROOT / source).exists()]
    # Set-up's inputs are copied before the sources.
    set_up = (ROOT / "harness/setup.sh").read_text()
    read = set(re.findall(r"(?:harness|grader)/[\w-]+\.txt", set_up))
    of_options = {f"grader/requirements-{option}.txt" for option in re.findall(r"^ +--(\w+)\)", set_up, re.M)}
    assert {"grader/requirements-dev.txt", "grader/requirements-cluster.txt"} <= of_options & read
    assert read - of_options == {source for source in copied if source.endswith(".txt")}
    ran = [words.split()[0] for name, words in STEPS if name == "RUN"]
    assert ran == ["harness/setup.sh", "make"]
    assert os.access(ROOT / ran[0], os.X_OK)


def test_the_dev_container_is_the_dockerfiles_first_stage() -> None:
    settings = json.loads((DEV / "devcontainer.json").read_text())
    assert (DEV / settings["build"]["dockerfile"]).resolve() == ROOT / "Dockerfile"
    assert (DEV / settings["build"]["context"]).resolve() == ROOT
    assert f"AS {settings['build']['target']}" in DOCKERFILE
    program, target = settings["postCreateCommand"].split()
    assert program == "make"
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_its_steps_can_be_run_without_docker() -> None:
    module = _module()
    script = module.script(DOCKERFILE, "/context")
    for name, words in STEPS:
        if name == "RUN":
            assert words in script
    check = ["bash", "-n"]
    subprocess.run(check, input=script, text=True, check=True)
    with pytest.raises(SystemExit, match="ADD is unknown"):
        module.script("FROM x\nADD a b\n", "/context")


def test_a_container_without_namespaces_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(words: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        return subprocess.CompletedProcess(words, 1, "", "bwrap: No permissions to create new namespace\n")

    monkeypatch.setattr(sandbox.subprocess, "run", refused)
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(sandbox, "_CONTAINER_FILES", (str(ROOT / "Dockerfile"),))
    said = sandbox.why_no_sandbox.__wrapped__()
    assert "No permissions to create new namespace; this is a container" in said
    assert sandbox.CONTAINER_FLAGS in said
