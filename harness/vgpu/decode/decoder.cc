#include "vgpu/decode/decoder.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <set>

#include "vgpu/analysis/analysis_work.h"
#include "vgpu/analysis/contraction.h"
#include "vgpu/analysis/plans.h"
#include "vgpu/core/source_place.h"
#include "vgpu/core/symbol_name.h"
#include "vgpu/decode/decoder_internal.h"
#include "vgpu/exec/control.h"

namespace lockstep::vgpu {
namespace {

using ptx::Space;

// Local memory of a thread whose call depth is unknown before the run.
constexpr uint32_t kDeepStackBytes = 64 << 10;
constexpr uint64_t kMaxStackBytes = 512 << 10;
constexpr uint64_t kMaxSharedBytes = 16 << 20;
constexpr uint64_t kMaxParameterBytes = 64 << 10;

uint64_t AlignmentOf(const ptx::Variable& v) {
  return std::clamp<uint64_t>(v.alignment != 0 ? v.alignment : v.ElementBytes(), 1, 4096);
}

template <typename F>
void ForEachSymbol(const ptx::Operand& operand, const F& f) {
  if (const auto* s = std::get_if<ptx::SymbolRef>(&operand.value)) {
    f(s->name);
  } else if (const auto* a = std::get_if<ptx::AddressRef>(&operand.value)) {
    if (!a->base_symbol.empty()) f(a->base_symbol);
  } else if (const auto* v = std::get_if<ptx::VectorRef>(&operand.value)) {
    for (const ptx::Operand& element : v->elements) ForEachSymbol(element, f);
  }
}

void DescribeKernel(const ptx::Module& module, const ptx::Function& entry, KernelInfo& kernel) {
  kernel.mangled = entry.name;
  kernel.demangled = Demangle(entry.name);
  kernel.ptx_version = module.version_major * 10 + module.version_minor;
  kernel.target_sm = module.target_sm;
  uint64_t end = 0;
  for (const ptx::Variable& v : entry.parameters) {
    const uint64_t at = AlignUp(end, AlignmentOf(v));
    const uint64_t bytes = v.TotalBytes();
    if (bytes > kMaxParameterBytes || at + bytes > kMaxParameterBytes)
      throw Unsupported("its parameters are too large");
    kernel.parameters.push_back({static_cast<uint32_t>(at), static_cast<uint32_t>(bytes)});
    end = at + bytes;
  }
  kernel.parameter_bytes = static_cast<uint32_t>(end);
  if (entry.blocks_are_clusters) throw Unsupported("grids that count clusters (.blocksareclusters) are not supported");
  if (entry.reqnctapercluster[0] > 0) {
    const auto extent = [&](int k) { return static_cast<uint32_t>(std::max(entry.reqnctapercluster[k], 1)); };
    kernel.cluster = {extent(0), extent(1), extent(2)};
  }
  if (entry.max_cluster_rank > 0) kernel.max_cluster = static_cast<uint32_t>(entry.max_cluster_rank);
  if (entry.reqntid[0] > 0) {
    const auto extent = [&](int k) { return static_cast<uint32_t>(std::clamp(entry.reqntid[k], 1, 1024)); };
    kernel.required_block = {extent(0), extent(1), extent(2)};
  }
  // max_threads, which cudaFuncGetAttributes returns, comes from .maxntid alone.
  uint64_t threads = 1;
  for (const int side : entry.maxntid) threads *= static_cast<uint64_t>(std::clamp(side, 1, 4096));
  if (entry.maxntid[0] > 0) kernel.max_threads = static_cast<uint32_t>(std::min<uint64_t>(kernel.max_threads, threads));
  for (const ptx::Variable& v : module.variables) {
    if (v.space == Space::kConst) kernel.constant_bytes += static_cast<uint32_t>(v.TotalBytes());
  }
}

// If a kernel states its block size (.maxntid or .reqntid, with or without .minnctapersm), ptxas fits it into the SM's
// registers and spills the rest, as it does beyond the 255 addressable registers; .maxnreg limits a thread's registers
// directly.
void BoundRegisters(const ptx::Function& entry, KernelInfo& kernel) {
  constexpr uint32_t kRegistersPerSm = 65536;  // of every GPU that runs today's PTX
  constexpr uint32_t kUnit = 8;
  constexpr uint32_t kMostRegisters = 255;
  kernel.registers = std::min(kernel.registers, kMostRegisters);
  if (entry.maxntid[0] > 0 || entry.reqntid[0] > 0) {
    const uint64_t threads =
        AlignUp(kernel.largest_block(), kWarpSize) * static_cast<uint64_t>(std::max(entry.minnctapersm, 1));
    kernel.registers =
        std::min(kernel.registers, std::max(static_cast<uint32_t>(kRegistersPerSm / threads) / kUnit, 2u) * kUnit);
  }
  if (entry.maxnreg > 0) kernel.registers = std::min(kernel.registers, static_cast<uint32_t>(entry.maxnreg));
}

// Collects the functions that the entry can reach, itself first.
void CollectFunctions(ProgramBuilder& builder, const ptx::Function& entry) {
  const auto add = [&](const ptx::Function* f) {
    // For other kernels, which this one may launch, only the address is needed.
    if (!f->has_body || (f->is_entry && f != &entry) || builder.function_index.contains(f)) return;
    builder.function_index[f] = static_cast<uint32_t>(builder.functions.size());
    builder.functions.push_back(f);
  };
  const auto add_by_name = [&](const std::string& name) {
    const auto found = builder.image.functions.find(name);
    if (found != builder.image.functions.end()) add(found->second);
  };
  add(&entry);
  if (builder.functions.empty()) throw Unsupported("kernel " + entry.name + " has no body");
  bool taken_added = false;
  for (size_t k = 0; k < builder.functions.size(); ++k) {
    for (const ptx::Instruction& i : builder.functions[k]->body) {
      if (!i.call) continue;
      if (const auto* target = std::get_if<ptx::SymbolRef>(&i.call->target.value)) {
        add_by_name(target->name);
      } else {
        builder.indirect_calls = true;
      }
    }
    if (!builder.indirect_calls || taken_added) continue;
    // An indirect call may reach every function whose address is taken somewhere in the module.
    taken_added = true;
    for (const ptx::Function& f : builder.image.syntax->functions) {
      for (const ptx::Instruction& i : f.body) {
        for (const ptx::Operand& operand : i.operands) ForEachSymbol(operand, add_by_name);
      }
    }
    for (const ptx::Variable& v : builder.image.syntax->variables) {
      for (const auto& relocation : v.relocations) add_by_name(relocation.symbol);
    }
  }
}

// Places the functions' shared variables and the module's that they mention; all extern arrays start after the others.
void PlaceShared(ProgramBuilder& builder) {
  std::set<std::string> mentioned;
  for (const ptx::Function* f : builder.functions) {
    for (const ptx::Instruction& i : f->body) {
      for (const ptx::Operand& operand : i.operands) {
        ForEachSymbol(operand, [&](const std::string& name) { mentioned.insert(name); });
      }
    }
  }
  uint64_t end = 0, dynamic_alignment = 16;
  std::vector<std::string> dynamic;
  std::string dynamic_name;
  const auto place = [&](const ptx::Function* scope, const ptx::Variable& v) {
    if (v.space != Space::kShared || (scope == nullptr && !mentioned.contains(v.name))) return;
    const std::string key = VariableKey(scope, v.name);
    const uint64_t bytes = v.TotalBytes();
    if (bytes == 0) {
      dynamic_name = v.name;
      dynamic.push_back(key);
      dynamic_alignment = std::max(dynamic_alignment, AlignmentOf(v));
      return;
    }
    end = AlignUp(end, AlignmentOf(v));
    if (bytes > kMaxSharedBytes || end + bytes > kMaxSharedBytes) throw Unsupported("it has too much shared memory");
    builder.shared_offset[key] = static_cast<uint32_t>(end);
    builder.program.shared_variables.push_back({v.name, static_cast<uint32_t>(end), static_cast<uint32_t>(bytes)});
    end += bytes;
  };
  for (const ptx::Variable& v : builder.image.syntax->variables) place(nullptr, v);
  for (const ptx::Function* f : builder.functions) {
    for (const ptx::Variable& v : f->variables) place(f, v);
  }
  if (!dynamic.empty()) end = AlignUp(end, dynamic_alignment);
  // A single extern array gives the dynamic shared memory its name.
  if (dynamic.size() == 1) builder.program.shared_variables.push_back({dynamic_name, static_cast<uint32_t>(end), 0});
  for (const std::string& key : dynamic) builder.shared_offset[key] = static_cast<uint32_t>(end);
  builder.program.kernel.static_shared = static_cast<uint32_t>(end);
}

// Local memory of the deepest call chain; nullopt if there is recursion.
std::optional<uint64_t> StackBytes(const ProgramBuilder& builder) {
  enum class Mark : uint8_t { kNew, kOpen, kDone };
  const size_t n = builder.functions.size();
  std::vector<Mark> mark(n, Mark::kNew);
  std::vector<uint64_t> depth(n);
  struct Visit {
    uint32_t function;
    size_t next;
  };
  std::vector<Visit> stack{{0, 0}};
  mark[0] = Mark::kOpen;
  while (!stack.empty()) {
    Visit& visit = stack.back();
    const auto& callees = builder.callees[visit.function];
    if (visit.next < callees.size()) {
      const uint32_t callee = callees[visit.next++];
      if (mark[callee] == Mark::kOpen) return std::nullopt;
      if (mark[callee] == Mark::kNew) {
        mark[callee] = Mark::kOpen;
        stack.push_back({callee, 0});
      }
      continue;
    }
    uint64_t deepest = 0;
    for (const uint32_t callee : callees) deepest = std::max(deepest, depth[callee]);
    depth[visit.function] = deepest + builder.program.functions[visit.function].local_bytes;
    mark[visit.function] = Mark::kDone;
    stack.pop_back();
  }
  return depth[0];
}

void SizeStack(ProgramBuilder& builder) {
  Program& program = builder.program;
  const bool uses_local = builder.allocas || std::any_of(program.functions.begin(), program.functions.end(),
                                                         [](const FunctionInfo& f) { return f.local_bytes > 0; });
  const std::optional<uint64_t> stack = builder.indirect_calls || builder.allocas ? std::nullopt : StackBytes(builder);
  program.bounded_stack = stack.has_value();
  if (stack && *stack > kMaxStackBytes) throw Unsupported("its threads need too much local memory");
  program.local_stride = stack ? static_cast<uint32_t>(*stack) : uses_local ? kDeepStackBytes : 0;
  program.kernel.local_bytes = stack ? static_cast<uint32_t>(*stack) : program.functions[0].local_bytes;
  if (!stack && program.functions[0].local_bytes > kDeepStackBytes / 2) {
    program.local_stride += static_cast<uint32_t>(AlignUp(program.functions[0].local_bytes, 16));
  }
}

// Functions called from a loop are in it, and so are their callees. Functions that call each other form a loop, too:
// after repeatedly removing functions without remaining callers, these and their callees are left.
void MarkCalledInLoops(ProgramBuilder& builder) {
  auto& callees = builder.callees;
  for (uint32_t k = 0; k < builder.functions.size(); ++k) {
    if (builder.image.function_addresses.contains(builder.functions[k]->name)) callees.back().push_back(k);
  }
  std::vector<uint32_t> callers(callees.size()), left;
  for (const auto& of_one : callees) {
    for (const uint32_t callee : of_one) ++callers[callee];
  }
  for (uint32_t k = 0; k < callers.size(); ++k) {
    if (callers[k] == 0) left.push_back(k);
  }
  while (!left.empty()) {
    const uint32_t function = left.back();
    left.pop_back();
    for (const uint32_t callee : callees[function]) {
      if (--callers[callee] == 0) left.push_back(callee);
    }
  }
  for (uint32_t k = 0; k < callers.size(); ++k) {
    if (callers[k] > 0) builder.called_in_loops.insert(k);
  }
  left.assign(builder.called_in_loops.begin(), builder.called_in_loops.end());
  while (!left.empty()) {
    const uint32_t function = left.back();
    left.pop_back();
    if (function < builder.functions.size()) {
      const FunctionInfo& info = builder.program.functions[function];
      for (uint32_t pc = info.entry_pc; pc < info.end_pc; ++pc) builder.program.info[pc].in_loop = true;
    }
    for (const uint32_t callee : callees[function]) {
      if (builder.called_in_loops.insert(callee).second) left.push_back(callee);
    }
  }
}

void Build(ProgramBuilder& builder, const ptx::Function& entry) {
  Program& program = builder.program;
  CollectFunctions(builder, entry);
  PlaceShared(builder);
  program.functions.resize(builder.functions.size());
  builder.callees.resize(builder.functions.size() + 1);
  std::vector<FunctionOpcodes> opcodes;
  std::deque<ptx::Function> contracted;
  for (const ptx::Function* function : builder.functions) {
    auto shorter = Contracted(*function);
    opcodes.emplace_back(shorter ? contracted.emplace_back(std::move(*shorter)) : *function);
  }
  if (std::any_of(opcodes.begin(), opcodes.end(), HasShuffles)) {
    program.definedness = std::make_shared<DefinednessPlan>();
  }
  for (uint32_t k = 0; k < builder.functions.size(); ++k) {
    const auto address = builder.image.function_addresses.find(builder.functions[k]->name);
    if (address != builder.image.function_addresses.end()) program.function_of_address[address->second] = k;
    FunctionDecoder(builder, opcodes[k], k).Decode();
  }
  SizeStack(builder);
  MarkCalledInLoops(builder);
}

}  // namespace

RowRef ConstantPool::Place(int element_bytes, uint64_t value, int elements) {
  if (element_bytes < 8) value &= (uint64_t{1} << (8 * element_bytes)) - 1;
  const auto [it, fresh] = rows_.try_emplace({element_bytes * elements, value}, kConstantPool);
  if (!fresh) return it->second;
  const size_t at = AlignUp(bytes_.size(), 64);
  bytes_.resize(at + static_cast<size_t>(element_bytes * elements));
  for (int k = 0; k < elements; ++k) {
    std::memcpy(&bytes_[at + static_cast<size_t>(k * element_bytes)], &value, static_cast<size_t>(element_bytes));
  }
  return it->second = kConstantPool | static_cast<uint32_t>(at);
}

RowRef ConstantPool::Row(int element_bytes, uint64_t value) { return Place(element_bytes, value, kWarpSize); }

RowRef ConstantPool::Predicate(bool value) { return Place(4, value ? kFullMask : 0, 1); }

AlignedBytes ConstantPool::Take(size_t* bytes) const {
  *bytes = bytes_.size();
  AlignedBytes copy = MakeAlignedBytes(bytes_.size() + 256);  // some handlers read a whole row of the widest type
  std::memset(copy.get(), 0, bytes_.size() + 256);
  if (!bytes_.empty()) std::memcpy(copy.get(), bytes_.data(), bytes_.size());
  return copy;
}

uint32_t ProgramBuilder::Text(const ptx::Instruction& instruction) {
  constexpr size_t kLongest = 200;  // any real instruction name is far shorter
  std::string text = instruction.opcode.substr(0, kLongest);
  for (const std::string& word : instruction.modifiers) {
    if (text.size() >= kLongest) break;
    text += "." + word.substr(0, kLongest);
  }
  const auto [it, fresh] = text_index.try_emplace(text, static_cast<uint32_t>(program.texts.size()));
  if (fresh) program.texts.push_back(text);
  return it->second;
}

std::string VariableKey(const ptx::Function* function, const std::string& name) {
  return function == nullptr ? name : function->name + "::" + name;
}

std::string Demangle(const std::string& mangled) {
  const std::optional<std::string> whole = Demangled(mangled);
  if (!whole) return std::string(WithoutCompilersParts(mangled));
  std::string name = *whole;
  // Cut the parameter list: from the last "(" outside brackets. A template's return type may precede the name.
  int depth = 0;
  size_t end = name.size();
  for (size_t k = name.size(); k-- > 0;) {
    if (name[k] == ')') ++depth;
    if (name[k] == '(' && --depth == 0) {
      end = k;
      break;
    }
  }
  name.resize(end);
  depth = 0;
  for (size_t k = name.size(); k-- > 0;) {
    if (name[k] == '>' || name[k] == ')') ++depth;
    if (name[k] == '<' || name[k] == '(') --depth;
    if (name[k] == ' ' && depth == 0) return name.substr(k + 1);
  }
  return name;
}

std::shared_ptr<const Program> DecodeKernel(const ModuleImage& image, const ptx::Function& entry) {
  auto program = std::make_shared<Program>();
  program->files = image.syntax->files;
  ProgramBuilder builder{image, *program, {}, {}, {}, {}, {}, {}, {}, false, false, {}};
  AnalysisWork work;
  try {
    DescribeKernel(*image.syntax, entry, program->kernel);
    Build(builder, entry);
    BoundRegisters(entry, program->kernel);
    program->is_own = SourcePlaces(*program).KernelIsOwn();
  } catch (const std::runtime_error& error) {
    // The kernel exists with its parameters, but when launched only reports why it cannot run.
    KernelInfo kernel = std::move(program->kernel);
    *program = Program();
    program->kernel = std::move(kernel);
    program->texts.push_back(".entry");
    program->functions.resize(1);
    program->functions[0].frame_bytes = 64;
    program->functions[0].name = entry.name;
    program->unsupported.push_back("kernel " + program->kernel.demangled + ": " + error.what());
    Insn insn;
    insn.handler = RaiseUnsupported;
    InsnInfo info;
    info.ptx_line = entry.ptx_line;
    program->code.push_back(insn);
    program->info.push_back(info);
    program->synchronous.emplace_back();
  }
  program->constants = builder.pool.Take(&program->constant_bytes);
  return program;
}

}  // namespace lockstep::vgpu
