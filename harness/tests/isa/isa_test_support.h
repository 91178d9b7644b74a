// Runs single instructions of the opcode table on a made-up warp: modifiers are selected and operands laid out by the
// form as the decoder does it, registers are filled lane by lane.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/analysis/operand_form.h"
#include "vgpu/core/insn.h"
#include "vgpu/core/opcode_table.h"
#include "vgpu/core/warp.h"

namespace lockstep::vgpu {

class LaneMachine {
 public:
  // text: such as "add.sat.s32". bytes: the operands' declared widths, where they matter (Modifiers::operand_bytes);
  // by default those that the form has, without optional operands.
  explicit LaneMachine(std::string_view text, std::vector<int> bytes = {}) : text_(text) {
    ptx::Instruction instruction;
    size_t at = text.find('.');
    instruction.opcode = text.substr(0, at);
    while (at != std::string_view::npos) {
      const size_t next = text.find('.', at + 1);
      instruction.modifiers.emplace_back(text.substr(at + 1, next == std::string_view::npos ? next : next - at - 1));
      at = next;
    }
    const Opcode* opcode = FindOpcode(instruction);
    if (opcode == nullptr || opcode->select == nullptr) return;
    Modifiers modifiers(instruction, opcode->name);
    modifiers.set_operand_bytes(bytes.empty() ? DefaultBytes(opcode->form, modifiers) : bytes);
    const Selection selection = opcode->select(modifiers);
    if (selection.handler == nullptr || !modifiers.empty()) return;
    insn_.handler = selection.handler;
    insn_.extra = selection.extra;
    insn_.flags = selection.flags;
    insn_.insn_class = selection.insn_class == InsnClass::kOther ? opcode->insn_class : selection.insn_class;
    LayOut(selection.form.empty() ? opcode->form : selection.form, modifiers, bytes);
    warp_.base[0] = frame_.data();
    warp_.base[1] = frame_.data();
    warp_.active = warp_.alive = kFullMask;
  }

  bool supported() const { return insn_.handler != nullptr; }
  const Insn& insn() const { return insn_; }
  Warp& warp() { return warp_; }
  size_t sources() const { return sources_.size(); }

  // k counts sources or destinations alone, in PTX order.
  void SetSource(size_t k, int lane, uint64_t value) { Write(sources_.at(k), lane, value); }
  void SetSourceInAllLanes(size_t k, uint64_t value) {
    for (int lane = 0; lane < kWarpSize; ++lane) SetSource(k, lane, value);
  }
  void SetDestination(size_t k, int lane, uint64_t value) { Write(destinations_.at(k), lane, value); }
  uint64_t Destination(size_t k, int lane) const { return Read(destinations_.at(k), lane); }
  void NegateSource(size_t k) { insn_.negated_predicates |= static_cast<uint8_t>(1 << sources_.at(k)); }

  void Run(LaneMask mask = kFullMask) { insn_.handler(warp_, insn_, mask); }

 private:
  static constexpr int kRowStride = 512;

  static int ElementBytes(ptx::Type type) {
    if (type == ptx::Type::kPred) return 0;
    return ptx::SizeOf(type) == 1 ? 2 : ptx::SizeOf(type);
  }

  static std::vector<int> DefaultBytes(std::string_view form, const Modifiers& modifiers) {
    std::vector<int> bytes;
    for (const OperandForm& operand : ParseForm(form)) {
      if (operand.optional) continue;
      bytes.push_back(ptx::SizeOf(ResolveType(operand.part, modifiers)));
      if (operand.has_second) bytes.push_back(ptx::SizeOf(ResolveType(operand.second, modifiers)));
    }
    return bytes;
  }

