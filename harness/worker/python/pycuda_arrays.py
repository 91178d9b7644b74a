"""NumPy's part of the stand-in for PyCUDA (pycuda_driver.py): arrays of one dimension, and types of elements.

Host code moves data; it needs arrays to move it from and to. Arithmetic is not here: kernels compute.
"""

import struct
from collections.abc import Callable, Iterator
from itertools import pairwise
from operator import index
from typing import Any, NoReturn

types: dict[str, Any]
type_of: Callable[[object], Any]
if "types" not in globals():  # when a tool only analyses this file
    types, type_of = {}, None  # type: ignore[assignment]


class _Integer(int):
    """A NumPy integer: Function.__call__ needs its type."""

    dtype: Any


class _Float(float):
    """A floating-point type of elements."""

    dtype: Any


class Scalar:
    """`numpy.int32`: a type of elements, and a conversion."""

    def __init__(self, of: Any) -> None:
        self.name: str = of.name
        self.form = self.char = of.form
        self.itemsize, self.packed = of.itemsize, of.packed

    def __repr__(self) -> str:
        return self.name

    def __call__(self, value: Any = 0) -> Any:
        """A number of this type."""
        plain = struct.unpack("<" + self.form, self.packed(value, "the value"))[0]
        made: Any = _Float(plain) if self.form in "fd" else _Integer(plain)
        made.dtype = self
        return made


SCALARS = {name: Scalar(of) for name, of in types.items() if of.name == name}
SCALARS |= {name: SCALARS[of.name] for name, of in types.items() if of.name in SCALARS}


def dtype_of(of: object) -> Scalar:
    """The type that `of` names."""
    return of if isinstance(of, Scalar) else SCALARS[type_of(of).name]


def length_of(shape: object) -> int:
    """The length of a one-dimensional shape, given as n or (n,)."""
    lengths = shape if isinstance(shape, tuple | list) else (shape,)
    if len(lengths) != 1 or not hasattr(lengths[0], "__index__"):
        raise TypeError(f"arrays have one dimension here, and {shape!r} is no length")
    if (length := index(lengths[0])) < 0:
        raise ValueError(f"an array has no negative length: {length}")
    return length


def bounds(item: Any, length: int) -> tuple[int, int]:
    """Where a part begins and ends; `...` is the whole."""
    if item is Ellipsis:
        return 0, length
    begin, end, step = item.indices(length)
    if step != 1:
        raise TypeError("a part of an array must have a step of 1")
    return begin, max(begin, end)


class ndarray:  # noqa: N801 - NumPy's name
    """An array of one dimension in host memory; a part of it shares the memory."""

    def __init__(self, view: memoryview, dtype: Scalar, base: object = None) -> None:
        """`base` keeps the memory of the view alive."""
        self.view, self.dtype, self.base = view, dtype, base
        self.size = len(view)
        self.shape, self.ndim, self.itemsize = (self.size,), 1, dtype.itemsize
        self.nbytes = self.size * dtype.itemsize

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Any]:
        return iter(self.view)

    def __repr__(self) -> str:
        return f"array of {self.size} {self.dtype}"

    def __getitem__(self, item: Any) -> Any:
        if isinstance(item, slice) or item is Ellipsis:
            begin, end = bounds(item, self.size)
            return ndarray(self.view[begin:end], self.dtype, self.base or self)
        return self.view[item]

    def __setitem__(self, item: Any, value: Any) -> None:
        if not isinstance(item, slice) and item is not Ellipsis:
            self.view[item] = value
            return
        begin, end = bounds(item, self.size)
        if isinstance(value, int | float):
            self.view[begin:end] = _filled(value, self.dtype, end - begin)
            return
        source = value if isinstance(value, ndarray) and value.dtype is self.dtype else array(value, self.dtype)
        if source.size != end - begin:
            raise ValueError(f"{source.size} elements don't fit where there are {end - begin}")
        self.view[begin:end] = source.view

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"ndarray.{name} is not there: host code moves data, and kernels compute")

    def fill(self, value: Any) -> None:
        """Stores the value to every element."""
        self[:] = value

    def tolist(self) -> list[Any]:
        """The elements as Python's numbers."""
        return self.view.tolist()

    def copy(self) -> "ndarray":
        """A new array with the same elements."""
        return array(self, self.dtype)


def _filled(value: Any, dtype: Scalar, length: int) -> memoryview:
    return memoryview(bytearray(dtype.packed(value, "the value") * length)).cast(dtype.form)


def empty(shape: Any, dtype: object = "float64") -> ndarray:
    """A new array."""
    return zeros(shape, dtype)


def zeros(shape: Any, dtype: object = "float64") -> ndarray:
    """A new array of zeros."""
    of = dtype_of(dtype)
    return ndarray(_filled(0, of, length_of(shape)), of)


def array(source: Any, dtype: object = None) -> ndarray:
    """A new array of a sequence's numbers."""
    values = list(source)
    if dtype is None:
        dtype = getattr(source, "dtype", "float64" if any(isinstance(one, float) for one in values) else "int64")
    of = dtype_of(dtype)
    packed = b"".join(of.packed(value, f"element {k}") for k, value in enumerate(values))
    return ndarray(memoryview(bytearray(packed)).cast(of.form), of)


def empty_like(other: ndarray) -> ndarray:
    """A new array of the same length and type."""
    return zeros(other.shape, other.dtype)


def zeros_like(other: ndarray) -> ndarray:
    """A new array of zeros, of the same length and type."""
    return zeros(other.shape, other.dtype)


def asarray(source: Any, dtype: object = None) -> ndarray:
    """The array itself if it has the type, else a new one."""
    is_it = isinstance(source, ndarray) and (dtype is None or dtype_of(dtype) is source.dtype)
    return source if is_it else array(source, dtype)


ascontiguousarray = asarray


def copyto(dst: ndarray, src: Any) -> None:
    """Stores a number or a sequence's numbers to the array."""
    dst[:] = src


def array_split(ary: Any, sections: int) -> list[Any]:
    """Parts of about the same length, the longer ones first; they share the memory."""
    least, longer = divmod(len(ary), sections)
    ends = [k * least + min(k, longer) for k in range(sections + 1)]
    return [ary[begin:end] for begin, end in pairwise(ends)]


NAMES = (
    "ndarray", "empty", "zeros", "array", "empty_like", "zeros_like", "asarray", "ascontiguousarray",
    "copyto", "array_split",
)  # fmt: skip
