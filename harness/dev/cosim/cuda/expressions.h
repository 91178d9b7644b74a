// Random expressions. Each has one value for any order of evaluation, and exactly the requested type in C++.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "dev/cosim/cuda/scope.h"
#include "dev/cosim/random.h"

namespace lockstep::cosim::cuda {

class Expressions {
 protected:
  explicit Expressions(uint64_t seed) : random_(seed) {}

  std::string Expression(Type type, int depth);
  std::string Condition(int depth);
  std::string RecordValue(int record, int depth);
  std::string Constant(Type type);
  std::string Index(int size, int depth);
  // other: makes arguments for parameters that are not a value, record or input.
  using Argument = std::function<std::string(const Parameter&)>;
  std::string Call(const Function& function, int depth, const Argument& other);
  std::string Call(const Function& function, int depth);  // of a function without effects
  std::string Converted(Type to, const std::string& text, Type from);

  Type AnyType();
  Type AnyWhole();
  bool Affordable(const Function& function) const { return cost_ + factor_ * function.cost < limit_; }
  void Declare(const Variable& variable) { scope_.variables.push_back(variable); }
  // Opens a record's members, as variables and arrays.
  void Open(const Instance& instance);
  template <typename T>
  const T& One(const std::vector<T>& of) {
    return of[static_cast<size_t>(random_.Pick(static_cast<int>(of.size())))];
  }

  Random random_;
  Scope scope_;
  std::vector<Record> records_;
  std::vector<Function> functions_;
  std::vector<std::string> tables_[kTypes];     // by type of the value: names of functions of an index
  std::vector<std::string> templates_;          // names of templates, called as NAME<type, number>(value, value)
  double cost_ = 0, factor_ = 1, limit_ = 600;  // operations of the function so far; runs of the current line; most

 private:
  std::string Leaf(Type type);
  std::string Whole(Type type, int depth);
  std::string Real(Type type, int depth);
  std::string Intrinsic(Type type, int depth);
  std::string CallOf(Type type, int depth);
};

// The parts in order, generated from left to right: with + the compiler would choose the order in which operands draw
// random numbers.
std::string Join(std::initializer_list<std::string> parts);
std::string Format(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace lockstep::cosim::cuda
