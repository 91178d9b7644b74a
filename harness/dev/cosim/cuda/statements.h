// Random statements, for the body of a function.
#pragma once

#include <functional>
#include <string>

#include "dev/cosim/cuda/expressions.h"

namespace lockstep::cosim::cuda {

class Statements : protected Expressions {
 protected:
  using Expressions::Expressions;

  void Block(int count, int depth);
  std::string New(const char* prefix) { return prefix + std::to_string(names_++); }
  void Line(const std::string& text) { text_ += std::string(static_cast<size_t>(2 * indent_), ' ') + text + "\n"; }
  // A line and an open brace, then the output of `body` in a new scope; the caller closes it.
  void Nested(const std::string& head, double times, const std::function<void()>& body);
  // A call with effects, and a declaration for its result.
  void CallStatement(const Function& function);

  // Adds most of the scope's variables from number `first` on to the function's variable `fold`, so that they are used.
  void Fold(size_t first);

  std::string text_;
  int indent_ = 0, names_ = 0, loops_ = 0;
  bool may_return_ = false, folds_ = false;
  const Function* self_ = nullptr;  // the function being written

 private:
  void Statement(int depth);
  void DeclareValue();
  void DeclareArray();
  void DeclareRecord();
  void DeclarePointer();
  void Assign();
  void StoreElement();
  void If(int depth);
  void For(int depth);
  void While(int depth);
  void Walk();
  void Switch(int depth);
  void Lambda();
  void Pun();
  void Leave();
  void CallWithEffects();
  std::string PointerTo(const Parameter& parameter);
  std::string ArrayOf(const Parameter& parameter);
  const Variable* Writable(bool addressable);
};

}  // namespace lockstep::cosim::cuda
