"""The stand-in for numba.cuda in a worker: what host code needs of it, on the module _lockstep_cuda.

The real Numba compiled the kernels when the worker was built (compile_kernels.py). What is left to the worker is to
launch them and to keep arrays in device memory, and that needs neither Numba nor NumPy. What is not here is refused by
name. Names that only kernels use can be imported, and say so where host code uses them.

The interpreter (interpreter.cc) runs this text with `_cuda`, `_submission_text` and `_pycuda_texts` defined, and then
calls `launch`. If the assignment gives the kernels, the submission sees the stand-in for PyCUDA (pycuda_*.py) instead.
The submission shares the process and can change all of it: the judge relies on nothing here.
"""

import array
import json
import math
import os
import signal
import struct
import sys
import types as python_types
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

_cuda: Any
_submission_text: str
_pycuda_texts: tuple[tuple[str, str], ...]  # names and sources, each of which imports those before it
if "_cuda" not in globals():  # when a tool only analyses this file
    _cuda = _submission_text = _pycuda_texts = None  # type: ignore[assignment]

_SOCKET, _STOPPED = 3, 40  # protocol/wire.h: where the judge listens, and the message for it
_MOST_TEXT = 240
_DIMENSIONS = 3


class _Type:
    """A type of Numba's and NumPy's: as `dtype`, as a conversion, and in signatures."""

    def __init__(self, name: str, form: str) -> None:
        self.name = name
        self.form = form  # of the module struct
        self.itemsize = struct.calcsize(form)

    def __repr__(self) -> str:
        return self.name

    def __call__(self, value: Any) -> Any:
        return struct.unpack(self.form, self.packed(value, "the value"))[0]

    def __getitem__(self, _item: object) -> "_Type":
        return self

    def packed(self, value: Any, what: str) -> bytes:
        """The value's bytes; raises TypeError or OverflowError where it is none of this type."""
        if self.form in "fd":
            if not isinstance(value, int | float):
                raise TypeError(f"{what}: expected a number, got {_kind_of(value)}")
            return struct.pack("<" + self.form, value)
        if not isinstance(value, int):
            raise TypeError(f"{what}: expected an integer, got {_kind_of(value)}")
        try:
            return struct.pack("<" + self.form, value)
        except struct.error:
            raise OverflowError(f"{what}: {value} does not fit {self.name}") from None


_TYPES = {
    name: _Type(name, form)
    for name, form in (
        ("bool_", "?"), ("int8", "b"), ("int16", "h"), ("int32", "i"), ("int64", "q"), ("uint8", "B"), ("uint16", "H"),
        ("uint32", "I"), ("uint64", "Q"), ("float32", "f"), ("float64", "d"),
    )
}  # fmt: skip
_ALIASES = {
    "boolean": "bool_", "b1": "bool_", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8",
    "u2": "uint16", "u4": "uint32", "u8": "uint64", "f4": "float32", "f8": "float64", "intc": "int32",
    "uintc": "uint32", "intp": "int64", "uintp": "uint64", "byte": "uint8", "double": "float64", "float_": "float64",
    "single": "float32",
}  # fmt: skip
_NAMED = _TYPES | {alias: _TYPES[name] for alias, name in _ALIASES.items()}


def _kind_of(value: object) -> str:
    if isinstance(value, DeviceNDArray):
        return f"a {value.ndim}-dimensional device array of {value.dtype}"
    return f"{type(value).__name__} {value!r}"[:80]


def _type_of(dtype: object) -> _Type:
    found = {int: "int64", float: "float64", bool: "bool_"}.get(dtype, dtype) if isinstance(dtype, type) else dtype
    if isinstance(found, str):
        found = _NAMED.get(found)
    if not isinstance(found, _Type):
        raise TypeError(f"{dtype!r} is no type for an array here: only {', '.join(_TYPES)} are")
    return found


