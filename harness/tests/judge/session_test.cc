// The judge's end against workers that do all the wrong things. This executable is also the workers: started with
// --as-worker=BEHAVIOUR it speaks the protocol by hand, without the worker library's good manners.
#include "judge/session/session.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <thread>

#include "protocol/wire.h"
#include "protocol/wire_device.h"

namespace lockstep::worker {
namespace {

constexpr int kSocket = kSocketDescriptor;

// ---- The workers ----

void SendHello() {
  Hello hello;
  hello.launchers = {{"f", ValueKind::kInteger, {{ParameterKind::kPointer, 8, false}}}};
  Send(kSocket, MessageType::kHello, 0, Encode(hello));
}

void SendReturned(int value) {
  Returned returned;
  returned.result = {ValueKind::kInteger, static_cast<uint64_t>(value)};
  Send(kSocket, MessageType::kReturned, 0, Encode(returned));
}

void WriteRaw(std::vector<uint8_t> bytes) { (void)!::write(kSocket, bytes.data(), bytes.size()); }

[[noreturn]] void Hang() {
  for (;;) ::pause();
}

void PrintForever() {
  for (;;) (void)!::write(STDOUT_FILENO, "spam spam spam\n", 15);
}

// Leaves a child process that holds the socket and the output open.
void LeaveChild(bool new_session) {
  if (::fork() == 0) {
    if (new_session) ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::sleep(20);
    ::_exit(0);
  }
}

uint64_t AskForMemory(uint64_t bytes) {
  Encoder encoder;
  Put(encoder, WireOrigin{"cudaMalloc", ""});
  Send(kSocket, MessageType::kAllocate, 0, encoder.Put(bytes).bytes());
  const Message reply = Receive(kSocket);
  return Decoder(reply.payload).Get<uint64_t>();
}

const std::map<std::string, std::function<void()>>& CallBehaviours() {
  static const std::map<std::string, std::function<void()>> behaviours = {
      {"return", [] { SendReturned(7); }},
      {"print", [] { std::printf("hello\n"), std::fflush(stdout), std::fprintf(stderr, "world\n"), SendReturned(1); }},
      {"exit0", [] { std::exit(0); }},
      {"exit3", [] { std::exit(3); }},
      {"abort", [] { std::abort(); }},
      {"segv", [] { ::signal(SIGSEGV, SIG_DFL), ::raise(SIGSEGV); }},
      {"exit139", [] { ::_exit(139); }},
      {"hang", [] { Hang(); }},
      {"spin",
       [] {
         volatile int x = 0;
         while (x == 0) {
         }
       }},
      {"flood", [] { PrintForever(); }},
      {"close", [] { ::close(kSocket), Hang(); }},
      {"close_all", [] { ::close_range(0, ~0U, 0), Hang(); }},
      {"close_exit", [] { ::close(kSocket), ::usleep(100'000), ::_exit(5); }},
      {"garbage", [] { WriteRaw(std::vector<uint8_t>(4096, 0xee)), Hang(); }},
      {"giant", [] { WriteRaw({255, 255, 255, 255, static_cast<uint8_t>(MessageType::kWrite), 0, 0, 0}), Hang(); }},
      {"half_header", [] { WriteRaw({1, 2, 3}), ::_exit(0); }},
      {"hello_again", [] { SendHello(), Hang(); }},
      {"bad_returned", [] { Send(kSocket, MessageType::kReturned, 0, std::vector<uint8_t>(3, 1)), Hang(); }},
      {"extra_array",
       [] {
         Returned returned;
         returned.arrays.resize(3);
         Send(kSocket, MessageType::kReturned, 0, Encode(returned));
         Hang();
       }},
      {"return_then_exit", [] { SendReturned(7), std::exit(0); }},
      {"fork_exit", [] { LeaveChild(false), ::_exit(4); }},
      {"fork_escape", [] { LeaveChild(true), SendReturned(7); }},
      {"allocate", [] { SendReturned(static_cast<int>(AskForMemory(64))); }},
      {"bad_request",
       [] { Send(kSocket, MessageType::kAllocate, 0, std::vector<uint8_t>(2, 0)), Receive(kSocket), Hang(); }},
      {"talk_never_listen",
       [] {
         Encoder encoder;
         Put(encoder, WireOrigin{"cudaMalloc", ""});
         encoder.Put(uint64_t{64});
         for (;;) Send(kSocket, MessageType::kAllocate, 0, encoder.bytes());
       }},
      {"notes_forever",
       [] {
         Encoder encoder;
         Put(encoder, WireOrigin{"cudaStreamQuery", ""});
         encoder.Put(0);
         for (;;) Send(kSocket, MessageType::kNote, 0, encoder.bytes());
       }},
      {"stop_itself", [] { ::raise(SIGSTOP); }},
      {"gtest", [] { std::printf("[  PASSED  ] 100 tests.\n{\"score\": 100}\n"), std::exit(0); }},
      {"limits",
       [] {
         // How far a file can grow, how many descriptors are open, and whether the environment is inherited.
         char path[] = "/tmp/session_test.XXXXXX";
         const int file = ::mkstemp(path);
         ::unlink(path);
         ::signal(SIGXFSZ, SIG_IGN);
         const std::vector<char> block(1 << 20);
         long written = 0;
         for (ssize_t got; (got = ::write(file, block.data(), block.size())) > 0;) written += got;
         int open_files = 0;
         for (int fd = 0; fd < 4096; ++fd) open_files += ::fcntl(fd, F_GETFD) != -1;
         std::printf("written %ld open %d session %d home %d\n", written, open_files, ::getsid(0) == ::getpid(),
                     std::getenv("HOME") != nullptr);
         std::fflush(stdout);
         SendReturned(0);
       }},
  };
  return behaviours;
}

// Answers `calls` calls at once; each returns 7.
void ReturnAll(const std::string& behaviour, size_t calls) {
  if (behaviour == "exit3") std::exit(3);
  Returned returned;
  returned.result = {ValueKind::kInteger, 7};
  std::vector<std::vector<uint8_t>> all(calls, Encode(returned));
  if (behaviour == "too_few") all.pop_back();
  if (behaviour == "cut_short") all.back().pop_back();
  if (behaviour == "extra_array") {
    returned.arrays.resize(1);
    all.back() = Encode(returned);
  }
  if (behaviour == "print") std::printf("hello\n"), std::fflush(stdout);
  Send(kSocket, MessageType::kReturnedAll, 0, EncodeAll(all));
}

int RunAsWorker(const std::string& behaviour) {
  if (behaviour == "no_start") {
    std::fprintf(stderr, "sandbox: can't make a namespace\n");
    return 1;
  }
  if (behaviour == "hello_first") SendHello(), Hang();
  if (behaviour == "silent") Hang();
  Send(kSocket, MessageType::kStarted, 0, {});
  if (behaviour == "started_twice") Send(kSocket, MessageType::kStarted, 0, {}), Hang();
  if (behaviour == "constructor_exit") return 0;
  if (behaviour == "constructor_abort") std::abort();
  if (behaviour == "constructor_hang") Hang();
  if (behaviour == "constructor_allocates") AskForMemory(64);
  SendHello();
  for (;;) {
    const Message message = Receive(kSocket);
    if (message.type == MessageType::kCallAll) {
      ReturnAll(behaviour, DecodeAll(message.payload).size());
      continue;
    }
    if (message.type != MessageType::kCall) return 0;
    const auto found = CallBehaviours().find(behaviour);
    if (found == CallBehaviours().end()) return 99;
    found->second();
  }
}

// ---- The judge ----

class FakeServer : public CudaServer {
 public:
  void BeginCall(std::span<const Argument>) override { ++calls; }
  Message Serve(const Message& request) override {
    ++requests;
    if (request.type == MessageType::kNote) return {};
    Reader reader(request.payload);
    reader.Read<WireOrigin>();
    EXPECT_EQ(reader.Read<uint64_t>(), 64u);
    if (pause > 0) std::this_thread::sleep_for(std::chrono::duration<double>(pause));
    Encoder encoder;
    return {MessageType::kReply, 0, encoder.Put(uint64_t{4096}).Take()};
  }
  void EndSession() override { ++ended; }
  int calls = 0, requests = 0, ended = 0;
  double pause = 0;
};

class SessionTest : public testing::Test {
 protected:
  static constexpr double kLongSeconds = 20;  // no machine is that slow
  static WorkerCommand CommandFor(const std::string& behaviour) {
    WorkerCommand command;
    command.prefix = {"/proc/self/exe", "--as-worker=" + behaviour};
    command.worker = "worker";
    return command;
  }
  // Starts a worker and calls its one launcher.
  CallResult CallIn(WorkerSession& session) {
    Limits patient = limits;
    patient.call_seconds = kLongSeconds;
    const CallResult started = session.Start(patient, server);
    EXPECT_EQ(started.outcome, Outcome::kReturned) << started.message;
    if (started.outcome != Outcome::kReturned) return started;
    return session.Call("f", arguments, limits, server);
  }
  CallResult CallOf(const std::string& behaviour) {
    WorkerSession session(CommandFor(behaviour));
    const CallResult result = CallIn(session);
    EXPECT_EQ(session.alive(), result.outcome == Outcome::kReturned) << behaviour;
    return result;
  }
  CallResult StartOf(const std::string& behaviour) {
    return WorkerSession(CommandFor(behaviour)).Start(limits, server);
  }

  FakeServer server;
  std::vector<Argument> arguments = {Argument::DevicePointer(4096)};
  Limits limits{.call_seconds = kLongSeconds, .device_seconds = 10, .output_bytes = 10'000};
};

TEST_F(SessionTest, ReturnsWhatTheLauncherReturned) {
  const CallResult result = CallOf("return");
  EXPECT_EQ(result.outcome, Outcome::kReturned);
  EXPECT_EQ(result.result.AsInteger(), 7);
  EXPECT_EQ(result.message, "");
  EXPECT_EQ(server.ended, 1);
}

TEST_F(SessionTest, CallsTheSameWorkerAgain) {
  WorkerSession session(CommandFor("return"));
  CallIn(session);
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(session.Call("f", arguments, limits, server).outcome, Outcome::kReturned);
  }
  EXPECT_EQ(server.calls, 102);  // with the start
}

TEST_F(SessionTest, MakesSeveralCallsAtOnce) {
  WorkerSession session(CommandFor("print"));
  ASSERT_EQ(session.Start(limits, server).outcome, Outcome::kReturned);
  const std::vector<std::vector<Argument>> calls(3, arguments);
  for (int time = 0; time < 2; ++time) {
    const std::vector<CallResult> results = session.CallAll("f", calls, limits, server);
    ASSERT_EQ(results.size(), 3u);
    for (const CallResult& result : results) {
      EXPECT_EQ(result.outcome, Outcome::kReturned) << result.message;
      EXPECT_EQ(result.result.AsInteger(), 7);
    }
    EXPECT_EQ(results[0].output, "hello\n");
    EXPECT_EQ(results[1].output, "");
  }
  EXPECT_EQ(session.CallAll("g", calls, limits, server).at(0).outcome, Outcome::kNoSuchLauncher);
  EXPECT_TRUE(session.alive());
}

TEST_F(SessionTest, SeveralCallsFailTogether) {
  const std::pair<const char*, Outcome> ends[] = {{"too_few", Outcome::kProtocolError},
                                                  {"cut_short", Outcome::kProtocolError},
                                                  {"extra_array", Outcome::kProtocolError},
                                                  {"exit3", Outcome::kExited}};
  for (const auto& [behaviour, outcome] : ends) {
    WorkerSession session(CommandFor(behaviour));
    ASSERT_EQ(session.Start(limits, server).outcome, Outcome::kReturned);
    const std::vector<std::vector<Argument>> calls(3, arguments);
    const std::vector<CallResult> results = session.CallAll("f", calls, limits, server);
    ASSERT_EQ(results.size(), 1u) << behaviour;
    EXPECT_EQ(results[0].outcome, outcome) << behaviour << ": " << results[0].message;
    EXPECT_FALSE(session.alive()) << behaviour;
  }
}

TEST_F(SessionTest, KeepsWhatWasPrintedInItsOrder) {
  const CallResult result = CallOf("print");
  EXPECT_EQ(result.outcome, Outcome::kReturned);
  EXPECT_EQ(result.output, "hello\nworld\n");
}

TEST_F(SessionTest, NoticesAProgramThatEndsItself) {
  CallResult result = CallOf("exit0");
  EXPECT_EQ(result.outcome, Outcome::kExited);
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.message, "the program exited with status 0");
  result = CallOf("exit3");
  EXPECT_EQ(result.outcome, Outcome::kExited);
  EXPECT_EQ(result.code, 3);
}

TEST_F(SessionTest, FakedTestOutputIsOnlyOutput) {
  const CallResult result = CallOf("gtest");
  EXPECT_EQ(result.outcome, Outcome::kExited);
  EXPECT_NE(result.output.find("PASSED"), std::string::npos);
}

TEST_F(SessionTest, NoticesACrash) {
  CallResult result = CallOf("abort");
  EXPECT_EQ(result.outcome, Outcome::kCrashed);
  EXPECT_EQ(result.code, SIGABRT);
  result = CallOf("segv");
  EXPECT_EQ(result.outcome, Outcome::kCrashed);
  EXPECT_EQ(result.message, "the program was ended by SIGSEGV, \"Segmentation fault\"");
}

TEST_F(SessionTest, ASandboxReportsACrashAsAStatus) {
  const CallResult result = CallOf("exit139");
  EXPECT_EQ(result.outcome, Outcome::kCrashed);
  EXPECT_EQ(result.code, SIGSEGV);
}

TEST_F(SessionTest, EndsAProgramThatHangs) {
  limits.call_seconds = 1;
  for (const char* behaviour : {"hang", "spin", "stop_itself"}) {
    const CallResult result = CallOf(behaviour);
    EXPECT_EQ(result.outcome, Outcome::kTimeout) << behaviour;
    EXPECT_EQ(result.message, "the program did not come back within 1 s");
    EXPECT_LT(result.seconds, kLongSeconds / 2) << behaviour;
  }
}

TEST_F(SessionTest, EndsAProgramThatFloodsItsOutput) {
  const CallResult result = CallOf("flood");
  EXPECT_EQ(result.outcome, Outcome::kFlooded);
  EXPECT_EQ(result.output.size(), limits.output_bytes);
}

TEST_F(SessionTest, NoticesAClosedConnection) {
  for (const char* behaviour : {"close", "close_all"}) {
    EXPECT_EQ(CallOf(behaviour).outcome, Outcome::kClosedSocket) << behaviour;
  }
  const CallResult result = CallOf("close_exit");
  EXPECT_EQ(result.outcome, Outcome::kExited);
  EXPECT_EQ(result.code, 5);
}

TEST_F(SessionTest, RefusesWhatIsNoMessage) {
  for (const char* behaviour : {"garbage", "giant", "hello_again", "bad_returned", "extra_array", "bad_request"}) {
    const CallResult result = CallOf(behaviour);
    EXPECT_EQ(result.outcome, Outcome::kProtocolError) << behaviour << ": " << result.message;
    EXPECT_NE(result.message, "") << behaviour;
  }
  EXPECT_EQ(CallOf("half_header").outcome, Outcome::kExited);
}

TEST_F(SessionTest, AWorkerThatTalksWithoutEndIsTimedOut) {
  limits.call_seconds = 1;
  EXPECT_EQ(CallOf("talk_never_listen").outcome, Outcome::kTimeout);
  EXPECT_EQ(CallOf("notes_forever").outcome, Outcome::kTimeout);
}

TEST_F(SessionTest, AnEndAfterReturningIsSeenByTheNextCall) {
  WorkerSession session(CommandFor("return_then_exit"));
  EXPECT_EQ(CallIn(session).outcome, Outcome::kReturned);
  const CallResult next = session.Call("f", arguments, limits, server);
  EXPECT_EQ(next.outcome, Outcome::kExited) << next.message;
  EXPECT_FALSE(session.alive());
}

TEST_F(SessionTest, AChildThatLivesOnHoldsNothingUp) {
  const CallResult result = CallOf("fork_exit");
  EXPECT_EQ(result.outcome, Outcome::kExited);
  EXPECT_EQ(result.code, 4);
  EXPECT_LT(result.seconds, kLongSeconds / 2);
  EXPECT_EQ(CallOf("fork_escape").outcome, Outcome::kReturned);
}

TEST_F(SessionTest, ServesRequests) {
  const CallResult result = CallOf("allocate");
  EXPECT_EQ(result.outcome, Outcome::kReturned);
  EXPECT_EQ(result.result.AsInteger(), 4096);
  EXPECT_EQ(server.requests, 1);
}

TEST_F(SessionTest, TheJudgesOwnTimeIsNotTheWorkers) {
  server.pause = 2.5;
  limits.call_seconds = 2;
  const CallResult result = CallOf("allocate");
  EXPECT_EQ(result.outcome, Outcome::kReturned) << result.message;
  EXPECT_GE(result.device_seconds, server.pause);
  EXPECT_LT(result.seconds, server.pause);
  server.pause = 0.6;
  limits.device_seconds = 0.5;
  EXPECT_EQ(CallOf("allocate").outcome, Outcome::kDeviceTimeout);
}

// Kernels that the judge runs itself use processor time. The time spent waiting for a processor (here: sleeping) is not
// charged.
TEST_F(SessionTest, KernelsOnTheProcessorDoNotPayForWaiting) {
  server.pause = 2.5;
  limits.device_is_processor = true;
  limits.device_seconds = 0.5;
  const CallResult result = CallOf("allocate");
  EXPECT_EQ(result.outcome, Outcome::kReturned) << result.message;
  EXPECT_LT(result.device_seconds, 0.5);
  EXPECT_LT(result.seconds, server.pause);
}

TEST_F(SessionTest, AWorkerThatCantBeStartedIsTheHarnesssFailure) {
  WorkerCommand command;
  command.worker = "/nonexistent/worker";
  CallResult result = WorkerSession(command).Start(limits, server);
  EXPECT_EQ(result.outcome, Outcome::kCouldNotStart);
  EXPECT_EQ(result.message, "can't run /nonexistent/worker: No such file or directory");
  result = StartOf("no_start");
  EXPECT_EQ(result.outcome, Outcome::kCouldNotStart);
  EXPECT_EQ(result.output, "sandbox: can't make a namespace\n");
  EXPECT_EQ(result.message, "the worker could not be started: sandbox: can't make a namespace");
  EXPECT_TRUE(IsHarnessFailure(result.outcome));
}

TEST_F(SessionTest, SaysHowAWorkerEndedThatDidNotStart) {
  EXPECT_EQ(StartOf("no_start").ended_by, Outcome::kExited);
  limits.call_seconds = 1;
  EXPECT_EQ(StartOf("silent").ended_by, Outcome::kTimeout);
  WorkerCommand command;
  command.worker = "/nonexistent/worker";
  EXPECT_EQ(WorkerSession(command).Start(limits, server).ended_by, Outcome::kCouldNotStart);
}

TEST_F(SessionTest, AGreetingOutOfTurnIsNotTheWorkers) {
  for (const char* behaviour : {"hello_first", "started_twice"}) {
    EXPECT_EQ(StartOf(behaviour).outcome, Outcome::kProtocolError) << behaviour;
  }
}

TEST_F(SessionTest, WhatStaticConstructorsDoIsTheSubmissionsFailure) {
  CallResult result = StartOf("constructor_exit");
  EXPECT_EQ(result.outcome, Outcome::kExited);
  result = StartOf("constructor_abort");
  EXPECT_EQ(result.outcome, Outcome::kCrashed);
  result = StartOf("constructor_allocates");
  EXPECT_EQ(result.outcome, Outcome::kReturned);
  EXPECT_EQ(server.requests, 1);
  limits.call_seconds = 2;
  EXPECT_EQ(StartOf("constructor_hang").outcome, Outcome::kTimeout);
}

TEST_F(SessionTest, ChecksTheSignatureBeforeItCalls) {
  WorkerSession session(CommandFor("return"));
  ASSERT_EQ(session.Start(limits, server).outcome, Outcome::kReturned);
  EXPECT_EQ(session.Call("g", arguments, limits, server).outcome, Outcome::kNoSuchLauncher);
  const std::vector<Argument> wrong = {Argument::Double(1)};
  const CallResult result = session.Call("f", wrong, limits, server);
  EXPECT_EQ(result.outcome, Outcome::kBadSignature);
  EXPECT_EQ(result.message, "f takes (pointer) but was called with (double)");
  EXPECT_TRUE(session.alive());
  EXPECT_EQ(session.Call("f", arguments, limits, server).outcome, Outcome::kReturned);
}

TEST_F(SessionTest, StartsAgainAfterAFailure) {
  WorkerSession session(CommandFor("exit0"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(CallIn(session).outcome, Outcome::kExited);
  EXPECT_EQ(server.ended, 3);
}

TEST_F(SessionTest, TheWorkerGetsLimitsAndNothingElse) {
  WorkerCommand command = CommandFor("limits");
  command.file_bytes = 3 << 20;
  WorkerSession session(command);
  const int extra = ::dup(STDOUT_FILENO);
  const CallResult result = CallIn(session);
  ::close(extra);
  EXPECT_EQ(result.outcome, Outcome::kReturned) << result.message;
  // Standard input, output, error, the socket, and the file that it opened.
  EXPECT_EQ(result.output, "written 3145728 open 5 session 1 home 0\n");
}

}  // namespace
}  // namespace lockstep::worker

int main(int argc, char** argv) {
  const std::string flag = "--as-worker=";
  if (argc > 1 && std::string(argv[1]).rfind(flag, 0) == 0) {
    return lockstep::worker::RunAsWorker(std::string(argv[1]).substr(flag.size()));
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
