// The judge's end against a worker that knows the protocol and bends it: it starts as a worker should, and when it is
// called it sends messages of every type, most of them nearly right, some mutated, repeated, out of order or cut off.
// Whatever it says, a session ends with an outcome, the judge lives on, and the device is as it was.
//
// This executable is also the worker: with LOCKSTEP_HOSTILE_SEED=N in its environment it sends messages drawn from N.
// With LOCKSTEP_FUZZ_SECONDS=600 it runs for ten minutes; a failure names its seed, LOCKSTEP_FUZZ_SEED=N starts there.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>

#include "judge/session/session.h"
#include "judge/session/session_device.h"
#include "protocol/wire_device.h"

namespace lockstep::worker {
namespace {

constexpr char kText[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.global .u32 data[64];\n.visible .entry k(.param .u64 to)\n{\n"
    "\t.reg .u64 a;\n\tld.param.u64 a, [to];\n\tst.global.u32 [a], 7;\n\tret;\n}\n";

class HostileWorker {
 public:
  explicit HostileWorker(uint64_t seed) : random_(seed) {}

  void Serve() {
    Send(kSocketDescriptor, MessageType::kStarted, 0, {});
    Hello hello;
    hello.launchers = {
        {"f", ValueKind::kInteger, {{ParameterKind::kPointer, 8, false}, {ParameterKind::kPointer, 8, false}}}};
    Send(kSocketDescriptor, MessageType::kHello, 0, Encode(hello));
    for (;;) {
      const Message message = Receive(kSocketDescriptor);
      if (message.type == MessageType::kQuit) return;
      if (message.type == MessageType::kCall) Misbehave(DecodeCall(message.payload));
    }
  }

 private:
  uint64_t Below(uint64_t end) { return std::uniform_int_distribution<uint64_t>(0, end - 1)(random_); }
  bool Often() { return Below(8) != 0; }
  // An address that is plausible more often than not.
  uint64_t Address() {
    const uint64_t base = addresses_[Below(addresses_.size())];
    return Often() ? base + 4 * Below(8) : base + random_() % (Often() ? 1 << 20 : ~uint64_t{0});
  }
  uint64_t Bytes() { return Often() ? 4 * Below(64) : careful_ ? Below(1 << 22) : random_() >> Below(64); }
  vgpu::Dim3 Shape() {
    const auto extent = [&] { return static_cast<uint32_t>(Often() ? Below(4) : random_()); };
    return {extent(), extent(), extent()};
  }
  std::string Text() { return Often() ? "k" : std::string(Below(5000), static_cast<char>(Below(256))); }

  Encoder Request(MessageType type) {
    Encoder out;
    const auto origin = [&] { Put(out, WireOrigin{Often() ? "cudaMemcpy" : Text(), Text()}); };
    switch (type) {
      case MessageType::kUnloadModule:
        out.Put(module_);
        break;
      case MessageType::kFindKernel:
        out.Put(module_).PutString(Text());
        break;
      case MessageType::kFindVariable:
        out.Put(module_).PutString(Often() ? "data" : Text());
        break;
      case MessageType::kAllocate:
        origin();
        out.Put(Bytes());
        break;
      case MessageType::kFree:
        origin();
        out.Put(Address());
        break;
      case MessageType::kWrite:
        origin();
        out.Put(Address()).PutBytes(std::vector<uint8_t>(Below(300)));
        break;
      case MessageType::kRead:
        origin();
        out.Put(Address()).Put(Bytes());
        break;
      case MessageType::kCopy:
        origin();
        out.Put(Address()).Put(Address()).Put(Bytes());
        break;
      case MessageType::kFill:
        origin();
        out.Put(Address()).Put(static_cast<uint8_t>(Below(256))).Put(Bytes());
        break;
      case MessageType::kContains:
        out.Put(Address()).Put(Bytes());
        break;
      case MessageType::kLaunch: {
        origin();
        const uint64_t to = Address();
        vgpu::LaunchSpec launch{
            .module = module_, .kernel = careful_ || Often() ? "k" : Text(), .grid = Shape(), .block = Shape()};
        if (Below(4) == 0) launch.cluster = Shape();
        launch.dynamic_shared = static_cast<uint32_t>(Bytes());
        launch.cooperative = Below(4) == 0;
        const auto* bytes = reinterpret_cast<const uint8_t*>(&to);
        const std::vector<uint8_t> parameters(bytes, bytes + (careful_ || Often() ? sizeof to : Below(9)));
        launch.parameters = parameters;
        Put(out, launch);
        break;
      }
      case MessageType::kLibrary: {
        origin();
        Put(out, Operation());
        break;
      }
      case MessageType::kMaxBlocksPerSm: {
        vgpu::KernelInfo kernel;
        kernel.demangled = Text();
        kernel.registers = static_cast<uint32_t>(random_());
        kernel.static_shared = static_cast<uint32_t>(random_());
        Put(out, kernel);
        out.Put(static_cast<int>(random_())).Put(Bytes());
        break;
      }
      case MessageType::kNote:
        origin();
        out.Put(static_cast<int>(random_()));
        break;
      case MessageType::kStopped:
        out.Put(static_cast<uint8_t>(Below(6))).PutString(Text()).PutString(Text());
        break;
      case MessageType::kBeginOperation: {
        vgpu::StreamPoint point;
        point.slot = static_cast<uint32_t>(Often() ? Below(4) : random_());
        point.sequence = static_cast<uint32_t>(random_() >> Below(32));
        point.before.resize(Below(6), static_cast<uint32_t>(random_()));
        point.waited.resize(Below(6), static_cast<uint32_t>(random_()));
        point.stream = Text();
        for (uint64_t k = Below(4); k > 0; --k) point.spans.push_back({Address(), Bytes(), Below(2) == 0});
        Put(out, point);
        break;
      }
      case MessageType::kHostRace: {
        vgpu::HostRace race{};
        race.stream = race.function = race.call_site = Text();
        race.offset = random_();
        race.bytes = Bytes();
        Put(out, race);
        break;
      }
      case MessageType::kLoadModule: {
        const std::string_view text(kText, sizeof kText - 1);
        std::vector<uint8_t> image(text.begin(), text.end());
        if (!Often()) Mutate(image);
        return Raw(image);
      }
      case MessageType::kLoadLinked: {
        out.Put(static_cast<uint32_t>(1));
        out.PutString(kText);
        break;
      }
      case MessageType::kReturned: {
        Returned returned;
        returned.result = {ValueKind::kInteger, random_()};
        returned.cuda_error = static_cast<int>(Below(1000));
        returned.cuda_error_name = Text();
        if (Often()) returned.arrays = {std::vector<uint8_t>(Often() ? 64 : Below(200))};
        return Raw(Encode(returned));
      }
      default:
        break;
    }
    return out;
  }
  // A library call whose sizes mostly fit the buffers; careful: one that the judge accepts.
  vgpu::LibraryOperation Operation() {
    vgpu::LibraryOperation operation;
    do {
      const auto size = [&]() -> int64_t { return static_cast<int64_t>(Often() ? Below(12) : random_() >> Below(64)); };
      operation.kind = static_cast<vgpu::LibraryKind>(Below(static_cast<uint64_t>(vgpu::LibraryKind::kFft) + 1));
      operation.is_double = Below(2) == 0;
      for (vgpu::LibraryOperand& operand : operation.operands) {
        operand = {Address(), size(), size(), Below(2) == 0};
        if (Below(4) == 0) operand.leading = -operand.leading;
      }
      operation.alpha = {static_cast<double>(Below(3)), Often() ? 0 : Address()};
      operation.beta = {static_cast<double>(Below(3)), Often() ? 0 : Address()};
      operation.result = Address();
      operation.m = size();
      operation.n = size();
      operation.k = size();
      operation.batch = size();
      operation.in = static_cast<vgpu::FourierForm>(Below(3));
      operation.out = static_cast<vgpu::FourierForm>(Below(3));
      operation.is_inverse = Below(2) == 0;
    } while (careful_ && !vgpu::WhyNot(operation).empty());
    return operation;
  }
  static Encoder Raw(const std::vector<uint8_t>& bytes) {
    Encoder out;
    for (const uint8_t byte : bytes) out.Put(byte);
    return out;
  }

  void Mutate(std::vector<uint8_t>& bytes) {
    for (uint64_t k = Below(4); k > 0 && !bytes.empty(); --k) {
      switch (Below(4)) {
        case 0:
          bytes[Below(bytes.size())] = static_cast<uint8_t>(random_());
          break;
        case 1:
          bytes.resize(Below(bytes.size()));
          break;
        case 2:
          bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(Below(bytes.size())), Below(20),
                       static_cast<uint8_t>(random_()));
          break;
        default: {  // a length or a number at its limits
          const uint64_t extreme = random_() % 2 == 0 ? ~uint64_t{0} : uint64_t{1} << Below(64);
          const size_t at = Below(bytes.size());
          std::memcpy(&bytes[at], &extreme, std::min<size_t>(sizeof extreme, bytes.size() - at));
        }
      }
    }
  }

  void Misbehave(const Call& call) {
    addresses_.clear();
    for (const Argument& argument : call.arguments) addresses_.push_back(argument.bits);
    constexpr MessageType kTypes[] = {
        MessageType::kNote,           MessageType::kBeginOperation, MessageType::kEndOperation,
        MessageType::kHostRace,       MessageType::kLoadModule,     MessageType::kUnloadModule,
        MessageType::kFindKernel,     MessageType::kFindVariable,   MessageType::kAllocate,
        MessageType::kFree,           MessageType::kWrite,          MessageType::kRead,
        MessageType::kCopy,           MessageType::kFill,           MessageType::kContains,
        MessageType::kFreeBytes,      MessageType::kLaunch,         MessageType::kLaunch,
        MessageType::kMaxBlocksPerSm, MessageType::kProfile,        MessageType::kReset,
        MessageType::kLoadLinked,     MessageType::kLibrary,        MessageType::kLibrary,
        MessageType::kStopped};
    careful_ = Below(3) != 0;
    module_ = 0;
    std::vector<uint8_t> last;
    for (uint64_t left = 1 + Below(80); left > 0; --left) {
      MessageType type = kTypes[Below(std::size(kTypes))];
      if (careful_ && type == MessageType::kLaunch && module_ == 0) type = MessageType::kLoadLinked;
      std::vector<uint8_t> payload = Request(type).Take();
      if (!careful_ && Below(20) == 0) Mutate(payload);
      payload.resize(std::min<uint64_t>(payload.size(), MaxPayloadBytes(type)));
      std::vector<uint8_t> frame = Frame(type, Often() ? 0 : kContinued, payload);
      if (!careful_ && Below(40) == 0) Mutate(frame);
      if (!careful_ && Below(30) == 0) frame = last;
      if (!careful_ && Below(60) == 0) std::swap(frame, last);
      Write(frame);
      last = frame;
      if (type == MessageType::kUnloadModule || type == MessageType::kReset) module_ = 0;
      if (careful_ && type >= MessageType::kLoadModule) Note(type, Receive(kSocketDescriptor));
    }
    const std::vector<uint8_t> returned = Request(MessageType::kReturned).Take();
    std::vector<uint8_t> frame = Frame(MessageType::kReturned, 0, returned);
    const bool ends = !careful_ || Below(10) == 0;
    if (ends && Below(2) == 0) Mutate(frame);
    Write(frame);
    if (Below(10) == 0) Write(frame);
    if (ends) std::_Exit(static_cast<int>(Below(2)));
  }

  void Write(const std::vector<uint8_t>& bytes) {
    for (size_t done = 0; done < bytes.size();) {
      const ssize_t sent = ::write(kSocketDescriptor, bytes.data() + done, bytes.size() - done);
      if (sent <= 0) std::_Exit(0);
      done += static_cast<size_t>(sent);
    }
  }

  void Note(MessageType type, const Message& reply) {
    if ((reply.flags & kFailed) != 0 || reply.payload.size() < sizeof(uint64_t)) return;
    const auto value = Decoder(reply.payload).Get<uint64_t>();
    if (type == MessageType::kLoadModule || type == MessageType::kLoadLinked) module_ = value;
    if (type == MessageType::kAllocate && value != 0) addresses_.push_back(value);
  }

  std::mt19937_64 random_;
  bool careful_ = true;  // whether it mutates nothing, so that it gets far
  vgpu::ModuleHandle module_ = 0;
  std::vector<uint64_t> addresses_;
};

// One session, of up to three calls. Says how it ended.
Outcome Meet(uint64_t seed, vgpu::Device& device) {
  DeviceServer server(device, {.memory_bytes = 1 << 20, .cublas = true, .cufft = true, .trace_calls = 1000});
  WorkerCommand command;
  command.worker = "/proc/self/exe";
  command.environment = {"LOCKSTEP_HOSTILE_SEED=" + std::to_string(seed)};
  WorkerSession session(command);
  const Limits limits{.call_seconds = 10};
  CallResult result = session.Start(limits, server);
  const uint64_t in = device.Allocate(256, "d_in", "");
  for (int call = 0; call < 3 && result.outcome == Outcome::kReturned && session.alive(); ++call) {
    std::vector<Argument> arguments = {Argument::DevicePointer(in), Argument::HostArray(std::vector<uint8_t>(64))};
    server.ClearTrace();
    device.ClearRecords();
    result = session.Call("f", arguments, limits, server);
    server.memory_use();
    if (device.faulted()) break;
  }
  if (std::getenv("LOCKSTEP_FUZZ_TELL") != nullptr) std::printf("%s\n", result.message.c_str());
  session.Stop();
  device.Free(in);
  EXPECT_TRUE(device.faulted() || server.Allocations().empty());
  if (device.faulted()) device.Reset();
  EXPECT_EQ(device.Allocations().size(), 0u);
  return result.outcome;
}

TEST(HostileWorkerTest, TheJudgeLivesOn) {
  const char* seconds = std::getenv("LOCKSTEP_FUZZ_SECONDS");
  const char* first = std::getenv("LOCKSTEP_FUZZ_SEED");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds != nullptr ? std::atoi(seconds) : 0);
  vgpu::DeviceOptions options;
  options.checkers = {"races", "init"};
  options.instruction_budget = 10'000;
  vgpu::Device device(*vgpu::FindProfile("h200"), options);
  std::map<Outcome, int> outcomes;
  uint64_t seed = first != nullptr ? std::strtoull(first, nullptr, 10) : 1;
  for (int session = 0; session < 60 || std::chrono::steady_clock::now() < end; ++session, ++seed) {
    SCOPED_TRACE("LOCKSTEP_FUZZ_SEED=" + std::to_string(seed));
    const Outcome outcome = Meet(seed, device);
    ++outcomes[outcome];
    EXPECT_NE(outcome, Outcome::kCouldNotStart);
    EXPECT_NE(outcome, Outcome::kTimeout);
    if (HasFailure()) break;
  }
  EXPECT_GT(outcomes[Outcome::kReturned], 0) << "some return";
  EXPECT_GT(outcomes[Outcome::kProtocolError], 0) << "some break the protocol";
  int sessions = 0;
  for (const auto& [outcome, times] : outcomes) sessions += times;
  RecordProperty("sessions", sessions);
  std::printf("%d sessions:", sessions);
  for (const auto& [outcome, times] : outcomes) std::printf(" %s %d", std::string(NameOf(outcome)).c_str(), times);
  std::printf("\n");
}

}  // namespace
}  // namespace lockstep::worker

int main(int argc, char** argv) {
  if (const char* seed = std::getenv("LOCKSTEP_HOSTILE_SEED")) {
    try {
      lockstep::worker::HostileWorker(std::strtoull(seed, nullptr, 10)).Serve();
    } catch (const lockstep::worker::WireError&) {
      return lockstep::worker::kConnectionLostStatus;
    }
    return 0;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
