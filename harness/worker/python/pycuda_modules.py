"""Arrays in device memory, in the stand-in for PyCUDA, and the modules that a submission imports (pycuda_driver.py)."""

import operator
import sys
import types as python_types
from typing import Any, NoReturn

import pycuda_arrays
import pycuda_driver
import pycuda_kernels
from pycuda_arrays import SCALARS, bounds, dtype_of, empty, length_of, ndarray
from pycuda_driver import (
    kind_of,
    mem_alloc,
    memcpy_dtod,
    memcpy_dtoh,
    memcpy_dtoh_async,
    memcpy_htod,
    memcpy_htod_async,
    memset_d8,
    pagelocked_empty,
)  # fmt: skip

_cuda: Any
if "_cuda" not in globals():  # when a tool only analyses this file
    _cuda = None

_DOCUMENTED = "see docs/reference/pycuda.md"


class GPUArray:
    """An array of one dimension in device memory; a part of it shares the memory."""

    def __init__(self, shape: Any, dtype: object, gpudata: Any = None, base: Any = None) -> None:
        self.dtype = dtype_of(dtype)
        self.size = self.mem_size = length_of(shape)
        self.shape, self.ndim, self.itemsize = (self.size,), 1, self.dtype.itemsize
        self.nbytes = self.size * self.itemsize
        self.base = base
        self.gpudata = mem_alloc(self.nbytes) if gpudata is None and self.size else gpudata

    @property
    def ptr(self) -> int:
        """The address."""
        if self.gpudata is None:
            raise TypeError("an array without elements has no device memory, and neither has an empty part of one")
        return operator.index(self.gpudata)

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"GPUArray of {self.size} {self.dtype}"

    def __getitem__(self, item: Any) -> "GPUArray":
        if not isinstance(item, slice) and item is not Ellipsis:
            raise TypeError("a part of a GPUArray is array[a:b] here: copy to the host with get() to look at elements")
        begin, end = bounds(item, self.size)
        return GPUArray(end - begin, self.dtype, self.ptr + begin * self.itemsize, self)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"GPUArray.{name} is not there: {_DOCUMENTED}")

    def set(self, ary: Any) -> None:
        """Copies an array of the same length and type from the host."""
        self._check("set", ary)
        if self.size:
            memcpy_htod(self.gpudata, ary)

    def set_async(self, ary: Any, stream: Any = None) -> None:
        """The same, in a stream."""
        self._check("set_async", ary)
        if self.size:
            memcpy_htod_async(self.gpudata, ary, stream)

    def get(self, ary: Any = None) -> Any:
        """Copies the elements to the host, to `ary` or to a new array."""
        made = empty(self.size, self.dtype) if ary is None else ary
        self._check("get", made)
        if self.size:
            memcpy_dtoh(made, self.gpudata)
        return made

    def get_async(self, stream: Any = None, ary: Any = None) -> Any:
        """The same in a stream; a new array is page-locked."""
        made = pagelocked_empty(self.size, self.dtype) if ary is None else ary
        self._check("get_async", made)
        if self.size:
            memcpy_dtoh_async(made, self.gpudata, stream)
        return made

    def copy(self) -> "GPUArray":
        """A new array with the same elements."""
        made = GPUArray(self.shape, self.dtype)
        if self.size:
            memcpy_dtod(made.gpudata, self.gpudata, self.nbytes)
        return made

    def fill(self, value: Any) -> "GPUArray":
        """Stores the value to every element."""
        filled = empty(self.size, self.dtype)
        filled.fill(value)
        if self.size and len(set(held := bytes(filled.view.cast("B")))) == 1:
            memset_d8(self.gpudata, held[0], self.nbytes)
        else:
            self.set(filled)
        return self

    def _check(self, what: str, ary: Any) -> None:
        _check_host(what, ary)
        if ary.size != self.size:
            raise ValueError(f"{what}: the array on the host has {ary.size} elements, and this one {self.size}")
        if ary.dtype is not self.dtype:
            raise ValueError(f"{what}: the array on the host is of {ary.dtype}, and this one of {self.dtype}")


def _check_host(what: str, ary: Any) -> None:
    if not isinstance(ary, ndarray):
        raise TypeError(f"{what}: expected a NumPy array, got {kind_of(ary)}")


def _new(shape: Any, dtype: object) -> GPUArray:
    """A new array; without elements it has no memory."""
    return GPUArray(shape, dtype)


def _empty_like(other_ary: Any) -> GPUArray:
    """A new array of the same length and type."""
    return GPUArray(other_ary.shape, other_ary.dtype)