  void LayOut(std::string_view form, const Modifiers& modifiers, const std::vector<int>& bytes) {
    size_t row = 0;
    const auto add = [&](const OperandPart& part, bool absent) {
      if (!absent) {
        const ptx::Type type = ResolveType(part, modifiers);
        EXPECT_NE(type, ptx::Type::kNone) << text_ << ": operand " << row << " has no type";
        element_bytes_[row] = row < bytes.size() && bytes[row] > 0 ? std::max(bytes[row], 2) : ElementBytes(type);
        if (type == ptx::Type::kPred) element_bytes_[row] = 0;
        insn_.row[row] = static_cast<RowRef>(row * kRowStride);
        (part.destination() ? destinations_ : sources_).push_back(row);
      }
      ++row;
    };
    const std::vector<OperandForm>& operands = ParseForm(form);
    const size_t vectors = bytes.size() > operands.size() ? bytes.size() - operands.size() + 1 : 1;
    for (const OperandForm& operand : operands) {
      for (size_t k = 0; k < (operand.part.vector ? vectors : 1); ++k) add(operand.part, operand.optional);
      if (operand.has_second) add(operand.second, operand.optional);
    }
    ASSERT_LE(row, 8u) << text_;
  }

  void Write(size_t row, int lane, uint64_t value) {
    uint8_t* at = frame_.data() + insn_.row[row];
    if (element_bytes_[row] == 0) {
      uint32_t bits;
      std::memcpy(&bits, at, sizeof bits);
      bits = (bits & ~(1u << lane)) | static_cast<uint32_t>(value & 1) << lane;
      std::memcpy(at, &bits, sizeof bits);
      return;
    }
    std::memcpy(at + lane * element_bytes_[row], &value, static_cast<size_t>(std::min(element_bytes_[row], 8)));
  }

  uint64_t Read(size_t row, int lane) const {
    const uint8_t* at = frame_.data() + insn_.row[row];
    uint64_t value = 0;
    if (element_bytes_[row] == 0) {
      uint32_t bits;
      std::memcpy(&bits, at, sizeof bits);
      return (bits >> lane) & 1;
    }
    std::memcpy(&value, at + lane * element_bytes_[row], static_cast<size_t>(std::min(element_bytes_[row], 8)));
    return value;
  }

  std::string text_;
  Insn insn_;
  Warp warp_;
  std::vector<size_t> destinations_, sources_;  // rows
  std::array<int, 8> element_bytes_ = {};       // 0: predicate
  alignas(64) std::array<uint8_t, 8 * kRowStride> frame_ = {};
};

// The first destination for one set of source values. Runs with all lanes, then with half of them, and expects every
// active lane to agree and every other lane to keep what it had.
inline uint64_t Evaluate(std::string_view text, const std::vector<uint64_t>& sources, std::vector<int> bytes = {}) {
  LaneMachine machine(text, std::move(bytes));
  EXPECT_TRUE(machine.supported()) << text;
  if (!machine.supported()) return 0;
  EXPECT_EQ(machine.sources(), sources.size()) << text;
  for (size_t k = 0; k < std::min(sources.size(), machine.sources()); ++k) machine.SetSourceInAllLanes(k, sources[k]);
  machine.Run();
  const uint64_t result = machine.Destination(0, 0);
  for (int lane = 1; lane < kWarpSize; ++lane)
    EXPECT_EQ(machine.Destination(0, lane), result) << text << " lane " << lane;

  constexpr LaneMask kHalf = 0x5a5a0ff1;
  constexpr uint64_t kOld = 0x5555555555555555;
  for (int lane = 0; lane < kWarpSize; ++lane) machine.SetDestination(0, lane, kOld);
  const uint64_t old = machine.Destination(0, 0);
  machine.warp().carry = 0;
  machine.Run(kHalf);
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const bool active = (kHalf >> lane) & 1;
    EXPECT_EQ(machine.Destination(0, lane), active ? result : old) << text << " lane " << lane;
  }
  return result;
}

inline bool Supported(std::string_view text, std::vector<int> bytes = {}) {
  return LaneMachine(text, std::move(bytes)).supported();
}

inline uint64_t Bits(float x) { return std::bit_cast<uint32_t>(x); }
inline uint64_t Bits(double x) { return std::bit_cast<uint64_t>(x); }
inline float AsFloat(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }
inline double AsDouble(uint64_t bits) { return std::bit_cast<double>(bits); }

}  // namespace lockstep::vgpu
