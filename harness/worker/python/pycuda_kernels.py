"""Kernels, in the stand-in for PyCUDA: modules, functions and their prepared launches (pycuda_driver.py).

A prepared type that does not fit the kernel's parameter would be packed into the wrong bytes and launched all the same.
Here prepare() compares the types with the parameters that the PTX declares.
"""

import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

from pycuda_arrays import SCALARS, dtype_of, ndarray
from pycuda_driver import (
    DeviceAllocation,
    Event,
    LogicError,
    address_of,
    call,
    mem_alloc,
    memcpy_dtoh,
    memcpy_dtoh_async,
    memcpy_htod,
    memcpy_htod_async,
    stream_handle,
)  # fmt: skip

_cuda: Any
_files: dict[str, str]
if "_cuda" not in globals():  # when a tool only analyses this file
    _cuda, _files = None, {}

_DIMENSIONS = 3
_POINTER_BYTES = _SLOT_BYTES = 8
_LETTERS = {
    "P": "uint64", "i": "int32", "I": "uint32", "l": "int64", "L": "uint64", "q": "int64", "Q": "uint64", "h": "int16",
    "H": "uint16", "b": "int8", "B": "uint8", "f": "float32", "d": "float64", "N": "uint64", "n": "int64",
}  # fmt: skip
_ENTRY = re.compile(r"\.entry\s+(\w+)\s*\(([^)]*)\)")
_PARAMETER = re.compile(r"\.param\s+(?:\.align\s+\d+\s+)?\.([a-z])(\d+)(\s+\.ptr)?")


class _Parameter:
    """One of a kernel's parameters, as its PTX declares it."""

    def __init__(self, kind: str, bits: str, pointer: str) -> None:
        self.size, self.is_float, self.is_pointer = int(bits) // 8, kind == "f", bool(pointer)

    def __str__(self) -> str:
        if self.is_pointer:
            return "a pointer"
        if self.is_float:
            return f"a float of {self.size} bytes"
        return f"{'a pointer or ' if self.size == _POINTER_BYTES else ''}an integer of {self.size} bytes"


class ArgumentHandler:
    """An array on the host that a call copies to the device, back, or both."""

    goes_in = comes_out = False

    def __init__(self, array: ndarray) -> None:
        self.array = array


class In(ArgumentHandler):
    """Copied to the device before the kernel."""

    goes_in = True


class Out(ArgumentHandler):
    """Copied back after the kernel."""

    comes_out = True


class InOut(ArgumentHandler):
    """Copied to the device before the kernel, and back after it."""

    goes_in = comes_out = True