def _zeros_like(other_ary: Any) -> GPUArray:
    """A new array of zeros, of the same length and type."""
    return _zeros(other_ary.shape, other_ary.dtype)


def _zeros(shape: Any, dtype: object) -> GPUArray:
    """A new array of zeros; fails for no elements, as in PyCUDA."""
    made = GPUArray(shape, dtype)
    memset_d8(made.ptr, 0, made.nbytes)
    return made


def _to_gpu(ary: ndarray) -> GPUArray:
    """A new array with the elements of one on the host."""
    _check_host("to_gpu", ary)
    made = GPUArray(ary.shape, ary.dtype)
    made.set(ary)
    return made


def _to_gpu_async(ary: ndarray, allocator: Any = None, stream: Any = None) -> GPUArray:
    """The same, in a stream."""
    if allocator is not None:
        raise TypeError(f"to_gpu_async: the second argument is no allocator, but {kind_of(allocator)}; see stream=")
    _check_host("to_gpu_async", ary)
    made = GPUArray(ary.shape, ary.dtype)
    made.set_async(ary, stream)
    return made


class SourceModule:
    """Refused: nvcc has compiled the kernels before the worker starts."""

    def __init__(self, *_arguments: object, **_named: object) -> None:
        raise TypeError("SourceModule: the kernels are given here; module_from_file loads them")


def _module(name: str, **names: object) -> python_types.ModuleType:
    module = python_types.ModuleType(name)

    def missing(attribute: str) -> object:
        if not attribute.startswith("__"):
            raise AttributeError(f"{name}.{attribute} is not there: {_DOCUMENTED}")
        raise AttributeError(attribute)

    module.__dict__.update(names, __getattr__=missing)
    sys.modules[name] = module
    return module


_DRIVER = {
    pycuda_driver: (
        "Error", "MemoryError", "LogicError", "LaunchError", "RuntimeError", "DeviceAllocation", "Stream", "Event",
        "event_flags", "Context", "init", "mem_alloc", "mem_alloc_like", "memcpy_htod", "memcpy_htod_async",
        "memcpy_dtoh", "memcpy_dtoh_async", "memcpy_dtod", "memcpy_dtod_async", "memset_d8", "memset_d32", "to_device",
        "from_device", "from_device_like", "pagelocked_empty", "pagelocked_zeros", "pagelocked_empty_like",
        "pagelocked_zeros_like",
    ),
    pycuda_kernels: ("module_from_file", "Module", "Function", "In", "Out", "InOut"),
}  # fmt: skip
_ARRAYS = {
    "GPUArray": GPUArray,
    "empty": _new,
    "zeros": _zeros,
    "empty_like": _empty_like,
    "zeros_like": _zeros_like,
    "to_gpu": _to_gpu,
    "to_gpu_async": _to_gpu_async,
}


def make_modules() -> None:
    """Puts the modules that a submission can import where Python looks for them."""
    driver = _module("pycuda.driver", **{name: getattr(of, name) for of, names in _DRIVER.items() for name in names})
    arrays = _module("pycuda.gpuarray", **_ARRAYS)
    compiler = _module("pycuda.compiler", SourceModule=SourceModule)
    context = _module("pycuda.autoinit", context=pycuda_driver.Context)
    _module("pycuda.autoprimaryctx", context=pycuda_driver.Context)
    _module("pycuda", driver=driver, gpuarray=arrays, compiler=compiler, autoinit=context, __path__=[])
    names = {name: getattr(pycuda_arrays, name) for name in pycuda_arrays.NAMES}
    _module("numpy", **SCALARS, **names, dtype=dtype_of)


class _Lent(pycuda_driver.DeviceAllocation):
    """The judge's memory, lent for the time of a call."""

    def __init__(self, address: int) -> None:
        self._address = address

    def free(self) -> None:
        """Refused."""
        raise pycuda_driver.LogicError("device_allocation::free failed: the caller's memory is not yours to free")

    def __del__(self) -> None:
        """Leaves it as it is."""


def argument(given: Any) -> object:
    """What a launcher gets: a GPUArray over the judge's memory, an array over the caller's, or a number."""
    if not isinstance(given, tuple):
        return given
    if len(given) == 3:  # noqa: PLR2004 - (address, type, shape)
        address, of, shape = given
        return GPUArray(shape, of, _Lent(address) if shape[0] else None)
    address, size, of, writable = given
    form = dtype_of(of)
    view = _cuda.view(address, size, bool(writable)) if size else memoryview(bytearray())
    return ndarray(view.cast(form.form), form)
