#include <cstdio>

#include "vgpu/core/memory_flags.h"
#include "vgpu/core/source_place.h"
#include "vgpu/decode/listing.h"
#include "vgpu/exec/control.h"
#include "vgpu/exec/warp_state.h"

namespace lockstep::vgpu {
namespace {

constexpr size_t kTextColumns = 56, kLineColumns = 24;

std::string_view NameOf(InsnClass insn_class) {
  switch (insn_class) {
    case InsnClass::kInteger:
      return "integer";
    case InsnClass::kIntegerMultiply:
      return "integer multiplication";
    case InsnClass::kIntegerDivide:
      return "integer division";
    case InsnClass::kFloat32:
      return "float 32";
    case InsnClass::kFloat64:
      return "float 64";
    case InsnClass::kFloat16:
      return "float 16";
    case InsnClass::kSpecialFunction:
      return "special function";
    case InsnClass::kConvert:
      return "conversion";
    case InsnClass::kMove:
      return "move";
    case InsnClass::kPredicate:
      return "predicate";
    case InsnClass::kLoad:
      return "load";
    case InsnClass::kStore:
      return "store";
    case InsnClass::kAtomic:
      return "atomic";
    case InsnClass::kBranch:
      return "branch";
    case InsnClass::kCall:
      return "call";
    case InsnClass::kBarrier:
      return "barrier";
    case InsnClass::kTensor:
      return "tensor";
    case InsnClass::kWarpSync:
      return "warp sync";
    case InsnClass::kFence:
      return "fence";
    case InsnClass::kOther:
      break;
  }
  return "other";
}

// As PTX writes it.
std::string_view PtxNameOf(MemorySpace space) {
  switch (space) {
    case MemorySpace::kGlobal:
      return "global";
    case MemorySpace::kShared:
      return "shared";
    case MemorySpace::kLocal:
      return "local";
    case MemorySpace::kConst:
      return "const";
    case MemorySpace::kParam:
      return "param";
  }
  return "";
}

std::string_view NameOf(MemoryOrder order) {
  switch (order) {
    case MemoryOrder::kWeak:
      return "";
    case MemoryOrder::kVolatile:
      return "volatile";
    case MemoryOrder::kRelaxed:
      return "relaxed";
    case MemoryOrder::kAcquire:
      return "acquire";
    case MemoryOrder::kRelease:
      return "release";
    case MemoryOrder::kAcquireRelease:
      return "acquire and release";
  }
  return "";
}

bool IsBranch(const Insn& insn) {
  return insn.handler == Branch || insn.handler == SpinBranch || insn.handler == IndexedBranch;
}

// Describes a pseudo-instruction, which has no PTX text.
std::string PseudoText(const Program& program, uint32_t pc) {
  const Handler handler = program.code[pc].handler;
  if (handler == Converge) return "-- lanes that went different ways meet";
  if (handler == Return) return "-- end of the function";
  if (handler == Exit) return "-- end of the kernel";
  if (handler == LocalAddress) return "-- address of a local variable, for the next instruction";
  if (handler == TextureOfReference) return "-- handle of a .texref, for the next instruction";
  if (handler == PauseForClock) return "-- updates the clock, for the next instruction";
  return "-- special register, for the next instruction";
}

std::vector<std::string> TraitsOf(const Program& program, const ListedInsn& listed, uint32_t pc) {
  const Insn& insn = program.code[pc];
  const InsnInfo& info = program.info[pc];
  std::vector<std::string> traits;
  const auto add = [&](bool holds, std::string_view text) {
    if (holds && !text.empty()) traits.emplace_back(text);
  };
  if (insn.handler == RaiseUnsupported) return {"not supported: " + program.unsupported[insn.immediate]};
  if (!info.counted) return {};
  add(true, NameOf(insn.insn_class));
  // ld.param reads launch parameters or call arguments and has no such flags.
  if (listed.has_address && (insn.insn_class == InsnClass::kLoad || insn.insn_class == InsnClass::kStore ||
                             insn.insn_class == InsnClass::kAtomic)) {
    const bool names_space = info.space != MemorySpace::kGlobal || listed.text.find(".global") != std::string::npos;
    add(true, names_space ? PtxNameOf(info.space) : "generic address");
    const MemoryFlags flags = MemoryFlags::Unpack(insn.extra);
    add(true, NameOf(flags.order));
    add(flags.waits, "may wait for other threads");
    add(flags.constant, "through the read-only cache");
    add(insn.count > 1, std::to_string(insn.count) + " elements");
  }
  if (IsBranch(insn)) {
    if (insn.handler != IndexedBranch) add(true, "to " + std::to_string(insn.immediate));
    add(insn.handler == SpinBranch, "closes a loop that may wait for other threads");
    const bool meets = insn.extra != kNoPc;
    if (info.conditional_branch) {
      add(true, meets ? "ways meet at " + std::to_string(insn.extra) : "ways meet at the end, if at all");
    }
  }
  add((insn.flags & kWarpSynchronous) != 0, "gathers the lanes of its mask");
  add((insn.flags & kAlwaysCall) != 0, "runs even for no lane");
  add(info.in_loop, "in a loop");
  return traits;
}

// "r1c0" is the row at byte 0x1c0 of the call frame, "c40" one in the constant pool.
std::string RowsOf(const Insn& insn) {
  std::string text;
  for (const RowRef row : insn.row) {
    if (row == kNoRow) continue;
    char place[16];
    std::snprintf(place, sizeof place, "%s%c%x", text.empty() ? "" : " ", (row & kConstantPool) != 0 ? 'c' : 'r',
                  row & ~kConstantPool);
    text += place;
  }
  return text;
}

std::string Joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string Head(const Program& program) {
  const KernelInfo& k = program.kernel;
  std::string text = k.demangled + (k.mangled == k.demangled ? "" : "  (" + k.mangled + ")") + "\n";
  text += "  " + std::to_string(k.registers) + " registers per thread, " + std::to_string(k.static_shared) +
          " bytes of shared memory per block, " + std::to_string(k.local_bytes) + " of local memory per thread, " +
          std::to_string(k.parameter_bytes) + " of parameters; blocks of up to " + std::to_string(k.max_threads) +
          " threads\n";
  const std::pair<bool, std::string_view> facts[] = {
      {program.order_sensitive, "blocks may see each other's work in global memory: it runs on one CPU thread"},
      {program.may_wait, "has loops that may wait for other threads"},
      {program.lanes_exchange, "lanes see each other's registers"},
      {program.calls_printf, "prints"},
      {!program.bounded_stack, "its calls may nest to any depth"},
      {program.uses_reserved_shared, "uses the runtime's part of shared memory"},
  };
  for (const auto& [holds, sentence] : facts) {
    if (holds) text += "  " + std::string(sentence) + "\n";
  }
  return text;
}

}  // namespace

std::string Disassemble(const Program& program, const Listing& listing) {
  const SourcePlaces places(program);
  std::string text = Head(program);
  for (uint32_t pc = 0; pc < program.code.size(); ++pc) {
    for (size_t k = 1; k < program.functions.size(); ++k) {
      if (program.functions[k].entry_pc == pc) text += "function " + program.functions[k].name + "\n";
    }
    const ListedInsn& listed = listing.insns[pc];
    char number[16];
    std::snprintf(number, sizeof number, "%6u  ", pc);
    std::string row = number + Padded(program.info[pc].counted ? places.Text(pc) : "", kLineColumns);
    row += Padded(program.info[pc].counted ? listed.text : PseudoText(program, pc), kTextColumns);
    row += Joined(TraitsOf(program, listed, pc));
    const std::string of_opcode = TraitsText(listed.traits);
    if (!of_opcode.empty()) row += "; opcode: " + of_opcode;
    const std::string rows = RowsOf(program.code[pc]);
    if (!rows.empty()) row += (row.ends_with(' ') ? "[" : "  [") + rows + "]";
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace lockstep::vgpu
