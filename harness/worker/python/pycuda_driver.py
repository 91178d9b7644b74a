"""The stand-in for PyCUDA in a worker: what the host side of a program needs, on the module _lockstep_cuda.

For assignments that give the kernels (kernels.cu, which nvcc compiled when the worker was built: pack_host_code.py)
and ask for the host code. Names, arguments and results are PyCUDA's, so that a submission runs unmodified with the real
one; docs/reference/pycuda.md lists what is here. Other names of PyCUDA and NumPy are refused by name. Mistakes that
PyCUDA leaves to the driver or to the module struct, such as a prepared type of the wrong size, raise an exception whose
text is ours: it is the same whatever Python runs it.

stand_in.py runs this text with `_cuda` defined. As there, the judge relies on nothing here: what it counts, it counts
on its own side.
"""

import operator
from collections.abc import Callable
from typing import Any

from pycuda_arrays import dtype_of, empty, length_of, ndarray, zeros

_cuda: Any
if "_cuda" not in globals():  # when a tool only analyses this file
    _cuda = None

_TO_DEVICE, _TO_HOST, _ON_DEVICE = 1, 2, 3  # cudaMemcpyKind
_SAYS = {
    "cudaErrorMemoryAllocation": "out of memory",
    "cudaErrorInvalidValue": "invalid argument",
    "cudaErrorInvalidConfiguration": "invalid argument",
    "cudaErrorInvalidResourceHandle": "invalid resource handle",
    "cudaErrorLaunchFailure": "unspecified launch failure",
    "cudaErrorIllegalAddress": "an illegal memory access was encountered",
}


class Error(_cuda.CudaAPIError if _cuda else Exception):  # type: ignore[misc]
    """A call that failed; `is_of_cuda`: in CUDA, not in a check of the stand-in."""

    __module__ = "pycuda._driver"
    is_of_cuda = False


def _error(name: str) -> Any:
    return type(name, (Error,), {"__module__": "pycuda._driver"})


MemoryError = _error("MemoryError")  # PyCUDA's name
LogicError = _error("LogicError")
LaunchError = _error("LaunchError")
RuntimeError = _error("RuntimeError")  # PyCUDA's name
_KIND_OF = {"out of memory": MemoryError, "unspecified launch failure": LaunchError}
_KIND_OF |= {"an illegal memory access was encountered": LogicError}


def call(said: str, function: Callable[..., Any], *arguments: object) -> Any:
    """Calls a function of _cuda; if it fails, raises PyCUDA's error with `said`, the driver's name of the function."""
    try:
        return function(*arguments)
    except _cuda.CudaAPIError as error:
        name = str(error).partition(": ")[2]
        text = _SAYS.get(name, name)
        raised = _KIND_OF.get(text, LogicError)(f"{said} failed: {text}")
        raised.is_of_cuda = True
        raise raised from None


def kind_of(value: object) -> str:
    """A value's kind in words, for messages."""
    if hasattr(value, "gpudata"):
        return "a GPUArray: its .gpudata is meant"
    return f"{type(value).__name__} {value!r}"[:80]


class DeviceAllocation:
    """Device memory, until free() or until nothing refers to it any more."""

    def __init__(self, size: int) -> None:
        if size <= 0:
            raise LogicError("cuMemAlloc failed: invalid argument")  # for 0 bytes too
        self._address: int = call("cuMemAlloc", _cuda.allocate, size)

    def free(self) -> None:
        """Frees it now."""
        if not self._address:
            raise LogicError("device_allocation::free failed: invalid resource handle")
        address, self._address = self._address, 0
        call("cuMemFree", _cuda.free, address)

    def __int__(self) -> int:
        return self.__index__()

    def __index__(self) -> int:
        if not self._address:
            raise LogicError("the device memory was freed")
        return self._address

    def __del__(self) -> None:
        if getattr(self, "_address", 0):
            _cuda.free(self._address)


def mem_alloc(bytes: int) -> DeviceAllocation:  # PyCUDA's name
    """Allocates device memory; fails for 0 bytes, as in PyCUDA."""
    return DeviceAllocation(operator.index(bytes))


def mem_alloc_like(ary: Any) -> DeviceAllocation:
    """Allocates device memory of the array's size."""
    return mem_alloc(ary.nbytes)