class Stream:
    """A stream, until nothing refers to it any more."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def synchronize(self) -> None:
        """Waits for what is in the stream."""
        _cuda.synchronize_stream(self.handle)

    def __del__(self) -> None:
        if self.handle:
            _cuda.destroy_stream(self.handle)


def _handle(stream: object) -> int:
    if isinstance(stream, Stream):
        return stream.handle
    if stream in (0, None):
        return 0
    raise TypeError(f"expected a stream, got {_kind_of(stream)}")


class _Memory:
    """Allocated device memory, until nothing refers to it any more."""

    def __init__(self, size: int) -> None:
        self.address: int = _cuda.allocate(size)

    def __del__(self) -> None:
        if getattr(self, "address", 0):
            _cuda.free(self.address)


class DeviceNDArray:
    """A contiguous array in device memory."""

    def __init__(self, address: int, dtype: _Type, shape: Sequence[int], memory: _Memory | None = None) -> None:
        """`memory` is the allocation it is in; None: the judge's, which the program can't free."""
        self._address = address
        self._memory = memory  # keeps it allocated
        self.dtype = dtype
        self.shape = tuple(shape)
        self.ndim = len(self.shape)
        self.size = math.prod(self.shape)
        self.nbytes = self.size * dtype.itemsize
        self.strides = tuple(dtype.itemsize * math.prod(self.shape[k + 1 :]) for k in range(self.ndim))

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<device array of {self.dtype}, shape {self.shape}>"

    def __getitem__(self, item: object) -> Any:
        """A part of an array of one dimension, which shares its memory; or one element, copied to the host."""
        self._need_one_dimension("a part of an array")
        if isinstance(item, slice):
            begin, end, step = item.indices(self.size)
            if step != 1:
                raise TypeError("a part of a device array must have a step of 1")
            at = self._address + begin * self.dtype.itemsize
            return DeviceNDArray(at, self.dtype, (max(end - begin, 0),), self._memory)
        if not isinstance(item, int):
            raise TypeError(f"expected an index or a slice, got {_kind_of(item)}")
        if not -self.size <= item < self.size:
            raise IndexError(f"index {item} of an array of {self.size}")
        at = self._address + item % self.size * self.dtype.itemsize
        return struct.unpack("<" + self.dtype.form, _cuda.read(at, self.dtype.itemsize))[0]

    def __setitem__(self, _item: object, _value: object) -> NoReturn:
        raise TypeError("host code can't store to elements of a device array: copy_to_device, or a kernel, can")

    def copy_to_host(self) -> "array.array[Any]":
        """The elements, in Python's own array."""
        self._need_one_dimension("copy_to_host")
        if self.dtype.form == "?":
            raise TypeError("copy_to_host is not supported for booleans")
        return array.array(self.dtype.form, _cuda.read(self._address, self.nbytes))

    def copy_to_device(self, source: object, stream: object = 0) -> None:
        """Copies from another device array or from the host."""
        if isinstance(source, DeviceNDArray):
            if (source.dtype, source.shape) != (self.dtype, self.shape):
                raise ValueError(f"{source!r} can't be copied to {self!r}")
            _cuda.copy(self._address, source._address, self.nbytes, _handle(stream))
            return
        data = _host_bytes(source, self.dtype)
        if len(data) != self.nbytes:
            raise ValueError(f"{len(data)} bytes can't be copied to {self!r}")
        _cuda.write(self._address, data, _handle(stream))

    def slots(self) -> bytes:
        """The parameters that a kernel of Numba's has for an array."""
        numbers = (0, 0, self.size, self.dtype.itemsize, self._address, *self.shape, *self.strides)
        return struct.pack(f"<{len(numbers)}Q", *numbers)

    def _need_one_dimension(self, what: str) -> None:
        if self.ndim != 1:
            raise TypeError(f"{what} is supported for arrays of one dimension only; this one has {self.ndim}")


def _host_bytes(source: object, dtype: _Type) -> bytes:
    if isinstance(source, array.array):
        if source.typecode != dtype.form:
            raise TypeError(f"an array of type {source.typecode!r} can't be copied to one of {dtype}")
        return source.tobytes()
    if isinstance(source, bytes | bytearray):
        return bytes(source)
    if isinstance(source, list | tuple):
        return b"".join(dtype.packed(value, f"element {k}") for k, value in enumerate(source))
    raise _no_source(source)


def _no_source(source: object) -> TypeError:
    return TypeError(f"{_kind_of(source)} can't be copied to the device: a list or an array.array can")


def _device_array(shape: int | Sequence[int], dtype: object = "float64", stream: object = 0) -> DeviceNDArray:
    _handle(stream)
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    if not all(isinstance(length, int) and length >= 0 for length in lengths):
        raise ValueError(f"{shape!r} is no shape of an array")
    of = _type_of(dtype)
    size = math.prod(lengths) * of.itemsize
    memory = _Memory(size) if size else None
    return DeviceNDArray(memory.address if memory else 0, of, lengths, memory)


def _device_array_like(other: DeviceNDArray, stream: object = 0) -> DeviceNDArray:
    return _device_array(other.shape, other.dtype, stream)


def _to_device(source: object, stream: object = 0, copy: bool = True, to: DeviceNDArray | None = None) -> DeviceNDArray:
    """Copies to a new array, of an array.array's type or of the type of a list's numbers, or to the array `to`."""
    if not copy:
        raise TypeError("to_device copies")
    if to is None:
        if isinstance(source, array.array):
            dtype: object = next((one for one in _TYPES.values() if one.form == source.typecode), source.typecode)
        elif isinstance(source, list | tuple):
            dtype = "float64" if any(isinstance(value, float) for value in source) else "int64"
        else:
            raise _no_source(source)
        to = _device_array(len(source), dtype)
    to.copy_to_device(source, stream)
    return to