class Function:
    """A kernel."""

    def __init__(self, name: str, handle: int, parameters: Sequence[_Parameter]) -> None:
        self._name, self._handle, self._parameters = name, handle, parameters
        self._letters: str | None = None

    def prepare(self, arg_types: Any, texrefs: Any = None) -> "Function":
        """Sets the arguments' types: a letter of the module struct for each, or NumPy's types."""
        if texrefs:
            raise TypeError("prepare: texture references are not supported")
        letters = "".join(one if isinstance(one, str) else dtype_of(one).char for one in arg_types)
        said = f"prepare({letters!r})"
        for letter in letters:
            if letter not in _LETTERS:
                raise TypeError(f"{said}: no type has the letter {letter!r}")
        if len(letters) != len(self._parameters):
            wanted, given = len(self._parameters), len(letters)
            raise TypeError(f"{said}: {self._name} has {wanted} parameters, and these are {given} types")
        for place, (letter, parameter) in enumerate(zip(letters, self._parameters, strict=True), 1):
            of = SCALARS[_LETTERS[letter]]
            if of.itemsize != parameter.size or (letter in "fd") != parameter.is_float:
                what = f"{'a float' if letter in 'fd' else 'an integer'} of {of.itemsize} bytes"
                what = "a pointer" if letter == "P" else what
                raise TypeError(f"{said}: {letter!r} is {what}, and parameter {place} of {self._name} is {parameter}")
        self._letters = letters
        return self

    def prepared_call(self, grid: Any, block: Any, *args: Any, shared_size: int = 0) -> None:
        """Launches the kernel in the default stream."""
        self._launch("prepared_call", grid, block, self._slots(args), shared_size, None)

    def prepared_async_call(self, grid: Any, block: Any, stream: Any, *args: Any, shared_size: int = 0) -> None:
        """Launches the kernel in a stream."""
        self._launch("prepared_async_call", grid, block, self._slots(args), shared_size, stream)

    def prepared_timed_call(self, grid: Any, block: Any, *args: Any, shared_size: int = 0) -> Callable[[], float]:
        """As prepared_call(); returns a function that waits for the kernel and gives its time in seconds."""
        begin, end = Event(), Event()
        begin.record()
        self._launch("prepared_timed_call", grid, block, self._slots(args), shared_size, None)
        end.record()
        return lambda: end.synchronize().time_since(begin) * 1e-3

    def __call__(self, *args: Any, block: Any = None, grid: Any = (1, 1), stream: Any = None, shared: int = 0) -> None:
        """Launches the kernel without preparation: numbers are NumPy's, arrays on the host are In, Out or InOut."""
        if block is None:
            raise ValueError("must specify block size")
        handled = [(one, mem_alloc(one.array.nbytes)) for one in args if isinstance(one, ArgumentHandler)]
        for one, memory in handled:
            if one.goes_in:
                memcpy_htod(memory, one.array) if stream is None else memcpy_htod_async(memory, one.array, stream)
        memories = iter([memory for _, memory in handled])
        letters, values = "", []
        for place, value in enumerate(args):
            if isinstance(value, ArgumentHandler):
                letter, given = "P", next(memories)
            elif isinstance(value, DeviceAllocation) or hasattr(value, "gpudata"):
                letter, given = "P", getattr(value, "gpudata", value)
            elif hasattr(value, "dtype") and not isinstance(value, ndarray):
                letter, given = value.dtype.char, value
            else:
                raise TypeError(f"invalid type on parameter #{place} (0-based)")
            letters += letter
            values.append(given)
        slots = Function(self._name, self._handle, self._parameters).prepare(letters)._slots(values)
        self._launch("a call", grid, block, slots, shared, stream)
        for one, memory in handled:
            if one.comes_out:
                memcpy_dtoh(one.array, memory) if stream is None else memcpy_dtoh_async(one.array, memory, stream)

    def _slots(self, args: Sequence[Any]) -> bytes:
        if self._letters is None:
            raise TypeError(f"{self._name} was not prepared: prepare() sets its arguments' types")
        if len(args) != len(self._letters):
            raise TypeError(f"{self._name} was prepared for {len(self._letters)} arguments, and {len(args)} were given")
        pieces = []
        for place, (letter, value) in enumerate(zip(self._letters, args, strict=True), 1):
            what = f"argument {place} of {self._name} ({letter!r})"
            if letter == "P":
                plain: Any = address_of(value, what)
            elif letter not in "fd" and hasattr(value, "__index__"):
                plain = operator.index(value)
            else:
                plain = value
            pieces.append(SCALARS[_LETTERS[letter]].packed(plain, what).ljust(_SLOT_BYTES, b"\0"))
        return b"".join(pieces)

    def _launch(self, said: str, grid: Any, block: Any, slots: bytes, shared: int, stream: Any) -> None:
        if not isinstance(block, tuple) or len(block) != _DIMENSIONS:
            raise TypeError(f"{said}: the block is a tuple of three numbers, not {block!r}")
        if not isinstance(grid, tuple) or not 1 <= len(grid) <= _DIMENSIONS:
            raise TypeError(f"{said}: the grid is a tuple of up to three numbers, not {grid!r}")
        for what, lengths in (("grid", grid), ("block", block)):
            for one in lengths:
                if not hasattr(one, "__index__"):
                    raise TypeError(f"{said}: the {what} {lengths!r} has {one!r}, which is no integer")
                if not 0 <= operator.index(one) < 1 << 32:
                    raise OverflowError(f"{said}: the {what} {lengths!r} is out of range")
        grids, blocks = ((*map(operator.index, one), *(1,) * (_DIMENSIONS - len(one))) for one in (grid, block))
        call("cuLaunchKernel", _cuda.launch, self._handle, grids, blocks, stream_handle(stream), shared, slots)


class Module:
    """A module of kernels."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._parameters = {
            found[1]: [_Parameter(*one) for one in _PARAMETER.findall(found[2])] for found in _ENTRY.finditer(text)
        }

    def get_function(self, name: str) -> Function:
        """The kernel of that name."""
        if name not in self._parameters:
            there = ", ".join(sorted(self._parameters))
            raise LogicError(f"cuModuleGetFunction failed: named symbol not found: {name}; there are {there}")
        return Function(name, call("cuModuleLoad", _cuda.load, self._text, name), self._parameters[name])


def module_from_file(filename: str) -> Module:
    """The assignment's kernels, by the name of the file that nvcc makes of them."""
    if filename not in _files:
        raise LogicError(f"cuModuleLoad failed: file not found: {filename}; there is {', '.join(_files)}")
    return Module(_files[filename])