def address_of(value: Any, what: str) -> int:
    """The address of device memory; `what` names the argument in errors."""
    if not hasattr(value, "__index__"):
        raise TypeError(f"{what}: expected device memory, got {kind_of(value)}")
    return operator.index(value)


def _host(value: Any, what: str, *, writable: bool) -> tuple[int, int]:
    """The address of an array on the host, and its size in bytes."""
    buffer = value.view if isinstance(value, ndarray) else value
    if isinstance(value, int | DeviceAllocation):
        raise TypeError(f"{what}: expected an array on the host, got {kind_of(value)}")
    try:
        view = memoryview(buffer)
    except TypeError:
        raise TypeError(f"{what}: expected an array on the host, got {kind_of(value)}") from None
    if writable and view.readonly:
        raise ValueError(f"{what}: the array is read-only")
    if view.nbytes == 0:
        return 0, 0
    address, size = _cuda.address_of(buffer, writable)
    return address, size


def stream_handle(stream: Any) -> int:
    """The runtime's handle; None is the default stream."""
    if stream is not None and not isinstance(stream, Stream):
        raise TypeError(f"expected a stream, got {kind_of(stream)}")
    return 0 if stream is None else stream.handle


def memcpy_htod(dest: Any, src: Any) -> None:
    """Copies an array to the device."""
    address, size = _host(src, "memcpy_htod: src", writable=False)
    call("cuMemcpyHtoD", _cuda.transfer, address_of(dest, "memcpy_htod: dest"), address, size, _TO_DEVICE, None)


def memcpy_htod_async(dest: Any, src: Any, stream: Any = None) -> None:
    """The same, in a stream."""
    address, size = _host(src, "memcpy_htod_async: src", writable=False)
    to = address_of(dest, "memcpy_htod_async: dest")
    call("cuMemcpyHtoDAsync", _cuda.transfer, to, address, size, _TO_DEVICE, stream_handle(stream))


def memcpy_dtoh(dest: Any, src: Any) -> None:
    """Copies from the device to the array, which determines the number of bytes."""
    address, size = _host(dest, "memcpy_dtoh: dest", writable=True)
    call("cuMemcpyDtoH", _cuda.transfer, address, address_of(src, "memcpy_dtoh: src"), size, _TO_HOST, None)


def memcpy_dtoh_async(dest: Any, src: Any, stream: Any = None) -> None:
    """The same, in a stream."""
    address, size = _host(dest, "memcpy_dtoh_async: dest", writable=True)
    of = address_of(src, "memcpy_dtoh_async: src")
    call("cuMemcpyDtoHAsync", _cuda.transfer, address, of, size, _TO_HOST, stream_handle(stream))


def memcpy_dtod(dest: Any, src: Any, size: int) -> None:
    """Copies bytes within the device."""
    to, of = address_of(dest, "memcpy_dtod: dest"), address_of(src, "memcpy_dtod: src")
    call("cuMemcpyDtoD", _cuda.transfer, to, of, size, _ON_DEVICE, None)


def memcpy_dtod_async(dest: Any, src: Any, size: int, stream: Any = None) -> None:
    """Copies bytes within the device, in a stream."""
    to, of = address_of(dest, "memcpy_dtod_async: dest"), address_of(src, "memcpy_dtod_async: src")
    call("cuMemcpyDtoDAsync", _cuda.transfer, to, of, size, _ON_DEVICE, stream_handle(stream))


def memset_d8(dest: Any, data: int, size: int) -> None:
    """Stores the byte `size` times."""
    call("cuMemsetD8", _cuda.fill, address_of(dest, "memset_d8: dest"), data, size)


def memset_d32(dest: Any, data: int, count: int) -> None:
    """Stores a word `count` times; its four bytes have to be the same here."""
    if len(set(held := (data & 0xFFFFFFFF).to_bytes(4, "little"))) > 1:
        raise ValueError(f"memset_d32: the bytes of {data} differ; copy an array of it by memcpy_htod")
    call("cuMemsetD32", _cuda.fill, address_of(dest, "memset_d32: dest"), held[0], 4 * count)


def to_device(source: Any) -> DeviceAllocation:
    """New device memory with the array's bytes."""
    made = mem_alloc(_host(source, "to_device", writable=False)[1])
    memcpy_htod(made, source)
    return made


