#include <dlfcn.h>

#include <string_view>

#include "vgpu/cudart/report/call_site.h"

namespace lockstep::vgpu::cudart {

namespace {

// CPython's C API, 3.9 or newer; types are opaque here.
struct Python {
  int (*is_initialized)();
  int (*holds_lock)();
  int (*lock)();
  void (*unlock)(int);
  void* (*frame)();            // borrowed
  void* (*back)(void* frame);  // these three: new references
  void* (*code)(void* frame);
  void* (*attribute)(void* object, const char* name);
  int (*line)(void* frame);
  const char* (*text)(void* string);
  void (*release)(void* object);
  void (*clear_error)();
  void* (*main_interpreter)();
  void* (*first_thread)(void* interpreter);
  void* (*next_thread)(void* thread);
  bool complete = true;

  Python() {
    Find("Py_IsInitialized", is_initialized);
    Find("PyGILState_Check", holds_lock);
    Find("PyGILState_Ensure", lock);
    Find("PyGILState_Release", unlock);
    Find("PyEval_GetFrame", frame);
    Find("PyFrame_GetBack", back);
    Find("PyFrame_GetCode", code);
    Find("PyObject_GetAttrString", attribute);
    Find("PyFrame_GetLineNumber", line);
    Find("PyUnicode_AsUTF8", text);
    Find("Py_DecRef", release);
    Find("PyErr_Clear", clear_error);
    Find("PyInterpreterState_Main", main_interpreter);
    Find("PyInterpreterState_ThreadHead", first_thread);
    Find("PyThreadState_Next", next_thread);
  }
  template <typename Function>
  void Find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
    complete = complete && function != nullptr;
  }
};

const Python& Interpreter() {
  static const Python python;
  return python;
}

bool IsOfPackages(std::string_view file) {
  for (const std::string_view part : {"/site-packages/", "/dist-packages/", "/lib/python3"}) {
    if (file.find(part) != std::string_view::npos) return true;
  }
  return file.substr(0, 1) == "<";  // "<frozen importlib._bootstrap>"
}

// Call with Python's lock.
std::string InnermostFrame(const Python& python) {
  std::string site;
  void* frame = python.frame();
  bool owned = false;
  while (frame != nullptr && site.empty()) {
    void* const code = python.code(frame);
    void* const name = python.attribute(code, "co_filename");
    const char* const file = name != nullptr ? python.text(name) : nullptr;
    if (file == nullptr) {
      python.clear_error();
    } else if (!IsOfPackages(file)) {
      site = std::string(file) + ":" + std::to_string(python.line(frame));
    }
    if (name != nullptr) python.release(name);
    python.release(code);
    void* const outer = python.back(frame);
    if (owned) python.release(frame);
    frame = outer;
    owned = true;
  }
  if (frame != nullptr && owned) python.release(frame);
  return site;
}

}  // namespace

bool InPython() { return Interpreter().complete; }

std::string PythonSite() {
  const Python& python = Interpreter();
  if (!InPython() || python.is_initialized() == 0) return "";
  if (python.holds_lock() != 0) return InnermostFrame(python);
  // Another Python thread may hold Python's lock while it waits for the runtime's, which this one holds: a deadlock.
  void* const first = python.first_thread(python.main_interpreter());
  if (first == nullptr || python.next_thread(first) != nullptr) return "";
  const int state = python.lock();
  std::string site = InnermostFrame(python);
  python.unlock(state);
  return site;
}

}  // namespace lockstep::vgpu::cudart
