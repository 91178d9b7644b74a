// Matrix instructions against an H100: isa_tensor.h100.txt has a line for each, with hashes of what it gave for the
// operands of tensor_cases.h, twenty cases a hash, every bit of every register.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/isa/tensor_cases.h"
#include "tests/support/device_support.h"
#include "tests/support/recorded.h"
#include "vgpu/core/opcode_table.h"

namespace lockstep::vgpu {
namespace isa_tensor_test {

constexpr size_t kCasesAHash = 20;

template <typename T>
std::vector<std::string> HashesOf(const std::vector<T>& words, size_t words_of_case) {
  std::vector<std::string> hashes;
  const size_t piece = words_of_case * kCasesAHash;
  for (size_t at = 0; at < words.size(); at += piece) {
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t k = at; k < std::min(at + piece, words.size()); ++k) hash = (hash ^ words[k]) * 0x100000001b3;
    char text[20];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
    hashes.emplace_back(text);
  }
  return hashes;
}

std::string Registers(const std::string& name, int count) {
  std::string text;
  for (int k = 0; k < count; ++k) text += (k == 0 ? "{%" : ", %") + name + std::to_string(k);
  return text + "}";
}

// A kernel that reads operands from its parameters' buffers, runs the instruction and stores d.
std::string Kernel(const std::string& type, const std::vector<std::pair<std::string, int>>& loads, int results,
                   const std::string& instruction, int bytes) {
  std::ostringstream ptx;
  ptx << ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 pd";
  for (const auto& [name, count] : loads) ptx << ", .param .u64 p" << name;
  ptx << ")\n{\n.reg ." << type << " %d<9>, %a<9>, %b<9>, %c<9>;\n.reg .b64 %p<9>;\n.reg .b32 %t<9>;\n"
      << "mov.u32 %t0, %tid.x;\nmov.u32 %t1, %ctaid.x;\nmad.lo.u32 %t0, %t1, 32, %t0;\n";
  const auto place = [&](const std::string& name, int count) {
    ptx << "ld.param.u64 %p0, [p" << name << "];\nmul.wide.u32 %p1, %t0, " << count * bytes
        << ";\nadd.u64 %p0, %p0, %p1;\n";
  };
  for (const auto& [name, count] : loads) {
    place(name, count);
    for (int k = 0; k < count; ++k)
      ptx << "ld.global." << type << " %" << name << k << ", [%p0+" << k * bytes << "];\n";
  }
  ptx << instruction << "\n";
  place("d", results);
  for (int k = 0; k < results; ++k) ptx << "st.global." << type << " [%p0+" << k * bytes << "], %d" << k << ";\n";
  ptx << "ret;\n}\n";
  return ptx.str();
}

template <typename T>
std::vector<std::string> RunProduct(const std::string& instruction, uint64_t row, size_t cases,
                                    const TensorOperands& of, int results) {
  const bool wide = sizeof(T) == 8;
  const std::string text = instruction + " " + Registers("d", results) + ", " + Registers("a", of.a_registers) + ", " +
                           Registers("b", of.b_registers) + ", " + Registers("c", of.c_registers) + ";";
  TestDevice device(Kernel(wide ? "b64" : "b32", {{"a", of.a_registers}, {"b", of.b_registers}, {"c", of.c_registers}},
                           results, text, sizeof(T)));
  std::vector<T> a, b, c;
  for (size_t k = 0; k < cases; ++k) {
    const TensorCase made = MakeTensorCase(row, k, of);
    a.insert(a.end(), made.a.begin(), made.a.end());
    b.insert(b.end(), made.b.begin(), made.b.end());
    c.insert(c.end(), made.c.begin(), made.c.end());
  }
  const auto d = device.Make(std::vector<T>(cases * 32 * static_cast<size_t>(results)));
  device.Run("k", {{static_cast<uint32_t>(cases)}, {32}}, d, device.Make(a), device.Make(b), device.Make(c));
  return HashesOf(device.Get(d), 32 * static_cast<size_t>(results));
}

// Loads a matrix from memory filled with random bits, a different one in each of 32 blocks.
template <typename T>
std::vector<std::string> RunLoad(const std::string& instruction, int registers, int stride, int matrix_bytes) {
  std::ostringstream text;
  text << "ld.param.u64 %p0, [pm];\nmul.wide.u32 %p1, %t1, " << matrix_bytes << ";\nadd.u64 %p0, %p0, %p1;\n"
       << instruction << " " << Registers("d", registers) << ", [%p0], " << stride << ";";
  TestDevice device(Kernel(sizeof(T) == 8 ? "b64" : "b32", {{"m", 0}}, registers, text.str(), sizeof(T)));
  CaseRandom random(777);
  std::vector<uint64_t> memory(1 << 13);
  for (uint64_t& word : memory) word = random.Next();
  const auto d = device.Make(std::vector<T>(32 * 32 * static_cast<size_t>(registers)));
  device.Run("k", {{32}, {32}}, d, device.Make(memory));
  return HashesOf(device.Get(d), 32 * static_cast<size_t>(registers));
}

TEST(IsaTensorTest, EveryBitIsAnH100s) {  // in turn
  std::istringstream file(ReadRecorded(LOCKSTEP_SOURCE_DIR "/harness/tests/isa/isa_tensor.h100.txt"));
  std::string line;
  size_t products = 0, loads = 0;
  while (std::getline(file, line)) {
    if (line.starts_with('#')) continue;
    std::istringstream in(line);
    std::string what, instruction, hash;
    in >> what >> instruction;
    std::vector<std::string> made, recorded;
    if (what == "product") {
      std::string a, b, c;
      int na = 0, nb = 0, nc = 0, nd = 0;
      uint64_t row = 0;
      size_t cases = 0;
      in >> a >> b >> c >> na >> nb >> nc >> nd >> row >> cases;
      const TensorOperands of{FormatOf(a), FormatOf(b), FormatOf(c), na, nb, nc};
      made = a == "F64" ? RunProduct<uint64_t>(instruction, row, cases, of, nd)
                        : RunProduct<uint32_t>(instruction, row, cases, of, nd);
      ++products;
    } else {
      int registers = 0, stride = 0, bytes = 0, wide = 0;
      in >> registers >> stride >> bytes >> wide;
      made = wide != 0 ? RunLoad<uint64_t>(instruction, registers, stride, bytes)
                       : RunLoad<uint32_t>(instruction, registers, stride, bytes);
      ++loads;
    }
    while (in >> hash) recorded.push_back(hash);
    EXPECT_EQ(made, recorded) << instruction;
  }
  EXPECT_EQ(products, 159u);
  EXPECT_EQ(loads, 74u);
}

// What the tables list can be decoded: the instruction's operands are as many as its modifiers say.
TEST(IsaTensorTest, EveryListedFormIsSelected) {
  size_t forms = 0;
  for (const Opcode* row : AllOpcodes()) {
    // The list leaves out modifiers of tile copies that change nothing.
    if (row->variants == nullptr || row->name.starts_with("cp.")) continue;
    for (const std::string& variant : row->variants()) {
      ptx::Instruction instruction;
      std::istringstream words(std::string(row->name) + variant);
      std::getline(words, instruction.opcode, '.');
      for (std::string word; std::getline(words, word, '.');) instruction.modifiers.push_back(word);
      ASSERT_EQ(FindOpcode(instruction), row);
      Modifiers modifiers(instruction, row->name);
      EXPECT_NE(row->select(modifiers).handler, nullptr) << row->name << variant;
      instruction.modifiers.push_back("f17");
      Modifiers wrong(instruction, row->name);
      EXPECT_EQ(row->select(wrong).handler, nullptr) << row->name << variant;
      ++forms;
    }
  }
  EXPECT_GT(forms, 300u);
}

}  // namespace isa_tensor_test
}  // namespace lockstep::vgpu