def from_device(devptr: Any, shape: Any, dtype: object) -> ndarray:
    """A new array on the host."""
    made = empty(shape, dtype)
    memcpy_dtoh(made, devptr)
    return made


def from_device_like(devptr: Any, other_ary: ndarray) -> ndarray:
    """from_device() with another array's shape and type."""
    return from_device(devptr, other_ary.shape, other_ary.dtype)


class _PageLocked:
    """Page-locked host memory, until nothing refers to it any more."""

    def __init__(self, size: int) -> None:
        self.address: int = call("cuMemHostAlloc", _cuda.allocate_host, size)

    def __del__(self) -> None:
        if getattr(self, "address", 0):
            _cuda.free_host(self.address)


def pagelocked_empty(shape: Any, dtype: object) -> ndarray:
    """A new array in page-locked memory."""
    of = dtype_of(dtype)
    if (size := length_of(shape) * of.itemsize) == 0:
        return zeros(0, of)
    memory = _PageLocked(size)
    return ndarray(_cuda.view(memory.address, size, True).cast(of.form), of, memory)


def pagelocked_zeros(shape: Any, dtype: object) -> ndarray:
    """A new array of zeros in page-locked memory."""
    made = pagelocked_empty(shape, dtype)
    made.fill(0)
    return made


def pagelocked_empty_like(array: ndarray) -> ndarray:
    """pagelocked_empty() with another array's shape and type."""
    return pagelocked_empty(array.shape, array.dtype)


def pagelocked_zeros_like(array: ndarray) -> ndarray:
    """pagelocked_zeros() with another array's shape and type."""
    return pagelocked_zeros(array.shape, array.dtype)


class Stream:
    """A stream, until nothing refers to it any more."""

    def __init__(self, flags: int = 0) -> None:
        if flags:
            raise LogicError("only streams with the flags 0 are supported")
        self.handle: int = call("cuStreamCreate", _cuda.create_stream)

    def synchronize(self) -> None:
        """Waits for what is in the stream."""
        call("cuStreamSynchronize", _cuda.synchronize_stream, self.handle)

    def is_done(self) -> bool:
        """Whether all work in the stream has ended."""
        return bool(call("cuStreamQuery", _cuda.query_stream, self.handle))

    def wait_for_event(self, evt: "Event") -> None:
        """Later work in the stream waits for the event."""
        call("cuStreamWaitEvent", _cuda.wait_event, self.handle, evt.handle)

    def __del__(self) -> None:
        if getattr(self, "handle", 0):
            _cuda.destroy_stream(self.handle)


class event_flags:  # noqa: N801 - PyCUDA's name
    """DEFAULT, BLOCKING_SYNC and DISABLE_TIMING"""

    DEFAULT, BLOCKING_SYNC, DISABLE_TIMING = 0, 1, 2


class Event:
    """An event, until nothing refers to it any more."""

    def __init__(self, flags: int = 0) -> None:
        if flags & ~(event_flags.BLOCKING_SYNC | event_flags.DISABLE_TIMING):
            raise LogicError("the only flags supported for events are BLOCKING_SYNC and DISABLE_TIMING")
        self.handle: int = call("cuEventCreate", _cuda.create_event)

    def record(self, stream: Any = None) -> "Event":
        """Records the event after the work that the stream has so far."""
        call("cuEventRecord", _cuda.record_event, self.handle, stream_handle(stream))
        return self

    def synchronize(self) -> "Event":
        """Waits for the work before it."""
        call("cuEventSynchronize", _cuda.synchronize_event, self.handle)
        return self

    def query(self) -> bool:
        """Whether the work before it has ended."""
        return bool(call("cuEventQuery", _cuda.query_event, self.handle))

    def time_since(self, event: "Event") -> float:
        """Milliseconds from the other event to this one."""
        return float(call("cuEventElapsedTime", _cuda.elapsed, event.handle, self.handle))

    def time_till(self, event: "Event") -> float:
        """Milliseconds from this event to the other one."""
        return event.time_since(self)

    def __del__(self) -> None:
        if getattr(self, "handle", 0):
            _cuda.destroy_event(self.handle)


class Context:
    """The context, of which there is one."""

    @staticmethod
    def synchronize() -> None:
        """Waits for the device."""
        call("cuCtxSynchronize", _cuda.synchronize)


def init(flags: int = 0) -> None:
    """Does nothing: the driver needs no initialisation here."""
