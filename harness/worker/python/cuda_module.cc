#define PY_SSIZE_T_CLEAN
#include <Python.h>
// Must be included first, according to Python's manual.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "worker/python/cuda_module.h"

namespace lockstep::worker::python {

namespace {

PyObject* error_type = nullptr;  // CudaAPIError

// None, or raises CudaAPIError with the error's name and the function. The runtime stores the error too: if a launcher
// swallows the exception, cudaGetLastError still reports it.
PyObject* NoneOr(cudaError_t error, const char* function) {
  if (error == cudaSuccess) Py_RETURN_NONE;
  PyErr_Format(error_type, "%s: %s", function, cudaGetErrorName(error));
  return nullptr;
}

void* Pointer(unsigned long long address) { return reinterpret_cast<void*>(static_cast<uintptr_t>(address)); }

// load(ptx, name): the kernel of that name.
PyObject* Load(PyObject*, PyObject* arguments) {
  const char *ptx, *name;
  if (PyArg_ParseTuple(arguments, "ss", &ptx, &name) == 0) return nullptr;
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
  cudaError_t error = cudaLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (error != cudaSuccess) return NoneOr(error, "cudaLibraryLoadData");
  error = cudaLibraryGetKernel(&kernel, library, name);
  if (error != cudaSuccess) return NoneOr(error, "cudaLibraryGetKernel");
  return PyLong_FromVoidPtr(kernel);
}

// launch(kernel, grid, block, stream, shared, slots): 8 bytes for each parameter.
PyObject* Launch(PyObject*, PyObject* arguments) {
  constexpr Py_ssize_t kSlotBytes = 8;
  unsigned long long kernel, stream, shared;
  unsigned grid[3], block[3];
  Py_buffer slots;
  if (PyArg_ParseTuple(arguments, "K(III)(III)KKy*", &kernel, &grid[0], &grid[1], &grid[2], &block[0], &block[1],
                       &block[2], &stream, &shared, &slots) == 0) {
    return nullptr;
  }
  std::vector<void*> parameters;
  for (Py_ssize_t at = 0; at + kSlotBytes <= slots.len; at += kSlotBytes) {
    parameters.push_back(static_cast<char*>(slots.buf) + at);
  }
  const cudaError_t error =
      cudaLaunchKernel(Pointer(kernel), dim3(grid[0], grid[1], grid[2]), dim3(block[0], block[1], block[2]),
                       parameters.data(), shared, static_cast<cudaStream_t>(Pointer(stream)));
  PyBuffer_Release(&slots);
  return NoneOr(error, "cudaLaunchKernel");
}

PyObject* Allocate(PyObject*, PyObject* arguments) {
  unsigned long long bytes;
  if (PyArg_ParseTuple(arguments, "K", &bytes) == 0) return nullptr;
  void* memory = nullptr;
  if (const cudaError_t error = cudaMalloc(&memory, bytes); error != cudaSuccess) return NoneOr(error, "cudaMalloc");
  return PyLong_FromVoidPtr(memory);
}

PyObject* Free(PyObject*, PyObject* arguments) {
  unsigned long long address;
  if (PyArg_ParseTuple(arguments, "K", &address) == 0) return nullptr;
  return NoneOr(cudaFree(Pointer(address)), "cudaFree");
}

// A synchronous copy for the default stream, an asynchronous one for others.
PyObject* CopyIn(unsigned long long stream, void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  if (stream == 0) return NoneOr(cudaMemcpy(to, from, bytes, kind), "cudaMemcpy");
  return NoneOr(cudaMemcpyAsync(to, from, bytes, kind, static_cast<cudaStream_t>(Pointer(stream))), "cudaMemcpyAsync");
}

// write(to, bytes, stream)
PyObject* Write(PyObject*, PyObject* arguments) {
  unsigned long long to, stream;
  Py_buffer from;
  if (PyArg_ParseTuple(arguments, "Ky*K", &to, &from, &stream) == 0) return nullptr;
  PyObject* const result = CopyIn(stream, Pointer(to), from.buf, static_cast<size_t>(from.len), cudaMemcpyHostToDevice);
  PyBuffer_Release(&from);
  return result;
}

// read(from, bytes): the contents.
PyObject* Read(PyObject*, PyObject* arguments) {
  unsigned long long from;
  Py_ssize_t bytes;
  if (PyArg_ParseTuple(arguments, "Kn", &from, &bytes) == 0) return nullptr;
  PyObject* const read = PyBytes_FromStringAndSize(nullptr, bytes);
  if (read == nullptr) return nullptr;
  const cudaError_t error =
      cudaMemcpy(PyBytes_AsString(read), Pointer(from), static_cast<size_t>(bytes), cudaMemcpyDeviceToHost);
  if (error == cudaSuccess) return read;
  Py_DECREF(read);
  return NoneOr(error, "cudaMemcpy");
}

// copy(to, from, bytes, stream)
PyObject* Copy(PyObject*, PyObject* arguments) {
  unsigned long long to, from, bytes, stream;
  if (PyArg_ParseTuple(arguments, "KKKK", &to, &from, &bytes, &stream) == 0) return nullptr;
  return CopyIn(stream, Pointer(to), Pointer(from), bytes, cudaMemcpyDeviceToDevice);
}

PyObject* Synchronize(PyObject*, PyObject*) { return NoneOr(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }

PyObject* CreateStream(PyObject*, PyObject*) {
  cudaStream_t stream = nullptr;
  if (const cudaError_t error = cudaStreamCreate(&stream); error != cudaSuccess) {
    return NoneOr(error, "cudaStreamCreate");
  }
  return PyLong_FromVoidPtr(stream);
}

PyObject* SynchronizeStream(PyObject*, PyObject* arguments) {
  unsigned long long stream;
  if (PyArg_ParseTuple(arguments, "K", &stream) == 0) return nullptr;
  return NoneOr(cudaStreamSynchronize(static_cast<cudaStream_t>(Pointer(stream))), "cudaStreamSynchronize");
}

PyObject* DestroyStream(PyObject*, PyObject* arguments) {
  unsigned long long stream;
  if (PyArg_ParseTuple(arguments, "K", &stream) == 0) return nullptr;
  return NoneOr(cudaStreamDestroy(static_cast<cudaStream_t>(Pointer(stream))), "cudaStreamDestroy");
}

// Further functions for our replacement of PyCUDA. It copies between addresses, obtained by address_of().

// address_of(buffer, writable): its address and size.
PyObject* AddressOf(PyObject*, PyObject* arguments) {
  PyObject* object;
  int writable;
  Py_buffer buffer;
  if (PyArg_ParseTuple(arguments, "Op", &object, &writable) == 0) return nullptr;
  if (PyObject_GetBuffer(object, &buffer, writable != 0 ? PyBUF_WRITABLE : PyBUF_SIMPLE) != 0) return nullptr;
  PyObject* const result = Py_BuildValue("(Kn)", reinterpret_cast<unsigned long long>(buffer.buf), buffer.len);
  PyBuffer_Release(&buffer);
  return result;
}

// view(address, bytes, writable): a memoryview of host memory.
PyObject* View(PyObject*, PyObject* arguments) {
  unsigned long long address;
  Py_ssize_t bytes;
  int writable;
  if (PyArg_ParseTuple(arguments, "Knp", &address, &bytes, &writable) == 0) return nullptr;
  return PyMemoryView_FromMemory(static_cast<char*>(Pointer(address)), bytes, writable != 0 ? PyBUF_WRITE : PyBUF_READ);
}

// transfer(to, from, bytes, kind, stream): stream None means a synchronous copy.
PyObject* Transfer(PyObject*, PyObject* arguments) {
  unsigned long long to, from, bytes;
  int kind;
  PyObject* stream;
  if (PyArg_ParseTuple(arguments, "KKKiO", &to, &from, &bytes, &kind, &stream) == 0) return nullptr;
  const auto direction = static_cast<cudaMemcpyKind>(kind);
  if (stream == Py_None) return NoneOr(cudaMemcpy(Pointer(to), Pointer(from), bytes, direction), "cudaMemcpy");
  auto* const handle = static_cast<cudaStream_t>(Pointer(PyLong_AsUnsignedLongLong(stream)));
  return NoneOr(cudaMemcpyAsync(Pointer(to), Pointer(from), bytes, direction, handle), "cudaMemcpyAsync");
}

// fill(to, byte, bytes)
PyObject* Fill(PyObject*, PyObject* arguments) {
  unsigned long long to, bytes;
  int byte;
  if (PyArg_ParseTuple(arguments, "KiK", &to, &byte, &bytes) == 0) return nullptr;
  return NoneOr(cudaMemset(Pointer(to), byte, bytes), "cudaMemset");
}

PyObject* AllocateHost(PyObject*, PyObject* arguments) {
  unsigned long long bytes;
  if (PyArg_ParseTuple(arguments, "K", &bytes) == 0) return nullptr;
  void* memory = nullptr;
  if (const cudaError_t error = cudaMallocHost(&memory, bytes); error != cudaSuccess) {
    return NoneOr(error, "cudaMallocHost");
  }
  return PyLong_FromVoidPtr(memory);
}

PyObject* FreeHost(PyObject*, PyObject* arguments) {
  unsigned long long address;
  if (PyArg_ParseTuple(arguments, "K", &address) == 0) return nullptr;
  return NoneOr(cudaFreeHost(Pointer(address)), "cudaFreeHost");
}

PyObject* CreateEvent(PyObject*, PyObject*) {
  cudaEvent_t event = nullptr;
  if (const cudaError_t error = cudaEventCreate(&event); error != cudaSuccess) return NoneOr(error, "cudaEventCreate");
  return PyLong_FromVoidPtr(event);
}

cudaEvent_t EventAt(unsigned long long handle) { return static_cast<cudaEvent_t>(Pointer(handle)); }

PyObject* DestroyEvent(PyObject*, PyObject* arguments) {
  unsigned long long event;
  if (PyArg_ParseTuple(arguments, "K", &event) == 0) return nullptr;
  return NoneOr(cudaEventDestroy(EventAt(event)), "cudaEventDestroy");
}

// record(event, stream)
PyObject* RecordEvent(PyObject*, PyObject* arguments) {
  unsigned long long event, stream;
  if (PyArg_ParseTuple(arguments, "KK", &event, &stream) == 0) return nullptr;
  return NoneOr(cudaEventRecord(EventAt(event), static_cast<cudaStream_t>(Pointer(stream))), "cudaEventRecord");
}

PyObject* SynchronizeEvent(PyObject*, PyObject* arguments) {
  unsigned long long event;
  if (PyArg_ParseTuple(arguments, "K", &event) == 0) return nullptr;
  return NoneOr(cudaEventSynchronize(EventAt(event)), "cudaEventSynchronize");
}

// wait_event(stream, event)
PyObject* WaitEvent(PyObject*, PyObject* arguments) {
  unsigned long long stream, event;
  if (PyArg_ParseTuple(arguments, "KK", &stream, &event) == 0) return nullptr;
  const cudaError_t error = cudaStreamWaitEvent(static_cast<cudaStream_t>(Pointer(stream)), EventAt(event), 0);
  return NoneOr(error, "cudaStreamWaitEvent");
}

// elapsed(begin, end): milliseconds.
PyObject* Elapsed(PyObject*, PyObject* arguments) {
  unsigned long long begin, end;
  float milliseconds = 0;
  if (PyArg_ParseTuple(arguments, "KK", &begin, &end) == 0) return nullptr;
  const cudaError_t error = cudaEventElapsedTime(&milliseconds, EventAt(begin), EventAt(end));
  return error == cudaSuccess ? PyFloat_FromDouble(milliseconds) : NoneOr(error, "cudaEventElapsedTime");
}

// True, or False if it is not over yet.
PyObject* TrueWhenOver(cudaError_t error, const char* function) {
  if (error == cudaSuccess) Py_RETURN_TRUE;
  if (error == cudaErrorNotReady) Py_RETURN_FALSE;
  return NoneOr(error, function);
}

PyObject* QueryStream(PyObject*, PyObject* arguments) {
  unsigned long long stream;
  if (PyArg_ParseTuple(arguments, "K", &stream) == 0) return nullptr;
  return TrueWhenOver(cudaStreamQuery(static_cast<cudaStream_t>(Pointer(stream))), "cudaStreamQuery");
}

PyObject* QueryEvent(PyObject*, PyObject* arguments) {
  unsigned long long event;
  if (PyArg_ParseTuple(arguments, "K", &event) == 0) return nullptr;
  return TrueWhenOver(cudaEventQuery(EventAt(event)), "cudaEventQuery");
}

PyMethodDef methods[] = {{"load", Load, METH_VARARGS, nullptr},
                         {"launch", Launch, METH_VARARGS, nullptr},
                         {"allocate", Allocate, METH_VARARGS, nullptr},
                         {"free", Free, METH_VARARGS, nullptr},
                         {"write", Write, METH_VARARGS, nullptr},
                         {"read", Read, METH_VARARGS, nullptr},
                         {"copy", Copy, METH_VARARGS, nullptr},
                         {"synchronize", Synchronize, METH_NOARGS, nullptr},
                         {"create_stream", CreateStream, METH_NOARGS, nullptr},
                         {"synchronize_stream", SynchronizeStream, METH_VARARGS, nullptr},
                         {"destroy_stream", DestroyStream, METH_VARARGS, nullptr},
                         {"address_of", AddressOf, METH_VARARGS, nullptr},
                         {"view", View, METH_VARARGS, nullptr},
                         {"transfer", Transfer, METH_VARARGS, nullptr},
                         {"fill", Fill, METH_VARARGS, nullptr},
                         {"allocate_host", AllocateHost, METH_VARARGS, nullptr},
                         {"free_host", FreeHost, METH_VARARGS, nullptr},
                         {"create_event", CreateEvent, METH_NOARGS, nullptr},
                         {"destroy_event", DestroyEvent, METH_VARARGS, nullptr},
                         {"record_event", RecordEvent, METH_VARARGS, nullptr},
                         {"synchronize_event", SynchronizeEvent, METH_VARARGS, nullptr},
                         {"wait_event", WaitEvent, METH_VARARGS, nullptr},
                         {"elapsed", Elapsed, METH_VARARGS, nullptr},
                         {"query_stream", QueryStream, METH_VARARGS, nullptr},
                         {"query_event", QueryEvent, METH_VARARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_lockstep_cuda", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyObject* MakeCudaModule() {
  PyObject* const module = PyModule_Create(&definition);
  if (module == nullptr) return nullptr;
  error_type = PyErr_NewException("numba.cuda.CudaAPIError", nullptr, nullptr);
  PyModule_AddObjectRef(module, "CudaAPIError", error_type);
  return module;
}

}  // namespace lockstep::worker::python
