#include "dev/cosim/cuda/kernel_maker.h"

namespace lockstep::cosim::cuda {

KernelMaker::KernelMaker(uint64_t seed) : Declarations(seed), seed_(seed), space_("p" + std::to_string(seed)) {
  static constexpr int threads[] = {32, 64, 64, 96, 128, 33, 48, 1, 100};
  threads_ = threads[random_.Pick(9)];
  blocks_ = 1 + random_.Pick(2);
  whole_warps_ = threads_ % 32 == 0;
  while (slots_ < threads_) slots_ *= 2;
}

ProgramText KernelMaker::Make() {
  Line("namespace " + space_ + " {");
  DeclareAll();
  DeclareState();
  for (int k = 1 + random_.Pick(2); k > 0; --k) shared_.push_back({New("sh"), random_.OneIn(2) ? U32 : AnyType()});
  Steps(4 + random_.Pick(6), false);
  ProgramText program;
  const std::string kernel = Kernel();
  program.text = text_ + kernel + "}  // namespace " + space_ + "\n";
  program.functions = static_cast<int>(functions_.size());
  program.entry = Join({"{\"", space_, "\", ", std::to_string(threads_), ", ", std::to_string(blocks_), ", ", space_,
                        "::kWords, ", space_, "::kLabels, ", space_, "::Host, COSIM_DEVICE(", space_, "::Device)}"});
  return program;
}

void KernelMaker::DeclareState() {
  for (const Type type : {U32, I32, U64, F32}) state_.push_back({"s." + New("m"), type});
  for (int k = 2 + random_.Pick(5); k > 0; --k) state_.push_back({"s." + New("m"), AnyType()});
  for (int k = random_.Pick(3); k > 0; --k) state_arrays_.push_back({"s." + New("m"), AnyType(), 2 << random_.Pick(3)});
  for (int k = random_.Pick(3); k > 0; --k)
    state_records_.push_back({"s." + New("m"), random_.Pick(static_cast<int>(records_.size()))});
  Line("struct State {");
  for (const Variable& variable : state_) Line(Join({"  ", Name(variable.type), " ", variable.text.substr(2), ";"}));
  for (const Array& array : state_arrays_)
    Line(Join({"  ", Name(array.type), " ", array.text.substr(2), "[", std::to_string(array.size), "];"}));
  for (const Instance& instance : state_records_)
    Line(Join({"  ", records_[static_cast<size_t>(instance.record)].name, " ", instance.text.substr(2), ";"}));
  Line("};");
  Line("HD inline void Begin(State& s, const Env& env) {");
  ++indent_;
  scope_ = Scope();
  OpenEnv("env");
  cost_ = 0, factor_ = 1;
  Line("Clear(env.own);");
  static constexpr const char* inputs[] = {"words", "ints", "signeds", "floats"};
  int mixed = 0;
  for (const Variable& variable : state_) {
    const std::string input =
        Join({"env.in->", inputs[mixed % 4], "[(env.thread * ", std::to_string(2 * random_.Pick(60) + 1), " + ",
              std::to_string(random_.Pick(100)), " + env.block) & 127u]"});
    const Type type = mixed % 4 == 0 ? U64 : mixed % 4 == 1 ? U32 : mixed % 4 == 2 ? I32 : F32;
    const std::string value = Converted(variable.type, input, type);
    Line(Join({variable.text, " = ", ++mixed > 4 && random_.OneIn(2) ? Expression(variable.type, 2) : value, ";"}));
  }
  for (const Array& array : state_arrays_)
    Line(Join({"for (int k = 0; k < ", std::to_string(array.size), "; ++k) ", array.text, "[k] = ", Name(array.type),
               "(k + 1);"}));
  for (const Instance& instance : state_records_)
    Line(Join({instance.text, " = ", RecordValue(instance.record, 1), ";"}));
  --indent_;
  Line("}");
}

void KernelMaker::OpenState() {
  scope_ = Scope();
  cost_ = 0, factor_ = 1, loops_ = 0;
  OpenEnv("env");
  for (const Variable& variable : state_) Declare(variable), Declare(variable);
  for (const Array& array : state_arrays_) scope_.arrays.push_back(array);
  for (const Instance& instance : state_records_) Open(instance);
}

std::string KernelMaker::Field(Type type) {
  std::vector<std::string> fit;
  for (const Variable& variable : state_)
    if (variable.type == type) fit.push_back(variable.text);
  return One(fit);
}

void KernelMaker::Emit(const std::string& device, const std::string& host) {
  const std::string indent(static_cast<size_t>(2 * depth_), ' ');
  device_ += indent + device + "\n";
  host_ += indent + "  " + host + "\n";
}

void KernelMaker::Each(const std::string& statement) {
  Emit(statement, "block.Each([&](State& s, const Env& env) { " + statement + " });");
}

void KernelMaker::Steps(int count, bool in_loop) {
  for (int k = 0; k < count; ++k) Step(in_loop);
}

void KernelMaker::Step(bool in_loop) {
  OpenState();
  switch (random_.Pick(in_loop ? 14 : 15)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return Phase();
    case 4:
      return Shuffle();
    case 5:
      return Vote();
    case 6:
      return Reduce();
    case 7:
      return AmongSome();
    case 8:
    case 9:
      return Exchange();
    case 10:
      return SharedAtomics();
    case 11:
      return GlobalAtomics();
    case 12:
      return Tree();
    case 13:
      return BlockVote();
    default: {
      const std::string head = "for (u32 round = 0; round < " + std::to_string(2 + random_.Pick(3)) + "u; ++round) {";
      Emit(head, head);
      ++depth_;
      Steps(1 + random_.Pick(3), true);
      --depth_;
      return Emit("}", "}");
    }
  }
}

// A function of the thread's state, input and own memory; it may also read a shared array.
void KernelMaker::Phase() {
  const bool with_shared = random_.OneIn(3);
  const Shared& shared = One(shared_);
  const std::string name = New("phase"), extra = with_shared ? Join({", const ", Name(shared.type), "* sh"}) : "";
  Line(Join({"HD ", Qualifiers(), "void ", name, "(State& s, const Env& env", extra, ") {"}));
  ++indent_;
  if (with_shared) scope_.arrays.push_back({"sh", shared.type, slots_, false});
  BeginFold();
  const size_t before = scope_.variables.size();
  Block(3 + random_.Pick(6), 3);
  Fold(before);
  Line(Field(U64) + " += fold;");
  folds_ = false;
  --indent_;
  Line("}");
  OpenState();
  const std::string call = name + "(s, env" + (with_shared ? ", " + shared.name : "") + ");";
  if (with_shared) Emit("__syncthreads();", "");
  Each(random_.OneIn(3) ? "if (" + Condition(2) + ") " + call : call);
  if (with_shared) Emit("__syncthreads();", "");
}

void KernelMaker::Shuffle() {
  static constexpr Type types[] = {U32, I32, U64, F32, I64, F64};
  const Type type = types[random_.Pick(6)];
  const std::string value = Expression(type, 2), to = One(std::vector<std::string>{Field(U32), Field(U64), Field(I32)});
  // If a warp is incomplete, only an index can name lanes that exist.
  const int width = 32 >> (whole_warps_ ? random_.Pick(4) : 0), delta = random_.Pick(width);
  const std::string w = std::to_string(width), d = std::to_string(delta);
  std::string call, source;
  switch (whole_warps_ ? random_.Pick(4) : 0) {
    case 0: {
      const std::string lane = "NthLane(env.mask, " + Expression(U32, 1) + ")";
      call = Join({"__shfl_sync(env.mask, value, ", lane, ", ", w, ")"});
      source = Join({"env.lane / ", w, " * ", w, " + ", lane, " % ", w});
      break;
    }
    case 1:
      call = Join({"__shfl_up_sync(env.mask, value, ", d, ", ", w, ")"});
      source = Join({"env.lane % ", w, " < ", d, " ? env.lane : env.lane - ", d});
      break;
    case 2:
      call = Join({"__shfl_down_sync(env.mask, value, ", d, ", ", w, ")"});
      source = Join({"env.lane % ", w, " + ", d, " >= ", w, " ? env.lane : env.lane + ", d});
      break;
    default:
      call = Join({"__shfl_xor_sync(env.mask, value, ", d, ", ", w, ")"});
      source = Join({"env.lane ^ ", d});
      break;
  }
  Emit(Join({"{ const ", Name(type), " value = ", value, "; ", to, " ^= Low(", call, "); }"}),
       Join({"block.Warps([](const State&, const Env&) { return true; }, [](State& s, const Env& env) { return ",
             Name(type), "(", value, "); }, [](State& s, const Env& env, const ", Name(type), "* values, u32) { ", to,
             " ^= Low(values[", source, "]); });"}));
}

void KernelMaker::Vote() {
  static constexpr const char* devices[] = {"__ballot_sync(env.mask, value)", "u32(__any_sync(env.mask, value) != 0)",
                                            "u32(__all_sync(env.mask, value) != 0)"};
  static constexpr const char* hosts[] = {"BallotOnHost(values, mask)", "u32(BallotOnHost(values, mask) != 0)",
                                          "u32(BallotOnHost(values, mask) == mask)"};
  const int which = random_.Pick(3);
  const std::string condition = Condition(2), to = Field(U32);
  Emit(Join({"{ const bool value = ", condition, "; ", to, " += ", devices[which], "; }"}),
       Join({"block.Warps([](const State&, const Env&) { return true; }, [](State& s, const Env& env) { return ",
             condition, "; }, [](State& s, const Env&, const bool* values, u32 mask) { ", to, " += ", hosts[which],
             "; });"}));
}

void KernelMaker::Reduce() {
  static constexpr const char* names[] = {"add", "min", "max", "and", "or", "xor"};
  static constexpr const char* hosts[] = {"Add(a, b)", "a < b ? a : b", "a > b ? a : b", "a & b", "a | b", "a ^ b"};
  const Type type = random_.OneIn(2) ? U32 : I32;
  const int which = random_.Pick(type == U32 ? 6 : 3);
  const std::string value = Expression(type, 2), to = Field(type), t = Name(type);
  Emit(Join({to, " = __reduce_", names[which], "_sync(env.mask, ", value, ");"}),
       Join({"block.Warps([](const State&, const Env&) { return true; }, [](State& s, const Env& env) { return ", value,
             "; }, [](State& s, const Env&, const ", t, "* values, u32 mask) { ", to,
             " = ReducedOnHost(values, mask, [](", t, " a, ", t, " b) { return ", t, "(", hosts[which], "); }); });"}));
}

// In a branch, among the lanes that take it.
void KernelMaker::AmongSome() {
  const std::string condition = Condition(2), value = Expression(U32, 2), to = Field(U32), nth = Expression(U32, 1);
  static constexpr const char* devices[] = {"__shfl_sync(mask, value, NthLane(mask, nth))",
                                            "__reduce_add_sync(mask, value)", "__ballot_sync(mask, (value & 1) != 0)",
                                            "__match_any_sync(mask, value & 3)",
                                            "u32(__match_any_sync(mask, u64(value % 3) << 40))"};
  static constexpr const char* hosts[] = {"values[NthLane(mask, nth)]",
                                          "ReducedOnHost(values, mask, [](u32 a, u32 b) { return a + b; })", "odd",
                                          "alike", "third"};
  const int which = random_.Pick(5);
  Emit(Join({"{ const bool takes = ", condition,
             "; const u32 mask = __ballot_sync(env.mask, takes); if (takes) { const u32 value = ", value,
             ", nth = ", nth, "; (void)nth; ", to, " ^= ", devices[which], "; } }"}),
       Join({"block.Warps([](State& s, const Env& env) { return ", condition,
             "; }, [](State& s, const Env& env) { return ", value,
             "; }, [](State& s, const Env& env, const u32* values, u32 mask) { const u32 nth = ", nth,
             "; u32 odd = 0, alike = 0, third = 0; for (u32 k = 0; k < 32; ++k) if (mask >> k & 1) { odd |= (values[k] "
             "& 1) << k; alike |= u32((values[k] & 3) == (values[env.lane] & 3)) << k; third |= u32(values[k] % 3 == "
             "values[env.lane] % 3) << k; } (void)nth, (void)odd, (void)alike, (void)third; ",
             to, " ^= ", hosts[which], "; });"}));
}

// Each thread writes its own element, then reads any.
void KernelMaker::Exchange() {
  const Shared& shared = One(shared_);
  const int factor = 2 * random_.Pick(slots_ / 2) + 1, offset = random_.Pick(slots_), mask = slots_ - 1;
  Emit("__syncthreads();", "");
  Each(Join({shared.name, "[(env.thread * ", std::to_string(factor), " + ", std::to_string(offset), ") & ",
             std::to_string(mask), "] = ", Expression(shared.type, 2), ";"}));
  Emit("__syncthreads();", "");
  for (int k = 1 + random_.Pick(2); k > 0; --k) {
    const Variable to = One(state_);
    Each(Join({to.text, " = ", Converted(to.type, shared.name + "[" + Index(slots_, 2) + "]", shared.type), ";"}));
  }
  Emit("__syncthreads();", "");
}

void KernelMaker::SharedAtomics() {
  const Shared& shared = One(shared_);
  if (shared.type != U32 && shared.type != I32 && shared.type != U64) return GlobalAtomics();
  static constexpr const char* names[] = {"Add", "Min", "Max", "And", "Or", "Xor"};
  Emit("__syncthreads();", "");
  const std::string statement = Join({"Atomic", names[random_.Pick(6)], "(&", shared.name, "[", Index(slots_, 2), "], ",
                                      Expression(shared.type, 2), ");"});
  Each(random_.OneIn(2) ? "if (" + Condition(1) + ") " + statement : statement);
  Emit("__syncthreads();", "");
}

void KernelMaker::GlobalAtomics() {
  static constexpr struct {
    const char* text;
    Type type;
  } kinds[] = {{"AtomicAdd(&totals->added", U32}, {"AtomicMax(&totals->most", U32},
               {"AtomicMin(&totals->least", U32}, {"AtomicXor(&totals->flipped", U32},
               {"AtomicAdd(&totals->sums", U64},  {"AtomicMax(&totals->highest", U64},
               {"AtomicMin(&totals->lowest", I32}};
  const auto& kind = kinds[random_.Pick(7)];
  const std::string statement = Join({kind.text, "[", Index(16, 1), "], ", Expression(kind.type, 2), ");"});
  Each(random_.OneIn(2) ? "if (" + Condition(1) + ") " + statement : statement);
}

void KernelMaker::Tree() {
  const Shared& shared = One(shared_);
  static constexpr const char* operations[] = {"Add(a, b)", "Sub(a, b)", "Mul(a, b)", "a < b ? a : b"};
  const std::string operation = operations[random_.Pick(4)],
                    head = "for (u32 stride = " + std::to_string(slots_ / 2) + "; stride > 0; stride /= 2) {";
  Emit("__syncthreads();", "");
  Emit(head, head);
  ++depth_;
  const std::string t = Name(shared.type);
  Each(Join({"for (u32 k = env.thread; k < stride; k += ", std::to_string(threads_), "u) { const ", t,
             " a = ", shared.name, "[k], b = ", shared.name, "[k + stride]; ", shared.name, "[k] = ", t, "(", operation,
             "); }"}));
  Emit("__syncthreads();", "");
  --depth_;
  Emit("}", "}");
}

void KernelMaker::BlockVote() {
  static constexpr const char* names[] = {"__syncthreads_count", "__syncthreads_and", "__syncthreads_or"};
  static constexpr const char* hosts[] = {"count", "u32(count == block.states.size())", "u32(count > 0)"};
  const int which = random_.Pick(3);
  const std::string condition = Condition(2), to = Field(U32);
  Emit(Join({to, " += u32(", names[which], "(", condition, "))", which == 0 ? "" : " != 0", ";"}),
       Join({"{ u32 count = 0; block.Each([&](State& s, const Env& env) { count += ", condition,
             "; }); block.Each([&](State& s, const Env&) { ", to, " += ", hosts[which], "; }); }"}));
}

std::string KernelMaker::Kernel() {
  // The results: one label each.
  std::string puts = "writer.PutAll(*env.own), writer.PutAll(*env.row);", labels;
  int words = 0;
  const auto label = [&](const std::string& name) {
    labels += (words % 8 == 0 ? "\n    " : " ") + ("\"" + name + "\",");
    ++words;
  };
  for (const Array& array : OwnArrays())
    for (int k = 0; k < array.size; ++k) label(array.text + "[" + std::to_string(k) + "]");
  scope_ = Scope();
  for (const Instance& instance : state_records_) Open(instance);
  for (const Variable& variable : state_) Declare(variable);
  for (const Variable& variable : scope_.variables) {
    puts += " writer.Put(" + std::string(Name(variable.type)) + "(" + variable.text + "));";
    label(variable.text);
  }
  for (const std::vector<Array>* arrays : {&state_arrays_, &scope_.arrays})
    for (const Array& array : *arrays) {
      puts += " writer.PutAll(" + array.text + ");";
      for (int k = 0; k < array.size; ++k) label(array.text + "[" + std::to_string(k) + "]");
    }
  std::string shared, fill;
  for (const Shared& array : shared_) {
    shared += Join({Name(array.type), " ", array.name, "[", std::to_string(slots_), "];"});
    fill += Join({array.name, "[k] = ", Name(array.type), "(k * 3 + 1); "});
  }
  const std::string threads = std::to_string(threads_), blocks = std::to_string(blocks_),
                    slots = std::to_string(slots_);
  std::string on_device;
  for (const Shared& array : shared_)
    on_device += Join({"  __shared__ ", Name(array.type), " ", array.name, "[", slots, "];\n"});
  return Join(
      {"constexpr int kWords = ",
       std::to_string(words),
       ";\nstatic const char* const kLabels[] = {",
       labels,
       "};\n",
       "HD inline void End(State& s, const Env& env, u64* at) {\n  Writer writer{at};\n  ",
       puts,
       "\n}\n",
       "inline void Host(const Input* in, Own* own, Totals* totals, u64* words) {\n  for (int index = 0; index < ",
       blocks,
       "; ++index) {\n    HostBlock<State> block(",
       threads,
       ", index, in, own);\n    ",
       shared,
       "\n    for (u32 k = 0; k < ",
       slots,
       "; ++k) { ",
       fill,
       "}\n    block.Each([&](State& s, const Env& env) { Begin(s, env); });\n",
       host_,
       "    block.Each([&](State& s, const Env& env) { End(s, env, words + (env.block * ",
       threads,
       " + env.thread) * kWords); });\n  }\n}\n",
       "#ifdef __CUDACC__\n__global__ void Kernel(const Input* in, Own* own, Totals* totals, u64* words) {\n  "
       "__shared__ Row rows[",
       threads,
       "];\n",
       on_device,
       "  const Env env = MakeEnv(in, own, rows);\n  for (u32 k = env.thread; k < ",
       slots,
       "; k += ",
       threads,
       ") { ",
       fill,
       "}\n  State s;\n  Begin(s, env);\n  __syncthreads();\n",
       device_,
       "  End(s, env, words + (env.block * ",
       threads,
       " + env.thread) * kWords);\n}\ninline void Device(const Input* in, Own* own, Totals* totals, u64* words) {\n  "
       "Kernel<<<",
       blocks,
       ", ",
       threads,
       ">>>(in, own, totals, words);\n}\n#endif\n"});
}

std::string MakeFile(uint64_t first, int count, int* functions) {
  std::string text = "#include \"program_run.cuh\"\n\nusing namespace cosim;\n\n", entries;
  for (int k = 0; k < count; ++k) {
    const ProgramText program = KernelMaker(first + static_cast<uint64_t>(k)).Make();
    text += program.text + "\n";
    entries += "    " + program.entry + ",\n";
    if (functions != nullptr) *functions += program.functions;
  }
  return text + "static const Program kPrograms[] = {\n" + entries +
         "};\n\nint main(int argc, char** argv) { return Main(kPrograms, argc, argv); }\n";
}

}  // namespace lockstep::cosim::cuda
