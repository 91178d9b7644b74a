// The names declared in a function, across its nested { } scopes.
//
// In PTX every scope can declare its own registers, variables and labels: nvcc wraps each call in a scope with its own
// "param0" and "retval0", and inline assembly repeats names such as "p" and "L1". A name declared in the function's
// outermost scope is unchanged; in an inner scope N it becomes "name@N", and a range of registers "name@N.". '@' cannot
// occur in PTX names, so the new names are unique. Registers and variables are declared before use; labels may come
// later, so references to them are resolved when the function ends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace lockstep::vgpu::ptx {

class Scopes {
 public:
  enum class Kind : uint8_t { kNone, kRegister, kVariable };
  struct Found {
    Kind kind = Kind::kNone;
    std::string name;  // unique in the function
    int shape = 0;     // of a register: as given when it was declared
  };

  static constexpr int kDeepest = 200;

  // Names are views into the PTX text, which must outlive this object.
  Scopes() { Open(); }

  // False: scopes are nested too deeply.
  bool Open();
  void Close();
  int depth() const { return static_cast<int>(open_.size()); }
  int current() const { return open_.back(); }

  // The unique name; "" if the name is already declared in this scope.
  std::string DeclareVariable(std::string_view name);
  // `shape` is for the caller, who gets it back from Find.
  std::string DeclareRegister(std::string_view name, int shape = 0);
  std::string DeclareRegisterRange(std::string_view base, int count, int shape = 0);  // base0 … base(count-1)
  std::string DeclareLabel(std::string_view name);

  Found Find(std::string_view name) const;

  enum class LabelSearch { kNoLabel, kFound, kNotVisible };
  // Finds a label as seen from a scope, open or closed; call it once all labels are declared.
  LabelSearch FindLabel(std::string_view name, int scope, std::string* unique) const;

 private:
  struct Symbol {
    int scope;
    Kind kind;
    int count;  // size of a range, 0 for a single name
    int shape;
  };

  // "name" in scope 0, else "name@scope".
  static std::string Unique(std::string_view name, int scope);
  static std::string RangeBase(std::string_view base, int scope);  // the same plus a dot, so that digits can follow
  std::string DeclareSingle(std::string_view name, Kind kind, int shape);
  bool TakenHere(std::string_view name) const;
  const Symbol* FindSingle(std::string_view name) const;
  const Symbol* FindRange(std::string_view name, std::string_view* base, std::string_view* index) const;
  // Records that "base index" is a name of this scope, so that no later range may cover it.
  void NoteIndex(std::string_view base, int64_t index);

  std::vector<int> open_;    // ids of the open scopes, outermost first
  std::vector<int> parent_;  // by scope id; -1 for the outermost
  // By name: its declarations in open scopes, innermost last.
  std::unordered_map<std::string_view, std::vector<Symbol>> singles_, ranges_;
  std::vector<std::vector<std::string_view>> single_names_, range_names_;  // declared in each open scope
  std::unordered_map<std::string_view, std::unordered_set<int>> labels_;   // scopes that declare each label
  // For each open scope: base → the smallest k for which a register "base k" was declared individually.
  std::vector<std::unordered_map<std::string_view, int64_t>> smallest_index_;
};

}  // namespace lockstep::vgpu::ptx
