// Keeps docs/reference/isa.md in step with the opcode table: the page is made from the table, by asking every row's
// selector what it takes. LOCKSTEP_UPDATE_GOLDEN=1 writes the page anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/golden.h"
#include "vgpu/analysis/operand_form.h"
#include "vgpu/core/opcode_table.h"
#include "vgpu/isa/approximations.h"
#include "vgpu/isa/special_registers.h"

namespace lockstep::vgpu {
namespace isa_reference_test {

using ptx::Type;
using Types = std::vector<Type>;
using Words = std::set<std::string>;

constexpr size_t kMostWords = 5;  // of one instruction, besides its types
constexpr size_t kTries = 60;     // until types count as not accepted

// The lists of operands, as their widths, that an instruction of this form may have: with and without optional ones,
// with vectors of 1, 2, 4 and 8 elements, and with a vector whose elements make up the other operand, as in mov.
std::vector<std::vector<int>> Layouts(std::string_view form, const Types& types) {
  const auto width = [&](const OperandPart& part) {
    if (part.address()) return 8;
    if (part.typing == OperandPart::Typing::kFixed) return ptx::SizeOf(part.type);
    const size_t k = static_cast<size_t>(part.typing == OperandPart::Typing::kModifier ? part.modifier : 0);
    if (k >= types.size()) return 0;
    return ptx::SizeOf(part.typing == OperandPart::Typing::kDoubled ? Doubled(types[k]) : types[k]);
  };
  const std::vector<OperandForm>& operands = ParseForm(form);
  const bool has_vector = std::any_of(operands.begin(), operands.end(), [](const auto& o) { return o.part.vector; });
  const auto optional = std::count_if(operands.begin(), operands.end(), [](const auto& o) { return o.optional; });
  std::vector<std::vector<int>> layouts;
  for (const int elements : {1, 2, 4, 8}) {
    if (elements > 1 && !has_vector) break;
    for (long with = 0; with <= optional; ++with) {
      std::vector<int> bytes, parts;
      long left = with;
      bool first = true;
      for (const OperandForm& operand : operands) {
        if (operand.optional && left-- <= 0) continue;
        const int one = width(operand.part);
        for (int k = 0; k < (operand.part.vector ? elements : 1); ++k) bytes.push_back(one);
        for (int k = 0; k < (operand.part.vector && !first ? elements : 1); ++k) {
          parts.push_back(first || !operand.part.vector ? one : std::max(one / elements, 1));
        }
        first = false;
      }
      layouts.push_back(bytes);
      if (elements > 1) layouts.push_back(parts);
    }
  }
  return layouts;
}

class Prober {
 public:
  explicit Prober(const Opcode& row) : row_(row) {}

  bool Accepts(const Types& types, const Words& words) const {
    return Accepts(types, words, Layouts(row_.form, types), nullptr);
  }

  // The words of the accepted instructions with these types; false when there is none. Looks for one instruction first,
  // then for the words that can be added to it or take another word's place, and so on from there.
  bool Probe(const Types& types, Words* taken) const {
    const std::vector<std::vector<int>> layouts = Layouts(row_.form, types);
    std::deque<Words> bases;
    std::set<std::string> known;
    if (!FindFirst(types, layouts, &bases, &known)) return false;
    taken->insert(bases.front().begin(), bases.front().end());
    for (; !bases.empty(); bases.pop_front()) {
      const Words base = bases.front();
      std::vector<std::string> asked;
      Accepts(types, base, layouts, &asked);
      known.insert(asked.begin(), asked.end());
      for (const std::string& word : known) {
        if (taken->contains(word)) continue;
        std::vector<Words> candidates{base};
        for (const std::string& other : base) {
          candidates.push_back(base);
          candidates.back().erase(other);
        }
        for (Words& candidate : candidates) {
          candidate.insert(word);
          if (!Accepts(types, candidate, layouts, nullptr)) continue;
          taken->insert(word);
          bases.push_back(candidate);
          break;
        }
      }
    }
    return true;
  }

 private:
  // Finds some accepted instruction. If a word makes the selector ask for words that it did not ask for before, it got
  // farther: the words it asks for now are tried first.
  bool FindFirst(const Types& types, const std::vector<std::vector<int>>& layouts, std::deque<Words>* found,
                 std::set<std::string>* known) const {
    std::map<size_t, std::deque<Words>, std::greater<>> waiting{{0, {{}}}};  // by the parent's new words
    std::set<Words> seen;
    for (size_t tries = 0; !waiting.empty() && tries < kTries; ++tries) {
      std::deque<Words>& front = waiting.begin()->second;
      const Words words = front.front();
      front.pop_front();
      if (front.empty()) waiting.erase(waiting.begin());
      if (!seen.insert(words).second) continue;
      std::vector<std::string> asked;
      const bool accepted = Accepts(types, words, layouts, &asked);
      const size_t before = known->size();
      known->insert(asked.begin(), asked.end());
      if (accepted) {
        found->push_back(words);
        return true;
      }
      if (words.size() == kMostWords) continue;
      const size_t fresh = words.empty() ? 0 : known->size() - before;
      for (const std::string& word : asked) {
        Words more = words;
        if (more.insert(word).second && !seen.contains(more)) waiting[fresh].push_back(std::move(more));
      }
    }
    return false;
  }

