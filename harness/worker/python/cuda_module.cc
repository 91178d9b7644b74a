#define PY_SSIZE_T_CLEAN
#include <Python.h>
// Before all others, as its manual asks.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "worker/python/cuda_module.h"

namespace lockstep::worker::python {

namespace {

PyObject* error_type = nullptr;  // CudaAPIError

// None, or CudaAPIError with the error's name and the function that gave it. The runtime remembers it too: a launcher
// that swallows the exception is found out by what cudaGetLastError says after it.
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

// At once for the default stream, in order for others.
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

// read(from, bytes): what is there.
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
