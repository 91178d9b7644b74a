// The names available at a point in a random CUDA C++ program.
#pragma once

#include <string>
#include <vector>

namespace lockstep::cosim::cuda {

enum Type { I8, U8, I16, U16, I32, U32, I64, U64, I128, U128, F32, F64, kTypes };

inline const char* Name(Type type) {
  static constexpr const char* names[] = {"i8",  "u8",  "i16",  "u16",  "i32", "u32",
                                          "i64", "u64", "i128", "u128", "f32", "f64"};
  return names[type];
}
inline bool Floating(Type type) { return type >= F32; }
inline bool Signed(Type type) { return type < F32 && type % 2 == 0; }
inline int Width(Type type) { return type == F32 ? 32 : type == F64 ? 64 : 8 << type / 2; }

struct Variable {
  std::string text;
  Type type;
  bool writable = true;
  bool bit_field = false;  // has no address, and is promoted to int
};

// Its size is a power of two. suffix: appended to an element (".x").
struct Array {
  std::string text;
  Type type;
  int size;
  bool writable = true;
  std::string suffix = {};
};

struct Field {
  std::string name;
  Type type;
  int count = 0;    // an array's
  int bits = 0;     // a bit-field's
  int record = -1;  // a record's
};

struct Record {
  std::string name;
  std::string make;  // the start of a text that builds one from its fields except arrays: "MakeR1(", "int2{"
  std::vector<Field> fields;
  int size = 0, align = 1;
};

struct Instance {
  std::string text;
  int record;
  bool writable = true;
};

struct Parameter {
  enum Kind { kValue, kRecord, kPointer, kArray, kInput, kEnv, kDepth };
  Kind kind = kValue;
  Type type = U32;
  int record = -1;
  int count = 0;
  bool writable = false;  // through the pointer
};

struct Function {
  std::string name;
  std::vector<Parameter> parameters;
  Type result = U32;
  int record = -1;  // of the result
  double cost = 1;
  bool effects = false;  // must be called in a statement of its own, so that the order of evaluation doesn't matter
};

struct Scope {
  std::vector<Variable> variables;
  std::vector<Array> arrays;
  std::vector<Instance> instances;
  std::vector<Function> functions;  // lambdas
  std::string input;                // names an Input
  std::string env;                  // names an Env
};

}  // namespace lockstep::cosim::cuda