  bool Accepts(const Types& types, const Words& words, const std::vector<std::vector<int>>& layouts,
               std::vector<std::string>* asked) const {
    ptx::Instruction instruction;
    for (const std::string& word : words) instruction.modifiers.push_back(word);
    for (const Type type : types) instruction.modifiers.emplace_back(ptx::NameOf(type));
    for (const std::vector<int>& layout : layouts) {
      Modifiers modifiers(instruction);
      modifiers.set_operand_bytes(layout);
      modifiers.LogQueries(asked);
      if (row_.select(modifiers).handler != nullptr && modifiers.empty()) return true;
    }
    return false;
  }

  const Opcode& row_;
};

constexpr Type kLastType = Type::kF32x2;

std::vector<Type> AllTypes() {
  std::vector<Type> types;
  for (int k = 1; k <= static_cast<int>(kLastType); ++k) types.push_back(static_cast<Type>(k));
  return types;
}

// A row that names the destination's type and both sources' (the video instructions).
bool TakesThree(const Opcode& row) { return row.form.find("s1 s2") != std::string_view::npos; }

std::string Dotted(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "." : " .") + word;
  return text;
}

// "d, a, [m], {b…}": d destinations, [m] addresses, braces vectors, parentheses optional operands.
std::string Describe(std::string_view form) {
  std::string text;
  const char* source = "abcefghi";
  for (const OperandForm& operand : ParseForm(form)) {
    std::string one = operand.part.coordinates     ? std::string("[m, {c…}]")
                      : operand.part.address()     ? std::string("[m]")
                      : operand.part.destination() ? std::string(operand.part.type == Type::kPred ? "p" : "d")
                                                   : std::string(1, *source++);
    if (operand.part.vector) one = "{" + one + "…}";
    if (operand.has_second) one += "|p";
    if (!text.empty()) one = ", " + one;
    text += operand.optional ? "(" + one + ")" : one;
  }
  return text;
}

// What a row takes, in lines: types that take the same modifiers together.
std::vector<std::string> DescribeTypes(const Opcode& row) {
  if (row.variants != nullptr) return row.variants();
  const Prober prober(row);
  const bool pairs = row.form.find('1') != std::string_view::npos;
  std::map<std::string, std::vector<std::string>> types_by_words;
  std::vector<std::string> order;
  const auto add = [&](const std::string& types, const Words& words) {
    std::vector<std::string>& list = types_by_words[Dotted(words)];
    if (list.empty()) order.push_back(Dotted(words));
    list.push_back(types);
  };
  Words taken;
  if (prober.Probe({}, &taken)) add("", taken);
  for (const Type type : AllTypes()) {
    const std::string name = "." + std::string(ptx::NameOf(type));
    if (pairs) {
      // By the first type: which second ones, and the modifiers of them all.
      std::string others;
      Words all;
      for (const Type other : AllTypes()) {
        Words words;
        if (!prober.Probe(TakesThree(row) ? Types{type, other, other} : Types{type, other}, &words)) continue;
        others += (others.empty() ? "" : " ") + ("." + std::string(ptx::NameOf(other)));
        all.insert(words.begin(), words.end());
      }
      if (!others.empty()) add(name + " with " + others, all);
      continue;
    }
    Words words;
    if (prober.Probe({type}, &words)) add(name, words);
  }
  std::vector<std::string> lines;
  for (const std::string& words : order) {
    std::string line;
    for (const std::string& type : types_by_words[words]) {
      if (!type.empty()) line += (line.empty() ? "" : pairs ? "; " : " ") + type;
    }
    if (!words.empty()) line += (line.empty() ? "" : ": ") + words;
    lines.push_back(line);
  }
  return lines;
}

std::string MakePage() {
  std::ostringstream page;
  page << R"(# PTX instructions

This page is made from the opcode table of `harness/vgpu/isa` by the test `isa_reference_test`, which fails when the page
is out of date; `LOCKSTEP_UPDATE_GOLDEN=1` makes it anew. It covers PTX ISA 9.0 for `compute_75` to `compute_100`.

An instruction that is not listed, or has a modifier or a type that its row does not name, is refused when a kernel
executes it, by name and source line. The only modifiers without effect are those that concern speed alone (cache
operators, eviction priorities, prefetch sizes); they are accepted.

In the column of operands, `d` and `p` are destinations, `[m]` an address, `[m, {c…}]` a tensor with coordinates, `{a…}` a vector or a scalar; what stands in
parentheses may be missing. Traits are what the rest of the virtual GPU has to know of an opcode, listed below. The last
column lists types, and after a colon the modifiers that go with them, though not every one with every other. Of matrix
instructions it lists all that may follow the name; those on memory take `.global` (not `ldmatrix` and `stmatrix`),
`.shared` or `.shared::cta` too.

## Supported

| opcode | operands | traits | types and modifiers |
|---|---|---|---|
)";
  for (const Opcode* row : AllOpcodes()) {
    if (row->select == nullptr) continue;
    page << "| `" << row->name << "` | " << (row->form.empty() ? "" : "`" + Describe(row->form) + "`") << " | "
         << TraitsText(row->traits) << " | ";
    bool first = true;
    for (const std::string& line : DescribeTypes(*row)) {
      if (line.empty()) continue;
      page << (first ? "`" : "<br>`") << line << "`";
      first = false;
    }
    page << " |\n";
  }
  page << R"(
`d|p`: two destinations separated by a bar, a result and a predicate. Branches (`bra`, `brx.idx`), `call` (direct, and indirect with a prototype or a
list of targets), `ret` and `exit` are supported in all their forms.

### Traits

An opcode that accesses memory or synchronises threads has exactly one of the traits that begin with "order" or "any
order": they say when blocks must take turns on one thread.

| trait | what holds of an opcode that has it |
|---|---|
)";
  for (const TraitInfo& trait : AllTraits()) page << "| " << trait.word << " | " << trait.text << " |\n";
  page << R"(
