"""Compiles the kernels of a Python submission with the real Numba, for worker/build.sh; no GPU and no driver is needed.

    compile_kernels.py --source shift.py --assignment DIR --out FILE [--arch 80]

The submission's file is run as it will be run in the worker, except that each `@cuda.jit("void(…)")` is compiled to PTX
with line numbers at once, as Numba does. FILE gets JSON: the path, the source, and the name, line, PTX and parameters
of each kernel, in the order of their declarations. The worker's stand-in for Numba (stand_in.py) reads it.

Errors in the file are reported in nvcc's form, "shift.py(12): error: …", and the status is 1. A submission can write
what it likes into FILE: the worker that is made from it is not trusted.
"""

import argparse
import importlib
import json
import re
import sys
import tomllib
import traceback
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

_OPTIONS = {"fastmath", "opt", "lineinfo"}  # of a kernel's declaration
_TYPES = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"}
_OF_THE_DEVICE = {"vprintf", "malloc", "free", "__assertfail"}  # what PTX may leave to the device
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MOST_LINES = 12  # of Numba's message


class _Source:
    """The submission's file; its path names the lines in all messages."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.name = path.name
        self.text = ""

    def refuse(self, line: int, said: str, more: str = "") -> NoReturn:
        """Ends the build with a message that names the line, and shows it."""
        lines = self.text.splitlines()
        shown = f"\n{lines[line - 1].rstrip()}" if 1 <= line <= len(lines) else ""
        where = f"{self.name}({line})" if line else self.name
        print(f"{where}: error: {said}{shown}" + (f"\n\n{more}" if more else ""), file=sys.stderr)
        sys.stderr.flush()
        sys.exit(1)

    def line_of(self, error: BaseException) -> int:
        """The innermost of the file's lines in the traceback."""
        own = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == self.path]
        return own[-1] or 0 if own else 0


class _Compiler:
    """Replaces numba.cuda.jit."""

    def __init__(self, source: _Source, capability: tuple[int, int]) -> None:
        # Imported after the file's syntax was checked, as it takes seconds.
        cuda, dispatcher = (importlib.import_module(name) for name in ("numba.cuda", "numba.cuda.dispatcher"))
        self.kernels: list[dict[str, Any]] = []
        self._source = source
        self._capability = capability
        self._cuda: Any = cuda
        self._normalise: Any = importlib.import_module("numba.core.sigutils").normalize_signature
        self._jit: Any = cuda.jit
        # Numba compiles functions that kernels call for the current device; here there is none.
        device = types.SimpleNamespace(compute_capability=capability)
        vars(dispatcher)["get_current_device"] = lambda: device
        vars(cuda)["jit"] = self.jit

    def jit(self, signature: Any = None, **options: Any) -> Any:
        """The decorator: compiles kernels, and leaves functions of the device to Numba."""
        if options.get("device"):
            return self._jit(signature, **options)
        if isinstance(signature, types.FunctionType):
            self._refuse_without_signature(signature)

        def declare(function: types.FunctionType) -> Callable[..., NoReturn]:
            if signature is None:
                self._refuse_without_signature(function)
            self._compile(function, signature, options)

            def launched(*_arguments: object) -> NoReturn:
                raise TypeError(f"{function.__name__} is launched by launchers only, not while the file is imported")

            return launched

        return declare

    def _refuse_without_signature(self, function: types.FunctionType) -> NoReturn:
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        example = ", ".join("int32[::1]" if name.startswith("d_") else "int64" for name in names)
        self._source.refuse(
            function.__code__.co_firstlineno,
            f"the kernel {function.__name__} has no signature",
            f'The types of its parameters are needed, as in @cuda.jit("void({example})").\n'
            "A function that kernels call is declared by @cuda.jit(device=True).",
        )

    def _compile(self, function: types.FunctionType, signature: Any, options: dict[str, Any]) -> None:
        line, name = function.__code__.co_firstlineno, function.__name__
        if function.__code__.co_filename != self._source.path:
            self._source.refuse(line, f"{name} is not in this file")
        if not _WORD.fullmatch(name):
            self._source.refuse(line, f"the name of a kernel has the letters a to z, digits and _ only: {name}")
        if unknown := sorted(set(options) - _OPTIONS):
            self._source.refuse(line, f"{name}: the option {unknown[0]} can't be used here")
        if isinstance(signature, list | tuple) and not hasattr(signature, "args"):
            self._source.refuse(line, f"{name}: one signature for each kernel, please, not a list")
        try:
            arguments, result = self._normalise(signature)
        except Exception as error:  # Numba evaluates the text
            self._source.refuse(line, f"{name}: the signature {signature!r} can't be read: {error}")
        if result is not None and str(result) != "none":
            self._source.refuse(line, f"{name}: a kernel returns nothing, so its signature begins with void")
        parameters = [self._parameter(line, name, place, of) for place, of in enumerate(arguments, 1)]
        try:
            ptx, _ = self._cuda.compile(
                function, signature, cc=self._capability, device=False, abi="numba", output="ptx", lineinfo=True,
                fastmath=bool(options.get("fastmath")), opt=options.get("opt", True),
            )  # fmt: skip
        except Exception as error:  # Numba's own are of many classes
            self._refuse_kernel(name, line, error)
        for called in re.findall(r"\.extern \.func[^;]*?\b(\w+)\s*\([^;]*;", ptx):
            if called not in _OF_THE_DEVICE:
                self._source.refuse(
                    line, f"in the kernel {name}: {called}() is linked from elsewhere, which is not supported"
                )
        self.kernels.append(
            {"name": name, "line": line, "parameters": parameters, "ptx": _renamed(ptx, name, parameters)}
        )

    def _parameter(self, line: int, kernel: str, place: int, of: Any) -> dict[str, Any]:
        """A parameter's type, and how many dimensions it has as an array; 0 for a number."""
        dimensions = int(getattr(of, "ndim", 0))
        element = of.dtype if dimensions else of
        name = {"bool": "bool_", "boolean": "bool_"}.get(str(element), str(element))
        layout = str(getattr(of, "layout", "C"))
        if name not in {*_TYPES, "bool_"} or (dimensions > 1 and layout == "F"):
            self._source.refuse(
                line,
                f"{kernel}: parameter {place} is a {of}, and a launcher can pass numbers and arrays of numbers only",
            )
        return {"type": name, "dimensions": dimensions}

    def _refuse_kernel(self, kernel: str, first_line: int, error: Exception) -> NoReturn:
        text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
        found = [
            int(match[2])
            for match in re.finditer(r'File "([^"\n]*)", line (\d+)', text)
            if Path(match[1]).name == self._source.name
        ]
        line = found[0] if found else getattr(getattr(error, "loc", None), "line", 0) or first_line
        said = [one.strip() for one in text.splitlines() if one.strip() and not one.startswith("Failed in cuda mode")]
        head = said[0] if said else type(error).__name__
        more = [one for one in said[1:_MOST_LINES] if not one.startswith(("File ", "During:", "<source elided>", "^"))]
        details = [one for one in more if one not in self._source.text]
        self._source.refuse(line, f"in the kernel {kernel}: {head}", "\n".join(details))