class _Kernel:
    """A kernel, as compile_kernels.py describes it; it is loaded at its first launch."""

    def __init__(self, description: dict[str, Any]) -> None:
        self._description = description
        self._handle = 0
        self.__name__ = description["name"]

    def __getitem__(self, configuration: object) -> Callable[..., None]:
        given = configuration if isinstance(configuration, tuple) else (configuration,)
        if not 2 <= len(given) <= 4:  # noqa: PLR2004
            raise ValueError(f"a launch is {self.__name__}[blocks, threads, stream, shared](…)")
        grid, block = (_dim3(what, value) for what, value in zip(("blocks", "threads"), given, strict=False))
        stream = _handle(given[2]) if len(given) > 2 else 0  # noqa: PLR2004
        shared = given[3] if len(given) > 3 else 0  # noqa: PLR2004

        def launched(*arguments: object) -> None:
            if not self._handle:
                self._handle = _cuda.load(self._description["ptx"], self.__name__)
            _cuda.launch(self._handle, grid, block, stream, shared, self._slots(arguments))

        return launched

    def __call__(self, *_arguments: object) -> NoReturn:
        raise TypeError(f"a kernel is launched, not called: {self.__name__}[blocks, threads](…)")

    def _slots(self, arguments: Sequence[object]) -> bytes:
        parameters = self._description["parameters"]
        if len(arguments) != len(parameters):
            raise TypeError(f"{self.__name__} takes {len(parameters)} arguments, not {len(arguments)}")
        pieces = []
        for place, (parameter, value) in enumerate(zip(parameters, arguments, strict=True), 1):
            what = f"argument {place} of {self.__name__}"
            if not parameter["dimensions"]:
                pieces.append(_TYPES[parameter["type"]].packed(value, what).ljust(8, b"\0"))
                continue
            wanted = (parameter["type"], parameter["dimensions"])
            if not isinstance(value, DeviceNDArray) or (value.dtype.name, value.ndim) != wanted:
                shape = f"{wanted[1]} dimension{'s' if wanted[1] > 1 else ''}"
                raise TypeError(f"{what}: expected a device array of {wanted[0]} with {shape}, got {_kind_of(value)}")
            pieces.append(value.slots())
        return b"".join(pieces)


def _dim3(what: str, value: object) -> tuple[int, ...]:
    lengths = value if isinstance(value, tuple | list) else (value,)
    if not 1 <= len(lengths) <= _DIMENSIONS or not all(isinstance(one, int) for one in lengths):
        raise TypeError(f"{what} of a launch: expected an integer or up to {_DIMENSIONS} of them, got {value!r}")
    if not all(0 <= one < 1 << 32 for one in lengths):
        raise ValueError(f"{what} of a launch: {value!r} is out of range")
    return (*lengths, *(1,) * (_DIMENSIONS - len(lengths)))


class _NotOnHost:
    """A name that only kernels may use, or that is not here at all."""

    def __init__(self, name: str, reason: str) -> None:
        self._name = name
        self._reason = reason

    def __getattr__(self, name: str) -> "_NotOnHost":
        if name.startswith("__"):
            raise AttributeError(name)
        return _NotOnHost(f"{self._name}.{name}", self._reason)

    def __getitem__(self, _item: object) -> NoReturn:
        raise TypeError(f"{self._name}: {self._reason}")

    def __call__(self, *_arguments: object, **_named: object) -> NoReturn:
        raise TypeError(f"{self._name}: {self._reason}")


_KERNELS_ALONE = "a launcher can't use this; kernels may use what Numba compiles"
_submission: dict[str, Any] = {}
_declared: list[_Kernel] = []  # in the order of their declarations


def _jit(signature: object = None, *_arguments: object, device: bool = False, **_options: object) -> Any:
    """As numba.cuda.jit, for functions that the build has seen in this order."""

    def declare(function: Callable[..., object]) -> object:
        if device or signature is None:
            return _NotOnHost(function.__name__, _KERNELS_ALONE)
        kernels, place = _submission["kernels"], len(_declared)
        code = function.__code__
        if place >= len(kernels) or (kernels[place]["name"], kernels[place]["line"]) != (
            function.__name__,
            code.co_firstlineno,
        ):
            raise RuntimeError(
                f"{function.__name__} was not compiled: every import must declare the same kernels in the same order"
            )
        _declared.append(_Kernel(kernels[place]))
        return _declared[-1]

    if isinstance(signature, python_types.FunctionType):
        function, signature = signature, None
        return declare(function)
    return declare


def _module(name: str, reason: str, **names: object) -> python_types.ModuleType:
    module = python_types.ModuleType(name)

    def missing(attribute: str) -> object:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return _NotOnHost(f"{name}.{attribute}", reason)

    module.__dict__.update(names, __getattr__=missing)
    sys.modules[name] = module
    return module


