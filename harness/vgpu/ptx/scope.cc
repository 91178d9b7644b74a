#include "vgpu/ptx/scope.h"

#include "vgpu/ptx/cursor.h"

namespace lockstep::vgpu::ptx {
namespace {

constexpr size_t kMostIndexDigits = 9;

// Calls f(base, index) for every split of a name into a range's base and an index without leading zeros.
template <typename F>
void ForSplits(std::string_view name, F f) {
  size_t first = name.size();
  while (first > 1 && name.size() - first < kMostIndexDigits && IsDigit(name[first - 1])) --first;
  for (; first < name.size(); ++first) {
    const std::string_view index = name.substr(first);
    if (index.size() > 1 && index[0] == '0') continue;
    f(name.substr(0, first), index);
  }
}

int64_t ToIndex(std::string_view digits) {
  int64_t value = 0;
  for (const char c : digits) value = value * 10 + (c - '0');
  return value;
}

}  // namespace

bool Scopes::Open() {
  if (open_.size() >= kDeepest) return false;
  parent_.push_back(open_.empty() ? -1 : open_.back());
  open_.push_back(static_cast<int>(parent_.size()) - 1);
  single_names_.emplace_back();
  range_names_.emplace_back();
  smallest_index_.emplace_back();
  return true;
}

void Scopes::Close() {
  for (const std::string_view name : single_names_.back()) singles_.find(name)->second.pop_back();
  for (const std::string_view name : range_names_.back()) ranges_.find(name)->second.pop_back();
  single_names_.pop_back();
  range_names_.pop_back();
  smallest_index_.pop_back();
  open_.pop_back();
}

std::string Scopes::Unique(std::string_view name, int scope) {
  std::string unique(name);
  if (scope != 0) {
    unique += '@';
    unique += std::to_string(scope);
  }
  return unique;
}

std::string Scopes::RangeBase(std::string_view base, int scope) {
  return scope == 0 ? std::string(base) : Unique(base, scope) + '.';
}

const Scopes::Symbol* Scopes::FindSingle(std::string_view name) const {
  const auto found = singles_.find(name);
  return found == singles_.end() || found->second.empty() ? nullptr : &found->second.back();
}

const Scopes::Symbol* Scopes::FindRange(std::string_view name, std::string_view* base, std::string_view* index) const {
  const Symbol* best = nullptr;
  ForSplits(name, [&](std::string_view candidate, std::string_view digits) {
    const auto found = ranges_.find(candidate);
    if (found == ranges_.end()) return;
    // Innermost first: an inner range may be too short for this index while an outer one is not.
    for (auto symbol = found->second.rbegin(); symbol != found->second.rend(); ++symbol) {
      if (ToIndex(digits) >= symbol->count) continue;
      if (best == nullptr || symbol->scope > best->scope) {
        best = &*symbol;
        *base = candidate;
        *index = digits;
      }
      break;
    }
  });
  return best;
}

bool Scopes::TakenHere(std::string_view name) const {
  const Symbol* single = FindSingle(name);
  if (single != nullptr && single->scope == current()) return true;
  std::string_view base, index;
  const Symbol* range = FindRange(name, &base, &index);
  return range != nullptr && range->scope == current();
}

void Scopes::NoteIndex(std::string_view base, int64_t index) {
  const auto [place, is_new] = smallest_index_.back().emplace(base, index);
  if (!is_new && index < place->second) place->second = index;
}

std::string Scopes::DeclareSingle(std::string_view name, Kind kind, int shape) {
  if (TakenHere(name)) return "";
  singles_[name].push_back({current(), kind, 0, shape});
  single_names_.back().push_back(name);
  ForSplits(name, [&](std::string_view base, std::string_view index) { NoteIndex(base, ToIndex(index)); });
  return Unique(name, current());
}

std::string Scopes::DeclareVariable(std::string_view name) { return DeclareSingle(name, Kind::kVariable, 0); }

std::string Scopes::DeclareRegister(std::string_view name, int shape) {
  return DeclareSingle(name, Kind::kRegister, shape);
}

std::string Scopes::DeclareRegisterRange(std::string_view base, int count, int shape) {
  const auto here = ranges_.find(base);
  if (here != ranges_.end() && !here->second.empty() && here->second.back().scope == current()) return "";
  const auto taken = smallest_index_.back().find(base);
  if (taken != smallest_index_.back().end() && taken->second < count) return "";
  if (count > 0) {
    // A range with a shorter base has the same names: the first of %r1<4>, "%r10", would also be index 10 of %r.
    if (TakenHere(std::string(base) + "0")) return "";
    ForSplits(base, [&](std::string_view shorter, std::string_view index) {
      if (index != "0") NoteIndex(shorter, ToIndex(index) * 10);
    });
  }
  ranges_[base].push_back({current(), Kind::kRegister, count, shape});
  range_names_.back().push_back(base);
  return RangeBase(base, current());
}

std::string Scopes::DeclareLabel(std::string_view name) {
  return labels_[name].insert(current()).second ? Unique(name, current()) : "";
}

Scopes::Found Scopes::Find(std::string_view name) const {
  const Symbol* single = FindSingle(name);
  std::string_view base, index;
  const Symbol* range = IsDigit(name.back()) ? FindRange(name, &base, &index) : nullptr;
  if (single == nullptr && range == nullptr) return {};
  const bool in_range = single == nullptr || (range != nullptr && range->scope > single->scope);
  const Symbol& symbol = in_range ? *range : *single;
  if (!in_range) return {symbol.kind, Unique(name, symbol.scope), symbol.shape};
  return {symbol.kind, RangeBase(base, symbol.scope).append(index), symbol.shape};
}

Scopes::LabelSearch Scopes::FindLabel(std::string_view name, int scope, std::string* unique) const {
  const auto found = labels_.find(name);
  if (found == labels_.end()) return LabelSearch::kNoLabel;
  for (; scope >= 0; scope = parent_[scope]) {
    if (found->second.contains(scope)) {
      *unique = Unique(name, scope);
      return LabelSearch::kFound;
    }
  }
  return LabelSearch::kNotVisible;
}

}  // namespace lockstep::vgpu::ptx
