"""`grader --help` with commands grouped by task; a seed option whose bounds are not listed."""

import click

from grader.base.secret import MOST_SEED

_SECTIONS = {
    "Grade a class": ("grade", "match", "report", "export", "leaderboard", "history", "similar", "seed", "repair"),
    "Let others grade or practise": ("autograder", "handout"),
    "Write assignments": ("new", "check", "mutate", "opponents", "ladder", "gpu-pages", "sample-class"),
}
# Commands of other graders, and the equivalent here.
MEANT = {
    "regrade": "grader grade SUBMISSIONS --out OUT --only STUDENT --again --reason WHY",
    "rerun": "grader grade SUBMISSIONS --out OUT --only STUDENT --again --reason WHY",
    "run": "grader grade SUBMISSIONS",
    "test": "grader check ASSIGNMENT, for authors; grader grade SUBMISSIONS, for a class",
    "publish": "grader export canvas --like FILE --out OUT",
    "plagiarism": "grader similar --out OUT",
    "moss": "grader similar --out OUT",
    "roster": "grader match SUBMISSIONS --roster FILE",
    "anonymize": "grader grade SUBMISSIONS --anonymous",
    "release": "grader handout DIR",
}


class Sectioned(click.Group):
    """A group whose help lists commands in sections."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command; for the name of another grader's command, raises UsageError saying what to type."""
        if args and args[0] in MEANT and self.get_command(ctx, args[0]) is None:
            raise click.UsageError(f"There is no command {args[0]}.\nType:  {MEANT[args[0]]}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the sections; commands that belong to none come last."""
        named = {name for names in _SECTIONS.values() for name in names}
        others = tuple(name for name in self.list_commands(ctx) if name not in named)
        for title, names in (*_SECTIONS.items(), ("Others", others)):
            commands = [(name, command) for name in names if (command := self.get_command(ctx, name)) is not None]
            if commands:
                with formatter.section(title):
                    formatter.write_dl([(name, command.get_short_help_str(120)) for name, command in commands])


def seed_in_range(_context: click.Context, _parameter: click.Parameter, seed: int | None) -> int | None:
    """The seed; raises click's error if it is out of range. The bounds are too long for a line of help."""
    if seed is not None and not 0 <= seed <= MOST_SEED:
        raise click.BadParameter(f"{seed} is not in the range 0<=x<={MOST_SEED}.")
    return seed