def _renamed(ptx: str, name: str, parameters: list[dict[str, Any]]) -> str:
    """The PTX with the kernel's own name, without the variables that Numba declares for Python's environments."""
    entry = re.search(r"\.visible \.entry (\w+)\(([^)]*)\)", ptx)
    if entry is None:
        raise RuntimeError("Numba's PTX has no kernel")
    wanted = sum(5 + 2 * one["dimensions"] if one["dimensions"] else 1 for one in parameters)
    if entry[2].count(".param") != wanted:
        raise RuntimeError(f"Numba's PTX has {entry[2].count('.param')} parameters, and not {wanted}")
    for line, variable in re.findall(r"^(\.common \.global \.align 8 \.u64 (_ZN08NumbaEnv\w+);\n)", ptx, re.MULTILINE):
        if ptx.count(variable) == 1:
            ptx = ptx.replace(line, "")
    return re.sub(rf"(?<!\w){entry[1]}(?=\b|_param_)", name, ptx)


def _check_launchers(source: _Source, module: types.ModuleType, assignment: Path) -> None:
    """Each rung's launcher has to be there."""
    document = tomllib.loads((assignment / "assignment.toml").read_text(encoding="utf-8"))
    for rung in document.get("rung", []):
        if not callable(getattr(module, rung["id"], None)):
            source.refuse(0, f"the function {rung['id']} is missing, which the tests call")


def main() -> int:
    """Compiles one file."""
    parser = argparse.ArgumentParser()
    for flag in ("--source", "--assignment", "--out"):
        parser.add_argument(flag, type=Path, required=True)
    parser.add_argument("--arch", default="80")
    arguments = parser.parse_args()
    source = _Source(arguments.source)
    try:
        source.text = arguments.source.read_text(encoding="utf-8")
        code = compile(source.text, source.path, "exec")
    except SyntaxError as error:
        source.refuse(error.lineno or 0, f"{error.msg}")
    except ValueError as error:  # no UTF-8, a zero byte
        source.refuse(0, str(error))
    warnings.simplefilter("ignore")
    compiler = _Compiler(source, (int(arguments.arch[:-1]), int(arguments.arch[-1])))
    module = types.ModuleType(arguments.source.stem)
    module.__file__ = source.path
    sys.modules[module.__name__] = module
    try:
        exec(code, module.__dict__)  # noqa: S102
    except (Exception, KeyboardInterrupt) as error:
        source.refuse(source.line_of(error), f"{type(error).__name__}: {error}")
    _check_launchers(source, module, arguments.assignment)
    written = {
        "path": source.path,
        "module": module.__name__,
        "source": source.text,
        "kernels": compiler.kernels,
    }
    arguments.out.write_text(json.dumps(written), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