## Refused

| opcodes | reason |
|---|---|
)";
  std::map<std::string, std::string> refused;
  for (const Opcode* row : AllOpcodes()) {
    if (row->refusal.empty()) continue;
    std::string& names = refused[std::string(row->refusal)];
    names += (names.empty() ? "`" : ", `") + std::string(row->name) + "`";
  }
  for (const auto& [reason, names] : refused) page << "| " << names << " | " << reason << " |\n";
  page << R"(
## Approximations

The results are an H100's, bit for bit ([on record](../records/special-functions.md)), whatever the device. The table
bounds their distance from the exact results: the PTX ISA's promises, and "ours" where it makes none. Two rows are
promises that an H100 breaks. `isa_approximation_test` checks them, for the 16-bit forms on every operand. Operands that
are infinite, zero or NaN give the documented results. `sin` and `cos` have no bound beyond 100 pi.

| instruction | error at most | for |
|---|---|---|
)";
  for (const Approximation& row : kApproximations) {
    std::ostringstream bound;
    bound << "2^" << row.exponent;
    const bool ulp = row.measure == ErrorMeasure::kUlp;
    page << "| `" << row.instruction << "` | "
         << (ulp ? std::to_string(static_cast<int>(std::exp2(row.exponent))) + " ulp"
                 : bound.str() + (row.measure == ErrorMeasure::kRelative ? " of the result" : ""))
         << (row.documented ? "" : " (ours)");
    if (row.beyond > 1) page << "; an H100's: up to " << row.beyond << " times that";
    page << " | " << row.on << " |\n";
  }
  page << "\n## Special registers\n\n";
  std::string line;
  for (const std::string_view name : SpecialRegisterNames()) {
    if (line.size() + name.size() > 110) {
      page << line << "\n";
      line.clear();
    }
    line += (line.empty() ? "`" : " `") + std::string(name) + "`";
  }
  page << line << " `WARP_SZ`\n";
  return page.str();
}

TEST(IsaReferenceTest, ThePageIsUpToDate) {
  // The text after the table, what people found on hardware, is kept.
  const std::string stored = tests::ReadText(LOCKSTEP_SOURCE_DIR "/docs/reference/isa.md");
  const size_t notes = stored.find("\n## Measured against hardware");
  std::string page = MakePage() + (notes == std::string::npos ? "" : stored.substr(notes));
  page.pop_back();
  ExpectFile("docs/reference/isa.md", page);
}

// Every row: some instruction is taken, and the same one with a word, a type or both that mean nothing is refused.
TEST(IsaReferenceTest, EveryRowTakesSomethingAndIgnoresNothing) {
  for (const Opcode* row : AllOpcodes()) {
    if (row->select == nullptr || row->variants != nullptr) continue;  // isa_tensor_test has those with variants
    const Prober prober(*row);
    std::vector<Types> candidates = {{}};
    for (const Type type : AllTypes()) {
      candidates.push_back({type});
      if (row->form.find('1') == std::string_view::npos) continue;
      for (const Type other : {Type::kU32, Type::kS32, Type::kF32}) {
        candidates.push_back({type, other});
        if (TakesThree(*row)) candidates.push_back({type, other, other});
      }
    }
    bool any = false;
    for (const Types& types : candidates) {
      Words taken;
      if (any || !prober.Probe(types, &taken)) continue;
      any = true;
      for (const Words& words : {Words{}, taken}) {
        Words more = words;
        more.insert("frobnicate");
        EXPECT_FALSE(prober.Accepts(types, more)) << row->name;
      }
      Types many = types;
      many.resize(4, Type::kE5M2x2);
      EXPECT_FALSE(prober.Accepts(many, {})) << row->name << " takes four types";
    }
    EXPECT_TRUE(any) << row->name;
  }
}

}  // namespace isa_reference_test
}  // namespace lockstep::vgpu
