// The Python interpreter in a worker whose submission is a Python file. It starts at the first launcher call, so that
// everything the file does on import is part of that call. Only Python's standard library is available; `numba`,
// `numpy` and `pycuda` are replacements (stand_in.py, pycuda_*.py), because kernels were compiled when the worker was
// built, by the real Numba (compile_kernels.py) or by nvcc (worker/build.sh).
#define PY_SSIZE_T_CLEAN
#include <Python.h>
// Must be included first, according to Python's manual.
#include <cstdio>
#include <cstdlib>

#include "worker/python/cuda_module.h"
#include "worker/python/launch.h"

// The text of a file in this folder, embedded by the build.
#define LOCKSTEP_PYTHON_TEXT(name)                                                  \
  asm(".section .rodata\n.global lockstep_python_" #name "\nlockstep_python_" #name \
      ":\n"                                                                         \
      ".incbin \"" LOCKSTEP_PYTHON_FOLDER "/" #name ".py\"\n.byte 0\n.previous\n"); \
  extern "C" const char lockstep_python_##name[];
LOCKSTEP_PYTHON_TEXT(stand_in)
LOCKSTEP_PYTHON_TEXT(pycuda_arrays)
LOCKSTEP_PYTHON_TEXT(pycuda_driver)
LOCKSTEP_PYTHON_TEXT(pycuda_kernels)
LOCKSTEP_PYTHON_TEXT(pycuda_modules)

// The submission as processed by compile_kernels.py or pack_host_code.py; worker/build.sh links it in.
extern "C" const char lockstep_python_submission[];

namespace lockstep::worker::python {

namespace {

[[noreturn]] void Die(const char* what) {
  std::fprintf(stderr, "Python can't be started in the worker: %s\n", what);
  if (PyErr_Occurred() != nullptr) PyErr_Print();
  std::fflush(nullptr);
  std::_Exit(EXIT_FAILURE);
}

PyObject* Checked(PyObject* object) {
  if (object == nullptr) Die("an object could not be made");
  return object;
}

void Start() {
  PyConfig config;
  PyConfig_InitIsolatedConfig(&config);
  config.site_import = 0;
  config.write_bytecode = 0;
  config.buffered_stdio = 0;  // output reaches the judge even if the process is killed
  config.pathconfig_warnings = 0;
  PyStatus status = PyConfig_SetBytesString(&config, &config.program_name, LOCKSTEP_PYTHON_PROGRAM);
  if (PyStatus_Exception(status) == 0) status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  if (PyStatus_Exception(status) != 0) Die(status.err_msg != nullptr ? status.err_msg : "no reason is known");
}

// The function `launch` of our numba replacement.
PyObject* Launcher() {
  static PyObject* const function = [] {
    Start();
    PyObject* const code = Checked(Py_CompileString(lockstep_python_stand_in, "<numba>", Py_file_input));
    PyObject* const module = Checked(PyModule_New("_lockstep_stand_in"));
    PyObject* const names = PyModule_GetDict(module);
    PyDict_SetItemString(names, "_cuda", Checked(MakeCudaModule()));
    PyDict_SetItemString(names, "_submission_text", Checked(PyUnicode_FromString(lockstep_python_submission)));
    PyDict_SetItemString(
        names, "_pycuda_texts",
        Checked(Py_BuildValue("((ss)(ss)(ss)(ss))", "pycuda_arrays", lockstep_python_pycuda_arrays, "pycuda_driver",
                              lockstep_python_pycuda_driver, "pycuda_kernels", lockstep_python_pycuda_kernels,
                              "pycuda_modules", lockstep_python_pycuda_modules)));
    PyDict_SetItemString(names, "__builtins__", Checked(PyEval_GetBuiltins()));
    Checked(PyEval_EvalCode(code, names, names));
    Py_DECREF(code);
    return Checked(PyObject_GetAttrString(module, "launch"));
  }();
  return function;
}

struct Converter {
  PyObject* operator()(int64_t value) const { return PyLong_FromLongLong(value); }
  PyObject* operator()(uint64_t value) const { return PyLong_FromUnsignedLongLong(value); }
  PyObject* operator()(double value) const { return PyFloat_FromDouble(value); }
  // (address, type, shape)
  PyObject* operator()(const Array& array) const {
    PyObject* const shape = Checked(PyTuple_New(static_cast<Py_ssize_t>(array.shape.size())));
    for (size_t k = 0; k < array.shape.size(); ++k) {
      PyTuple_SetItem(shape, static_cast<Py_ssize_t>(k), PyLong_FromUnsignedLongLong(array.shape[k]));
    }
    return Py_BuildValue("(KsN)", static_cast<unsigned long long>(array.address), array.type, shape);
  }
  // (address, bytes, type, writable)
  PyObject* operator()(const HostArray& array) const {
    return Py_BuildValue("(KKsi)", static_cast<unsigned long long>(array.address),
                         static_cast<unsigned long long>(array.bytes), array.type, array.writable ? 1 : 0);
  }
};

}  // namespace

void Launch(std::string_view launcher, std::initializer_list<Value> arguments) {
  PyObject* const function = Launcher();
  PyObject* const values = Checked(PyTuple_New(static_cast<Py_ssize_t>(arguments.size())));
  Py_ssize_t place = 0;
  for (const Value& value : arguments) PyTuple_SetItem(values, place++, Checked(std::visit(Converter(), value.get())));
  PyObject* const result =
      PyObject_CallFunction(function, "s#N", launcher.data(), static_cast<Py_ssize_t>(launcher.size()), values);
  if (result == nullptr) Die("a launcher could not be called");
  Py_DECREF(result);
}

}  // namespace lockstep::worker::python
