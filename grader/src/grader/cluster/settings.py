"""cluster.toml: the resources to request from a cluster, and how much to queue at once."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from grader.base.errors import GraderError
from grader.base.schema import Fields, SchemaError

NAME = "cluster.toml"
CPU, GPU = "cpu", "gpu"
_MOST_TASKS = 1001  # of an array: the default limit in Slurm
_MINUTES = 60
_LEAST_TASKS = 32  # of an array, if there are that many submissions


@dataclass(frozen=True)
class Resources:
    """The resources that one array task requests: a node of the partition for `minutes`, with `cpus` and `memory_gb`.

    It grades `submissions` of one assignment. An empty `partition`, `account` or `qos` means the cluster's default.
    `options` are further sbatch options, by name.
    """

    partition: str = ""
    account: str = ""
    qos: str = ""
    minutes: int = _MINUTES
    cpus: int = 2
    memory_gb: int = 12
    submissions: int = 8
    gres: str = ""
    exclusive: bool = False
    options: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ClusterSettings:
    """The contents of cluster.toml.

    `shared` is a folder that the head and all nodes see under the same path; None: `cluster` in the results' folder. An
    array has at most `array_most` tasks, of which `array_at_once` run at a time.
    """

    cpu: Resources = Resources()
    gpu: Resources = Resources(gres="gpu:1", exclusive=True)
    shared: Path | None = None
    array_most: int = _MOST_TASKS
    array_at_once: int = 256

    def size(self, part: str, submissions: int) -> int:
        """How many of an assignment's submissions one task grades, chosen so that every node gets some."""
        return max(1, min(self.resources(part).submissions, -(-submissions // _LEAST_TASKS)))

    def resources(self, part: str) -> Resources:
        """The resources for a part of the work: CPU or GPU."""
        return self.gpu if part == GPU else self.cpu


def read_cluster(path: Path) -> ClusterSettings:
    """Reads the file; raises GraderError if it can't be read or has an unknown key."""
    try:
        fields = Fields(tomllib.loads(path.read_text(encoding="utf-8")), path.name)
        shared = fields.text("shared", "")
        array = fields.table("array") if fields.has("array") else Fields({}, path.name)
        settings = ClusterSettings(
            cpu=_resources(fields, CPU, ClusterSettings.cpu),
            gpu=_resources(fields, GPU, ClusterSettings.gpu),
            shared=(path.parent / shared).resolve() if shared else None,
            array_most=array.whole("most", _MOST_TASKS, least=1),
            array_at_once=array.whole("at_once", ClusterSettings.array_at_once, least=1),
        )
        array.finish()
        fields.finish()
    except OSError as error:
        raise GraderError(f"{path} can't be read: {error.strerror}.\nType:  --cluster FILE") from error
    except (SchemaError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise GraderError(f"{error} ({path}).\nSee docs/how-to/grade-on-a-cluster.md") from error
    return settings


def _resources(fields: Fields, part: str, default: Resources) -> Resources:
    if not fields.has(part):
        return default
    own = fields.table(part)
    made = Resources(
        partition=own.text("partition", default.partition),
        account=own.text("account", default.account),
        qos=own.text("qos", default.qos),
        minutes=own.whole("minutes", default.minutes, least=1),
        cpus=own.whole("cpus", default.cpus, least=1),
        memory_gb=own.whole("memory_gb", default.memory_gb, least=1),
        submissions=own.whole("submissions", default.submissions, least=1),
        gres=own.text("gres", default.gres),
        exclusive=own.flag("exclusive", default.exclusive),
        options=own.words("options") if own.has("options") else {},
    )
    own.finish()
    return made
