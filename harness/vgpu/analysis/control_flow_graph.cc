#include "vgpu/analysis/control_flow_graph.h"

#include <string_view>

namespace lockstep::vgpu {
namespace {

class GraphBuilder {
 public:
  explicit GraphBuilder(const FunctionOpcodes& opcodes)
      : function_(opcodes.function()), body_(opcodes.body()), opcodes_(opcodes) {
    for (const ptx::Label& label : function_.labels) labels_.emplace(label.name, label.instruction);
    for (size_t k = 0; k < function_.tables.size(); ++k) tables_.emplace(function_.tables[k].name, k);
  }

  ControlFlowGraph Build() {
    FindLeaders();
    MakeBlocks();
    graph_.nodes = static_cast<int>(graph_.blocks.size() + function_.tables.size());
    table_edges_made_.assign(function_.tables.size(), false);
    for (size_t block = 0; block < graph_.blocks.size(); ++block) Connect(static_cast<int>(block));
    return std::move(graph_);
  }

 private:
  void FindLeaders() {
    leader_.assign(body_.size() + 1, false);
    leader_[0] = true;
    for (size_t k = 0; k < body_.size(); ++k) {
      switch (LeavingOf(opcodes_[k].meaning)) {
        case Leaving::kNext:
          continue;
        case Leaving::kBranch:
          leader_[Target(body_[k])] = true;
          break;
        case Leaving::kTable: {
          const ptx::BranchTable& table = function_.tables[Table(body_[k])];
          if (!table_seen_.emplace(table.name, true).second) break;
          for (const std::string& target : table.targets) leader_[Label(target, body_[k].ptx_line)] = true;
          break;
        }
        case Leaving::kReturn:
        case Leaving::kExit:
          break;
      }
      leader_[k + 1] = true;
    }
  }

  void MakeBlocks() {
    graph_.block_of.resize(body_.size());
    for (size_t k = 0; k < body_.size(); ++k) {
      if (leader_[k]) graph_.blocks.push_back({k, k});
      graph_.blocks.back().last = k;
      graph_.block_of[k] = graph_.blocks.size() - 1;
    }
  }

  void Connect(int block) {
    const size_t last = graph_.blocks[block].last;
    const ptx::Instruction& instruction = body_[last];
    const Leaving leaving = LeavingOf(opcodes_[last].meaning);
    switch (leaving) {
      case Leaving::kNext:
        break;
      case Leaving::kBranch:
        ConnectTo(block, Target(instruction));
        break;
      case Leaving::kTable: {
        const size_t table = Table(instruction);
        const int node = static_cast<int>(graph_.blocks.size() + table);
        graph_.edges.emplace_back(block, node);
        if (table_edges_made_[table]) break;
        table_edges_made_[table] = true;
        for (const std::string& target : function_.tables[table].targets) {
          ConnectTo(node, Label(target, instruction.ptx_line));
        }
        break;
      }
      case Leaving::kReturn:
        graph_.returns.push_back(block);
        break;
      case Leaving::kExit:
        (opcodes_[last].Is(Meaning::kExit) ? graph_.exits : graph_.traps).push_back(block);
        break;
    }
    if (leaving == Leaving::kNext || instruction.guard) ConnectTo(block, last + 1);
  }

  // The position after the last instruction is a return.
  void ConnectTo(int node, size_t instruction) {
    if (instruction == body_.size()) {
      graph_.returns.push_back(node);
    } else {
      graph_.edges.emplace_back(node, static_cast<int>(graph_.block_of[instruction]));
    }
  }

  size_t Label(const std::string& name, int line) const {
    const auto found = labels_.find(name);
    if (found == labels_.end() || found->second > body_.size()) {
      throw ptx::PtxError(line, "a branch to the unknown label " + name);
    }
    return found->second;
  }

  static const ptx::SymbolRef& Symbol(const ptx::Instruction& instruction, size_t operand) {
    const ptx::SymbolRef* symbol = instruction.operands.size() > operand
                                       ? std::get_if<ptx::SymbolRef>(&instruction.operands[operand].value)
                                       : nullptr;
    if (symbol == nullptr) throw ptx::PtxError(instruction.ptx_line, instruction.opcode + " needs a label");
    return *symbol;
  }

  size_t Target(const ptx::Instruction& instruction) const {
    return Label(Symbol(instruction, 0).name, instruction.ptx_line);
  }

  size_t Table(const ptx::Instruction& instruction) const {
    const std::string& name = Symbol(instruction, 1).name;
    const auto found = tables_.find(name);
    if (found == tables_.end()) throw ptx::PtxError(instruction.ptx_line, "an unknown branch table " + name);
    return found->second;
  }

  const ptx::Function& function_;
  const std::vector<ptx::Instruction>& body_;
  const FunctionOpcodes& opcodes_;
  std::unordered_map<std::string_view, size_t> labels_, tables_;
  std::unordered_map<std::string_view, bool> table_seen_;
  std::vector<bool> leader_, table_edges_made_;
  ControlFlowGraph graph_;
};

}  // namespace

Leaving LeavingOf(Meaning meaning) {
  switch (meaning) {
    case Meaning::kBranch:
      return Leaving::kBranch;
    case Meaning::kBranchTable:
      return Leaving::kTable;
    case Meaning::kReturn:
      return Leaving::kReturn;
    case Meaning::kExit:
    case Meaning::kTrap:
      return Leaving::kExit;
    default:
      return Leaving::kNext;
  }
}

ControlFlowGraph BuildControlFlowGraph(const FunctionOpcodes& opcodes) { return GraphBuilder(opcodes).Build(); }

}  // namespace lockstep::vgpu