class _Void(_Type):
    """`void(int32[::1], int64)`, a signature as an object."""

    def __init__(self) -> None:
        super().__init__("void", "q")

    def __call__(self, *_types: object) -> "_Void":
        return self


def _make_modules() -> None:
    named = {**_NAMED, "void": _Void(), "none": _Void()}
    of_types = _module("numba.types", _KERNELS_ALONE, **named)
    cuda = _module(
        "numba.cuda",
        _KERNELS_ALONE,
        jit=_jit,
        device_array=_device_array,
        device_array_like=_device_array_like,
        to_device=_to_device,
        synchronize=_cuda.synchronize,
        stream=lambda: Stream(_cuda.create_stream()),
        default_stream=lambda: Stream(0),
        CudaAPIError=_cuda.CudaAPIError,
    )
    _module("numba", _KERNELS_ALONE, **named, types=of_types, cuda=cuda, __path__=[])
    numpy_types = {name: of for name, of in named.items() if name not in ("void", "none", "boolean")}
    _module("numpy", "a launcher can use only NumPy's element types", **numpy_types)


def _load_pycuda(files: dict[str, str]) -> Callable[[Any], object]:
    """Makes the modules of PyCUDA, and returns what converts a launcher's arguments."""
    given = {"_cuda": _cuda, "_files": files, "types": _NAMED, "type_of": _type_of}
    for name, text in _pycuda_texts:
        sys.modules[name] = module = python_types.ModuleType(name)
        module.__dict__.update(given)
        exec(compile(text, f"<{name}>", "exec"), module.__dict__)  # noqa: S102
    module.make_modules()
    for name, _ in _pycuda_texts:
        del sys.modules[name]
    converts: Callable[[Any], object] = module.argument
    return converts


def _import_submission() -> python_types.ModuleType:
    """The submission's module. Its path is the one that the compiler saw, so that all messages agree."""
    _submission.update(json.loads(_submission_text))
    if "files" in _submission:
        _convert.append(_load_pycuda(_submission["files"]))
    else:
        _make_modules()
        _convert.append(_argument)
    path, name = _submission["path"], _submission["module"]
    module = python_types.ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    exec(compile(_submission["source"], path, "exec"), module.__dict__)  # noqa: S102
    return module


def _site(frames: Sequence[tuple[str, int]]) -> str:
    """The submission's innermost line; `frames` begin with the outermost."""
    own = [line for file, line in frames if file == _submission.get("path")]
    return f"{_submission['path']}:{own[-1]}" if own else ""


def _end(site: str, exception: str) -> NoReturn:
    texts = [text.encode("utf-8", "replace") for text in (site, exception)]
    payload = b"\0" + b"".join(struct.pack("<Q", len(text)) + text for text in texts)
    os.write(_SOCKET, struct.pack("<IHH", len(payload), _STOPPED, 0) + payload)
    os._exit(1)


def _end_with(site: str, error: BaseException) -> NoReturn:
    said = " ".join(f"{type(error).__name__}: {error}".split())[:_MOST_TEXT]
    _end(site, said)


def _say_where(_signal: int, frame: python_types.FrameType | None) -> None:
    """Called when a launcher has not returned in time."""
    frames = []
    while frame is not None:
        frames.append((frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    site = _site(frames[::-1])
    if site:
        _end(site, "")
    os._exit(1)


def _print_error(error: BaseException) -> str:
    """Prints the submission's part of the traceback, and gives the line."""
    import linecache  # noqa: PLC0415  # only where something went wrong
    import traceback  # noqa: PLC0415

    path = _submission.get("path", "")
    text = _submission.get("source", "")
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == path]
    sys.stderr.write("".join(["Traceback (most recent call last):\n", *traceback.format_list(own)]))
    sys.stderr.write("".join(traceback.format_exception_only(error)))
    return _site([(frame.filename, frame.lineno or 0) for frame in frames])


_imported: list[python_types.ModuleType] = []
_convert: list[Callable[[Any], object]] = []  # converts a launcher's arguments


def _argument(given: Any) -> object:
    return DeviceNDArray(given[0], _TYPES[given[1]], given[2]) if isinstance(given, tuple) else given


def launch(name: str, arguments: Sequence[Any]) -> None:
    """Calls the submission's function; interpreter.cc calls this one."""
    try:
        if not _imported:
            signal.signal(signal.SIGXCPU, _say_where)
            _imported.append(_import_submission())
        getattr(_imported[0], name)(*map(_convert[0], arguments))
    except _cuda.CudaAPIError as error:
        site = _print_error(error)  # the judge finds the error itself
        if not getattr(error, "is_of_cuda", True):
            _end_with(site, error)
    except BaseException as error:
        _end_with(_print_error(error), error)
