// Declarations before a random program's kernel: records, tables, templates, classes and functions.
#pragma once

#include <string>

#include "dev/cosim/cuda/statements.h"

namespace lockstep::cosim::cuda {

class Declarations : protected Statements {
 protected:
  using Statements::Statements;

  void DeclareAll();
  // A function after its head: parameters and self_ are set.
  void Body(const Function& function, int statements);
  void BeginFold();
  // Opens an Env's fields and arrays.
  void OpenEnv(const std::string& name);
  // The thread's own arrays in an Env, in the order in which a Writer writes them.
  static const std::vector<Array>& OwnArrays();
  std::string Qualifiers();

 private:
  void VectorTypes();
  void RecordType();
  void Table();
  void TemplateFunction();
  std::string GenericValue(int depth);
  void Family();   // functions of one type, called through a pointer
  void Classes();  // with a virtual function
  void PlainFunction();
  void Recursion();
  void OpenInput(const std::string& name);
  std::string Head(Function* function);  // declares the parameters in the scope
};

}  // namespace lockstep::cosim::cuda
