#include "vgpu/decode/flow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "tests/support/source_files.h"
#include "vgpu/analysis/control_flow_graph.h"
#include "vgpu/analysis/dominators.h"
#include "vgpu/analysis/liveness.h"
#include "vgpu/analysis/loops.h"
#include "vgpu/ptx/parser.h"

namespace lockstep::vgpu {
namespace flow_test {

ptx::Function ParseFunction(const std::string& header, const std::string& body) {
  const std::string registers = ".reg .pred p<8>; .reg .b16 h<8>; .reg .b32 r<64>; .reg .b64 d<64>;\n";
  ptx::Module module =
      ptx::Parse(".version 9.0\n.target sm_80\n.address_size 64\n" + header + "{\n" + registers + body + "}\n");
  return std::move(module.functions.at(0));
}
ptx::Function Kernel(const std::string& body) { return ParseFunction(".entry k(.param .u64 a)", body); }
ptx::Function DeviceFunction(const std::string& body) { return ParseFunction(".func f(.param .b32 a)", body); }

constexpr size_t kNone = kNoInstruction;

TEST(FlowTest, ArmsOfAnIfMeetBehindIt) {
  const Flow flow = AnalyzeFlow(Kernel(R"(
    @p1 bra ELSE;
    add.u32 r1, r1, 1;
    bra DONE;
    ELSE: add.u32 r1, r1, 2;
    DONE: add.u32 r2, r1, 1;
    ret;
  )"));
  EXPECT_EQ(flow.reconvergence, (std::vector<size_t>{4, kNone, kNone, kNone, kNone, kNone}));
  EXPECT_EQ(flow.is_reconvergence_point, (std::vector<bool>{0, 0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(flow.is_leader, (std::vector<bool>{1, 1, 0, 1, 1, 0}));
}

TEST(FlowTest, LanesThatLeaveALoopWaitBehindIt) {
  const Flow flow = AnalyzeFlow(Kernel(R"(
    LOOP: add.u32 r1, r1, 1;
    @p2 bra NEXT;
    add.u32 r1, r1, 2;
    NEXT: setp.lt.u32 p1, r1, r2;
    @p1 bra LOOP;
    ret;
  )"));
  EXPECT_EQ(flow.reconvergence[1], 3u);
  EXPECT_EQ(flow.reconvergence[4], 5u);
}

TEST(FlowTest, TellsWhatStandsInALoop) {
  const Flow flow = AnalyzeFlow(Kernel(R"(
    mov.u32 r1, 0;              // 0
    LOOP: add.u32 r1, r1, 1;    // 1
    @p2 bra NEXT;               // 2
    @p3 bra OUT;                // 3
    bar.sync 0;                 // 4
    NEXT: @p1 bra LOOP;         // 5
    bar.sync 0;                 // 6
    OUT: ret;                   // 7
  )"));
  EXPECT_EQ(flow.in_loop, (std::vector<bool>{0, 1, 1, 1, 1, 1, 0, 0}));
}

TEST(FlowTest, NobodyWaitsForLanesThatEnd) {
  const Flow flow = AnalyzeFlow(Kernel(R"(
    @p1 bra OTHER;        // 0
    @p2 bra FAIL;         // 1
    add.u32 r1, r1, 1;    // 2
    @p4 ret;              // 3
    bra DONE;             // 4
    OTHER: @p3 bra DONE;  // 5
    bra DONE;             // 6
    FAIL: trap;           // 7
    DONE: @p3 bra EARLY;  // 8
    ret;                  // 9
    EARLY: ret;           // 10
  )"));
  EXPECT_EQ(flow.reconvergence[0], 8u);     // the trap does not count
  EXPECT_EQ(flow.reconvergence[1], kNone);  // only one way goes on
  EXPECT_EQ(flow.reconvergence[3], kNone);
  EXPECT_EQ(flow.reconvergence[5], 8u);
  EXPECT_EQ(flow.reconvergence[8], kNone);
}

TEST(FlowTest, AnalysesPartsThatOnlyEnd) {
  const Flow flow = AnalyzeFlow(Kernel(R"(
    @p1 bra FAIL;           // 0
    ret;                    // 1
    FAIL: @p2 bra SKIP;     // 2
    add.u32 r1, r1, 1;      // 3
    SKIP: add.u32 r1, 1, 1; // 4
    exit;                   // 5
    FOREVER: @p1 bra FOREVER;  // 6
    bra FOREVER;            // 7
  )"));
  EXPECT_EQ(flow.reconvergence[2], 4u);
  EXPECT_EQ(flow.reconvergence[6], kNone);
}

TEST(FlowTest, ReturnsOfAFunctionMeetAtItsEnd) {
  const ptx::Function function = DeviceFunction(R"(
    @p1 bra A;
    ret;
    A: @p2 ret;
    add.u32 r1, r1, 1;
    @p3 exit;
    ret;
  )");
  const Flow flow = AnalyzeFlow(function);
  EXPECT_EQ(flow.reconvergence[0], function.body.size());
  EXPECT_EQ(flow.reconvergence[2], function.body.size());
  EXPECT_EQ(flow.reconvergence[4], kNone);
  EXPECT_TRUE(flow.is_reconvergence_point.at(function.body.size()));
}

TEST(FlowTest, TextThatEndsWithoutRetReturns) {
  const ptx::Function function = DeviceFunction("@p1 bra END; add.u32 r1, r1, 1; END:");
  EXPECT_EQ(AnalyzeFlow(function).reconvergence[0], 2u);
  EXPECT_EQ(AnalyzeFlow(Kernel("@p1 bra END; add.u32 r1, r1, 1; END:")).reconvergence[0], kNone);
}

TEST(FlowTest, BranchToTheNextInstructionMeetsThere) {
  EXPECT_EQ(AnalyzeFlow(Kernel("@p1 bra N; N: ret;")).reconvergence[0], 1u);
}

TEST(FlowTest, WaysThroughATableMeetBehindIt) {
  const Flow flow = AnalyzeFlow(Kernel(R"(
    T: .branchtargets A, B, C, A;
    @p1 bra OVER;             // 0
    brx.idx r1, T;            // 1
    OVER: @p2 brx.idx r2, T;  // 2
    add.u32 r1, r1, 1;        // 3
    A: add.u32 r1, r1, 1;     // 4
    B: bra D;                 // 5
    C: trap;                  // 6
    D: ret;                   // 7
  )"));
  EXPECT_EQ(flow.reconvergence[0], 5u);
  EXPECT_EQ(flow.reconvergence[1], 5u);
  EXPECT_EQ(flow.reconvergence[2], 5u);
  EXPECT_TRUE(flow.is_leader[4] && flow.is_leader[5] && flow.is_leader[6]);
}

TEST(FlowTest, RefusesUnknownTargets) {
  EXPECT_THROW(AnalyzeFlow(Kernel("bra NOWHERE;")), ptx::PtxError);
  EXPECT_THROW(AnalyzeFlow(Kernel("brx.idx r1, NOWHERE;")), ptx::PtxError);
  EXPECT_THROW(AnalyzeFlow(Kernel("brx.idx r1;")), ptx::PtxError);
  EXPECT_THROW(AnalyzeFlow(Kernel("T: .branchtargets X; brx.idx r1, T;")), ptx::PtxError);
  EXPECT_THROW(AnalyzeFlow(Kernel("bra 5;")), ptx::PtxError);
  ptx::Function function = Kernel("L: bra L;");
  function.labels.at(0).instruction = 77;
  EXPECT_THROW(AnalyzeFlow(function), ptx::PtxError);
}

TEST(FlowTest, TakesEmptyFunctions) {
  const ptx::Function function = Kernel("");
  const Flow flow = AnalyzeFlow(function);
  EXPECT_TRUE(flow.reconvergence.empty());
  EXPECT_EQ(AllocateRegisters(function, flow).frame_bytes, 0u);
}

// Dominators by their definition: a dominates b if b is unreachable without a.
std::vector<int> DominatorsByDefinition(int nodes, const std::vector<Adjacency::Edge>& edges, int root) {
  const Adjacency successors(nodes, edges);
  const auto reach = [&](int without) {
    std::vector<bool> seen(nodes, false);
    std::vector<int> stack;
    if (root != without) stack.push_back(root), seen[root] = true;
    while (!stack.empty()) {
      const int node = stack.back();
      stack.pop_back();
      for (const int next : successors[node]) {
        if (next != without && !seen[next]) seen[next] = true, stack.push_back(next);
      }
    }
    return seen;
  };
  const std::vector<bool> reached = reach(-1);
  std::vector<std::set<int>> strict(nodes);
  for (int a = 0; a < nodes; ++a) {
    if (!reached[a]) continue;
    const std::vector<bool> without = reach(a);
    for (int b = 0; b < nodes; ++b) {
      if (b != a && reached[b] && !without[b]) strict[b].insert(a);
    }
  }
  std::vector<int> immediate(nodes, -1);
  for (int b = 0; b < nodes; ++b) {
    for (const int a : strict[b]) {
      if (strict[a].size() + 1 == strict[b].size()) immediate[b] = a;
    }
  }
  return immediate;
}

TEST(FlowTest, DominatorsAreThoseOfTheDefinition) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const int nodes = 1 + static_cast<int>(random() % 14);
    std::vector<Adjacency::Edge> edges(random() % (2 * nodes));
    for (auto& [from, to] : edges) {
      from = static_cast<int>(random() % nodes);
      to = static_cast<int>(random() % nodes);
    }
    const Adjacency successors(nodes, edges), predecessors(nodes, edges, true);
    EXPECT_EQ(ImmediateDominators(successors, predecessors, 0), DominatorsByDefinition(nodes, edges, 0));
  }
}

// A node is in a loop if some path of at least one edge leads back to it: computed by transitive closure.
TEST(FlowTest, LoopsAreThoseOfTheDefinition) {
  std::mt19937 random(2);
  int in_loops = 0, in_none = 0;
  for (int round = 0; round < 300; ++round) {
    const int nodes = 1 + static_cast<int>(random() % 14);
    std::vector<Adjacency::Edge> edges(random() % (2 * nodes));
    std::vector<std::vector<bool>> reaches(nodes, std::vector<bool>(nodes, false));
    for (auto& [from, to] : edges) {
      from = static_cast<int>(random() % nodes);
      to = static_cast<int>(random() % nodes);
      reaches[from][to] = true;
    }
    for (int by = 0; by < nodes; ++by) {
      for (int from = 0; from < nodes; ++from) {
        for (int to = 0; to < nodes; ++to) {
          if (reaches[from][by] && reaches[by][to]) reaches[from][to] = true;
        }
      }
    }
    const std::vector<bool> found = NodesInLoops(Adjacency(nodes, edges));
    for (int node = 0; node < nodes; ++node) {
      EXPECT_EQ(found[node], static_cast<bool>(reaches[node][node])) << "round " << round << ", node " << node;
      ++(found[node] ? in_loops : in_none);
    }
  }
  EXPECT_GT(in_loops, 300);
  EXPECT_GT(in_none, 300);
}

struct Row {
  uint32_t first, last;
};

Row RowOf(const RegisterLayout& layout, const RegisterSet& registers, int reg) {
  static const std::map<int, uint32_t> kBytes = {{1, 64}, {2, 64}, {4, 128}, {8, 256}, {16, 512}};
  const ptx::Type type = registers.type[reg];
  const uint32_t first = layout.row.at(registers.name[reg]);
  return {first, first + (type == ptx::Type::kPred ? 4 : kBytes.at(ptx::SizeOf(type))) - 1};
}

// Registers live after each instruction, by definition; guarded writes keep the old value.
std::vector<std::set<int>> LiveBehind(const ptx::Function& function, const RegisterUses& uses) {
  std::map<std::string, size_t> labels;
  for (const ptx::Label& label : function.labels) labels[label.name] = label.instruction;
  const size_t size = function.body.size();
  std::vector<std::set<int>> before(size + 1), behind(size);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t k = size; k-- > 0;) {
      const ptx::Instruction& instruction = function.body[k];
      std::set<int> live;
      const bool goes_on = (instruction.opcode != "bra" && instruction.opcode != "ret") || instruction.guard;
      if (goes_on) live = before[k + 1];
      if (instruction.opcode == "bra") {
        const auto& target = before[labels.at(std::get<ptx::SymbolRef>(instruction.operands[0].value).name)];
        live.insert(target.begin(), target.end());
      }
      behind[k] = live;
      for (size_t u = uses.first[k]; u < uses.first[k + 1]; ++u) {
        if (uses.uses[u].writes && !uses.uses[u].reads && !instruction.guard) live.erase(uses.uses[u].reg);
      }
      for (size_t u = uses.first[k]; u < uses.first[k + 1]; ++u) {
        if (uses.uses[u].reads) live.insert(uses.uses[u].reg);
      }
      changed |= live != before[k];
      before[k] = live;
    }
  }
  return behind;
}

// Registers that a write at an instruction must not overwrite: those needed later, and those that the instruction
// mentions.
void ExpectSoundLayout(const ptx::Function& function) {
  const RegisterLayout layout = AllocateRegisters(function, AnalyzeFlow(function));
  const RegisterUses uses = FindRegisterUses(function);
  const std::vector<std::set<int>> behind = LiveBehind(function, uses);
  for (size_t k = 0; k < function.body.size(); ++k) {
    for (size_t u = uses.first[k]; u < uses.first[k + 1]; ++u) {
      const int written = uses.uses[u].reg;
      const Row row = RowOf(layout, uses.registers, written);
      EXPECT_LT(row.last, layout.frame_bytes);
      EXPECT_EQ(row.first % (uses.registers.type[written] == ptx::Type::kPred ? 4 : 64), 0u);
      if (!uses.uses[u].writes) continue;
      std::set<int> others = behind[k];
      for (size_t v = uses.first[k]; v < uses.first[k + 1]; ++v) others.insert(uses.uses[v].reg);
      others.erase(written);
      for (const int other : others) {
        const Row kept = RowOf(layout, uses.registers, other);
        EXPECT_TRUE(kept.last < row.first || row.last < kept.first)
            << "instruction " << k << ": " << uses.registers.name[written] << " over " << uses.registers.name[other];
      }
    }
  }
}

std::string RandomProgram(std::mt19937& random, int instructions) {
  const auto reg = [&](const char* base, int count) { return base + std::to_string(random() % count); };
  std::string text;
  for (int k = 0; k < instructions; ++k) {
    text += "L" + std::to_string(k) + ": ";
    if (random() % 4 == 0) text += (random() % 2 ? "@" : "@!") + reg("p", 4) + " ";
    switch (random() % 8) {
      case 0:
        text += "bra L" + std::to_string(random() % instructions) + ";\n";
        break;
      case 1:
        text += "setp.lt.u32 " + reg("p", 4) + ", " + reg("r", 12) + ", " + reg("r", 12) + ";\n";
        break;
      case 2:
        text += "cvt.u64.u32 " + reg("d", 8) + ", " + reg("r", 12) + ";\n";
        break;
      case 3:
        text += "cvt.u32.u64 " + reg("r", 12) + ", " + reg("d", 8) + ";\n";
        break;
      case 4:
        text += "cvt.u16.u32 " + reg("h", 4) + ", " + reg("r", 12) + ";\n";
        break;
      case 5:
        text += "ld.global.v2.u32 {" + reg("r", 6) + ", r" + std::to_string(6 + random() % 6) + "}, [" + reg("d", 8) +
                "+4];\n";
        break;
      case 6:
        text += "st.global.u32 [" + reg("d", 8) + "], " + reg("r", 12) + ";\n";
        break;
      default:
        text += "add.u32 " + reg("r", 12) + ", " + reg("r", 12) + ", " + reg("r", 12) + ";\n";
    }
  }
  return text + "ret;\n";
}

TEST(FlowTest, RegistersThatAreNeededTogetherShareNoRow) {
  std::mt19937 random(2);
  for (int round = 0; round < 200 && !HasFailure(); ++round) {
    const std::string text = RandomProgram(random, 3 + static_cast<int>(random() % 60));
    SCOPED_TRACE(text);
    ExpectSoundLayout(Kernel(text));
  }
}

TEST(FlowTest, PressureIsThatOfTheDefinition) {
  std::mt19937 random(4);
  for (int round = 0; round < 200 && !HasFailure(); ++round) {
    const std::string text = RandomProgram(random, 3 + static_cast<int>(random() % 60));
    SCOPED_TRACE(text);
    const ptx::Function function = Kernel(text);
    const RegisterUses uses = FindRegisterUses(function);
    uint32_t most = 0;
    const auto count = [&](const std::set<int>& live) {
      uint32_t sum = 0;
      for (const int reg : live) {
        const ptx::Type type = uses.registers.type[reg];
        sum += type == ptx::Type::kPred ? 0 : std::max(1, ptx::SizeOf(type) / 4);
      }
      most = std::max(most, sum);
    };
    const std::vector<std::set<int>> behind = LiveBehind(function, uses);
    for (size_t k = 0; k < behind.size(); ++k) {
      std::set<int> live = behind[k];
      for (size_t u = uses.first[k]; u < uses.first[k + 1]; ++u) {
        if (uses.uses[u].writes) live.insert(uses.uses[u].reg);
      }
      count(live);
      live = behind[k];
      for (size_t u = uses.first[k]; u < uses.first[k + 1]; ++u) {
        if (uses.uses[u].writes && !uses.uses[u].reads && !function.body[k].guard) live.erase(uses.uses[u].reg);
      }
      for (size_t u = uses.first[k]; u < uses.first[k + 1]; ++u) {
        if (uses.uses[u].reads) live.insert(uses.uses[u].reg);
      }
      count(live);
    }
    EXPECT_EQ(AllocateRegisters(function, AnalyzeFlow(function)).registers, most);
  }
}

TEST(FlowTest, RegistersShareRows) {
  std::string text;
  for (int k = 0; k + 1 < 60; ++k) {
    text += "add.u32 r" + std::to_string(k + 1) + ", r" + std::to_string(k) + ", 1;\n";
  }
  const ptx::Function function = Kernel(text + "ret;");
  const RegisterLayout layout = AllocateRegisters(function, AnalyzeFlow(function));
  EXPECT_EQ(layout.row.size(), 60u);
  EXPECT_EQ(layout.frame_bytes, 2 * 128u);
  EXPECT_EQ(layout.registers, 1u);
}

TEST(FlowTest, CountsRegistersThatAreLiveAtOnce) {
  const ptx::Function function = Kernel(R"(
    mov.u32 r1, 1;
    mov.u64 d1, 2;
    mov.u16 h1, 3;
    setp.eq.u32 p1, r1, 0;
    st.global.u16 [d1], h1;
    st.global.u32 [d1], r1;
    ret;
  )");
  const RegisterLayout layout = AllocateRegisters(function, AnalyzeFlow(function));
  EXPECT_EQ(layout.registers, 4u);  // one of 32 bits, one of 64, one of 16; predicates have a separate file
  EXPECT_EQ(layout.row.at("p1"), 0u);
  EXPECT_EQ(layout.frame_bytes, 64u + 64 + 128 + 256);
}

TEST(FlowTest, GuardedWritesKeepTheOldValue) {
  const ptx::Function function = Kernel(R"(
    mov.u32 r1, 1;
    @p1 mov.u32 r1, 2;
    mov.u32 r2, 3;
    st.global.u32 [d1], r1;
    st.global.u32 [d1], r2;
    ret;
  )");
  const RegisterLayout layout = AllocateRegisters(function, AnalyzeFlow(function));
  EXPECT_NE(layout.row.at("r1"), layout.row.at("r2"));
  ExpectSoundLayout(function);
}

// "r1" for a read, "r1!" for a write, "r1?" for both, in the order of the text.
std::string UsesOf(const std::string& instruction) {
  const ptx::Function function = Kernel(instruction);
  const RegisterUses uses = FindRegisterUses(function);
  std::string text;
  for (const RegisterUse& use : uses.uses) {
    text += (text.empty() ? "" : " ") + uses.registers.name[use.reg];
    text += !use.writes ? "" : use.reads ? "?" : "!";
  }
  return text;
}

TEST(FlowTest, TellsReadsFromWrites) {
  EXPECT_EQ(UsesOf("@!p3 add.u32 r1, r2, r1;"), "p3 r1! r2 r1");
  EXPECT_EQ(UsesOf("setp.lt.and.u32 p1|p2, r1, r2, !p4;"), "p1! p2! r1 r2 p4");
  EXPECT_EQ(UsesOf("shfl.sync.down.b32 r1|p1, r2, 1, 31, r3;"), "r1! p1! r2 r3");
  EXPECT_EQ(UsesOf("ld.global.v2.u32 {r1, _}, [d1+4];"), "r1! d1");
  EXPECT_EQ(UsesOf("st.global.v2.u32 [d1], {r1, r2};"), "d1 r1 r2");
  EXPECT_EQ(UsesOf("mov.b64 d1, {r1, r2};"), "d1! r1 r2");
  EXPECT_EQ(UsesOf("mov.b64 {r1, r2}, d1;"), "r1! r2! d1");
  EXPECT_EQ(UsesOf("atom.global.add.u32 r1, [d1], r2;"), "r1! d1 r2");
  EXPECT_EQ(UsesOf("red.global.add.u32 [d1], r2;"), "d1 r2");
  EXPECT_EQ(UsesOf("selp.b32 r1, r2, r3, p1;"), "r1! r2 r3 p1");
  EXPECT_EQ(UsesOf("call (r1), d1, (r2, 3), f;"), "r1! d1 r2");
  EXPECT_EQ(UsesOf("frobnicate.u32 r1, [d1, {r2, r3}];"), "r1? d1 r2? r3?");
}

TEST(FlowTest, UnknownOpcodesReadAndWriteTheirOperands) {
  const ptx::Function function = Kernel(R"(
    mov.u32 r1, 1;
    frobnicate.u32 r1, r2;
    st.global.u32 [d1], r1;
    ret;
  )");
  const RegisterUses uses = FindRegisterUses(function);
  EXPECT_TRUE(uses.uses.at(uses.first[1]).reads && uses.uses.at(uses.first[1]).writes);
  ExpectSoundLayout(function);
}

TEST(FlowTest, RegistersOfTheInterfaceHaveRowsOfTheirOwn) {
  ptx::Module module = ptx::Parse(R"(.version 9.0 .target sm_80 .address_size 64
    .func (.reg .b32 result) f(.reg .b32 a, .reg .b64 b) {
      .reg .b32 x;
      mov.u32 x, 5;
      mov.u32 result, x;
      ret;
    })");
  const ptx::Function& function = module.functions.at(0);
  const RegisterLayout layout = AllocateRegisters(function, AnalyzeFlow(function));
  EXPECT_EQ(layout.row.size(), 4u);
  const std::set<RowRef> rows = {layout.row.at("result"), layout.row.at("a"), layout.row.at("x"), layout.row.at("b")};
  EXPECT_EQ(rows.size(), 4u);
}

TEST(FlowTest, RefusesUndeclaredRegisters) {
  ptx::Function function = Kernel("add.u32 r1, r2, r3;");
  std::get<ptx::RegisterRef>(function.body[0].operands[1].value).name = "r64";  // one beyond r<64>
  EXPECT_THROW(AllocateRegisters(function, AnalyzeFlow(function)), ptx::PtxError);
}

TEST(FlowTest, TakesLargeFunctions) {
  std::string text;
  std::mt19937 random(3);
  for (int k = 0; k < 100000; ++k) {
    text += "add.u32 %x" + std::to_string(k) + ", %x" + std::to_string(random() % (k + 1)) + ", 1;\n";
    if (k % 10 == 0) text += "L" + std::to_string(k) + ": @p1 bra L" + std::to_string(random() % 10000 * 10) + ";\n";
  }
  const ptx::Function function = Kernel(".reg .b32 %x<100000>;\n" + text + "ret;\n");
  const RegisterLayout layout = AllocateRegisters(function, AnalyzeFlow(function));
  EXPECT_EQ(layout.row.size(), 100001u);
  EXPECT_GT(layout.registers, 0u);
}

TEST(FlowTest, AnalysesWhatNvccWrites) {
  const ptx::Module module = ptx::Parse(tests::ReadText(LOCKSTEP_BUILD_DIR "/ptx/flow.ptx"));
  ASSERT_EQ(module.functions.size(), 1u);
  const ptx::Function& function = module.functions[0];
  const Flow flow = AnalyzeFlow(function);
  size_t branches = 0, meetings = 0;
  for (size_t k = 0; k < function.body.size(); ++k) {
    if (function.body[k].opcode != "bra" || !function.body[k].guard) continue;
    ++branches;
    if (flow.reconvergence[k] == kNone) continue;
    ++meetings;
    EXPECT_TRUE(flow.is_leader.at(flow.reconvergence[k]));
    EXPECT_TRUE(flow.is_reconvergence_point.at(flow.reconvergence[k]));
  }
  EXPECT_GE(branches, 5u);
  EXPECT_EQ(meetings, branches);  // nvcc gives a kernel one ret, where even an early return meets the others
  ExpectSoundLayout(function);
}

}  // namespace flow_test
}  // namespace lockstep::vgpu
