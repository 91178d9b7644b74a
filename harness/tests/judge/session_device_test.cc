// Tests which requests of a worker the judge's device serves.
#include "judge/session/session_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <set>

namespace lockstep::worker {
namespace session_device_test {

class DeviceServerTest : public testing::Test {
 protected:
  static Encoder From(const char* function) {
    Encoder encoder;
    Put(encoder, WireOrigin{std::string(function), ""});
    return encoder;
  }
  Message Ask(MessageType type, const Encoder& request, uint16_t flags = 0) {
    return server.Serve({type, flags, request.bytes()});
  }
  bool AskBool(MessageType type, const Encoder& request, uint16_t flags = 0) {
    const Message reply = Ask(type, request, flags);
    EXPECT_EQ(reply.type, MessageType::kReply);
    return Decoder(reply.payload).GetBool();
  }
  uint64_t Allocate(uint64_t bytes) {
    const Message reply = Ask(MessageType::kAllocate, From("cudaMalloc").Put(bytes));
    return Decoder(reply.payload).Get<uint64_t>();
  }
  bool Free(uint64_t address) { return AskBool(MessageType::kFree, From("cudaFree").Put(address)); }
  bool Write(uint64_t to, const std::vector<uint8_t>& bytes, uint16_t flags = 0) {
    return AskBool(MessageType::kWrite, From("cudaMemcpy").Put(to).PutBytes(bytes), flags);
  }
  bool Read(uint64_t from, uint64_t bytes) {
    const Message reply = Ask(MessageType::kRead, From("cudaMemcpy").Put(from).Put(bytes));
    Decoder decoder(reply.payload);
    const bool done = decoder.GetBool();
    EXPECT_EQ(decoder.GetBytes().size(), done ? bytes : 0);
    return done;
  }
  bool Copy(uint64_t to, uint64_t from, uint64_t bytes) {
    return AskBool(MessageType::kCopy, From("cudaMemcpy").Put(to).Put(from).Put(bytes));
  }
  bool Fill(uint64_t to, uint64_t bytes) {
    return AskBool(MessageType::kFill, From("cudaMemset").Put(to).Put(uint8_t{1}).Put(bytes));
  }

  vgpu::Device device{*vgpu::FindProfile("h200"), {}};
  DeviceServer server{device,
                      {.memory_bytes = 32 << 20,
                       .allocations = 8,
                       .modules = 3,
                       .ptx_bytes = 10'000,
                       .name_bytes = 100,
                       .streams = 16,
                       .cublas = true,
                       .trace_calls = 100}};
};

TEST_F(DeviceServerTest, AnAllocationOfTheNextCallFailsOnRequest) {
  server.FailAllocation(2);
  EXPECT_NE(Allocate(100), 0u) << "before the call";
  server.BeginCall({});
  EXPECT_NE(Allocate(100), 0u);
  EXPECT_EQ(Allocate(100), 0u);
  EXPECT_NE(Allocate(100), 0u);
  server.BeginCall({});
  EXPECT_NE(Allocate(100), 0u);
  EXPECT_NE(Allocate(100), 0u);
  EXPECT_EQ(server.Allocations().size(), 5u);
}

TEST_F(DeviceServerTest, ACopyOfTheNextCallFailsOnRequest) {
  const uint64_t buffer = Allocate(100), other = Allocate(100);
  server.FailCopy(3);
  EXPECT_TRUE(Write(buffer, {1, 2, 3})) << "before the call";
  server.BeginCall({});
  server.ClearTrace();
  EXPECT_TRUE(Write(buffer, {1, 2, 3}));
  EXPECT_TRUE(Fill(other, 100)) << "a fill is no copy";
  EXPECT_TRUE(Copy(other, buffer, 3));
  EXPECT_FALSE(Read(other, 3));
  EXPECT_TRUE(Read(other, 3));
  ASSERT_EQ(server.trace().size(), 5u);
  EXPECT_TRUE(server.trace()[3].failed);
  server.FailCopy(1);
  server.BeginCall({});
  EXPECT_FALSE(Write(buffer, {9, 9, 9}));
  EXPECT_EQ(server.trace().back().kind, ApiKind::kHostToDevice);
  EXPECT_TRUE(server.trace().back().failed);
  server.BeginCall({});
  EXPECT_TRUE(Write(buffer, {4, 5, 6}));
}

TEST_F(DeviceServerTest, GivesAndTakesTheWorkersOwnMemory) {
  const uint64_t address = Allocate(100);
  ASSERT_NE(address, 0u);
  EXPECT_TRUE(Write(address, std::vector<uint8_t>(100, 3)));
  EXPECT_TRUE(Read(address + 99, 1));
  EXPECT_TRUE(Fill(address, 100));
  EXPECT_FALSE(Write(address + 1, std::vector<uint8_t>(100, 3)));
  EXPECT_FALSE(Read(address, 101));
  EXPECT_FALSE(Fill(address, 101));
  EXPECT_TRUE(Free(address));
  EXPECT_FALSE(Free(address));
  EXPECT_FALSE(Read(address, 1));
  EXPECT_TRUE(server.violations().empty());
}

TEST_F(DeviceServerTest, CopiesToAndFromBuffersThatTheCallPassed) {
  const uint64_t input = device.Allocate(64, "d_in");
  const Argument arguments[] = {Argument::DevicePointer(input + 4), Argument::Integer(16u)};
  server.BeginCall(arguments);
  EXPECT_TRUE(Read(input, 64));
  EXPECT_TRUE(Write(input, {1, 2, 3}));
  EXPECT_TRUE(server.violations().empty());
  EXPECT_FALSE(Free(input));
  EXPECT_TRUE(device.Contains(input, 64));
  EXPECT_EQ(server.memory_use().bytes_to_host, 64u);
}

// What a worker claims about its requests does not change what is counted.
TEST_F(DeviceServerTest, CountsWhatSucceededWhereItIsServed) {
  const uint64_t input = device.Allocate(1024, "d_in");
  const Argument arguments[] = {Argument::DevicePointer(input)};
  server.BeginCall(arguments);
  EXPECT_TRUE(Read(input, 100));
  // A failed read that claims to continue the previous one doesn't change that one's count.
  const Message failed = Ask(MessageType::kRead, From("cudaMemcpy").Put(input).Put(uint64_t{2000}), kContinued);
  EXPECT_FALSE(Decoder(failed.payload).GetBool());
  EXPECT_EQ(server.memory_use().bytes_to_host, 100u);
  EXPECT_EQ(server.trace().size(), 2u) << "no piece of the first";
  EXPECT_FALSE(server.trace()[0].failed);
  // Copies that are not pieces of one transfer stay separate copies.
  EXPECT_TRUE(Write(input, {1, 2, 3}));
  EXPECT_TRUE(Write(input + 3, {4, 5, 6}, kContinued));
  EXPECT_EQ(server.trace().size(), 4u);
  EXPECT_EQ(server.memory_use().bytes_to_device, 6u);
  const BufferUse use = server.memory_use().buffers.at(0);
  EXPECT_EQ(use.to_host.bytes, 100u);
  EXPECT_EQ(use.from_host.bytes, 6u);
  EXPECT_EQ(use.to_host.first, "cudaMemcpy");
  server.BeginCall(arguments);
  EXPECT_EQ(server.memory_use().bytes_to_host, 0u);
}

TEST_F(DeviceServerTest, TellsWhatBecameOfTheJudgesBuffers) {
  const uint64_t in = device.Allocate(1024, "d_in"), out = device.Allocate(1024, "d_out");
  const Argument arguments[] = {Argument::DevicePointer(in), Argument::DevicePointer(out)};
  server.BeginCall(arguments);
  const uint64_t own = Allocate(1024);
  EXPECT_TRUE(Copy(own, in + 32, 64));
  EXPECT_TRUE(Copy(out, own, 64));
  EXPECT_TRUE(Fill(out, 8));
  const MemoryUse use = server.memory_use();
  ASSERT_EQ(use.buffers.size(), 3u);
  EXPECT_EQ(use.passed, 2u);
  EXPECT_EQ(use.buffers[0].largest_copy_from, 32u);
  EXPECT_EQ(use.buffers[0].largest_copy_bytes, 64u);
  EXPECT_EQ(use.buffers[1].from_device.bytes, 64u);
  EXPECT_EQ(use.buffers[1].filled.bytes, 8u);
  EXPECT_EQ(use.bytes_on_device, 128u);
  EXPECT_TRUE(Free(own));
  EXPECT_EQ(server.memory_use().buffers.size(), 2u);
}

TEST_F(DeviceServerTest, KeepsWhatIsCopiedToTheCallsHostArrays) {
  const std::vector<uint8_t> array(8);
  const Argument arguments[] = {Argument::HostArray(array)};
  server.BeginCall(arguments);
  const uint64_t own = Allocate(64);
  EXPECT_TRUE(Write(own, {1, 2, 3, 4}));
  EXPECT_TRUE(Read(own, 4));
  EXPECT_EQ(server.memory_use().to_host, (std::vector<uint8_t>{1, 2, 3, 4}));
  EXPECT_EQ(server.memory_use().bytes_from_kernels, 0u);
  for (int k = 0; k < 100; ++k) EXPECT_TRUE(Read(own, 16));
  EXPECT_LE(server.memory_use().to_host.size(), 16u);
}

TEST_F(DeviceServerTest, MoreCallsThanTheTraceHoldsAreAViolation) {
  server.BeginCall({});
  for (int k = 0; k < 200; ++k) Ask(MessageType::kNote, From("cudaStreamCreate").Put(0));
  EXPECT_EQ(server.violations(), std::vector<std::string>{"the program made more than 100 CUDA calls"});
}

TEST_F(DeviceServerTest, RefusesTheJudgesOtherBuffers) {
  const uint64_t passed = device.Allocate(64, "d_in"), other = device.Allocate(64, "d_other");
  const Argument arguments[] = {Argument::DevicePointer(passed)};
  server.BeginCall(arguments);
  const uint64_t own = Allocate(64);
  EXPECT_FALSE(Read(other, 4));
  EXPECT_FALSE(Write(other, {1}));
  EXPECT_FALSE(Fill(other, 4));
  EXPECT_FALSE(Copy(own, other, 4));
  EXPECT_FALSE(Copy(other, own, 4));
  EXPECT_FALSE(Free(other));
  EXPECT_TRUE(device.Contains(other, 64));
  ASSERT_EQ(server.violations().size(), 6u);
  EXPECT_EQ(server.violations()[0], "cudaMemcpy on 4 bytes of device memory that do not belong to this call");
  // Memory that was passed to one call does not belong to the next.
  server.BeginCall({});
  EXPECT_FALSE(Read(passed, 4));
}

TEST_F(DeviceServerTest, HoldsTheWorkerToItsMemory) {
  EXPECT_EQ(Allocate((32 << 20) + 1), 0u);
  EXPECT_NE(Allocate(16 << 20), 0u);
  EXPECT_NE(Allocate(16 << 20), 0u);
  EXPECT_EQ(Allocate(1), 0u);
  EXPECT_EQ(Allocate(~uint64_t{0}), 0u);
}

TEST_F(DeviceServerTest, EndingTheSessionFreesWhatTheWorkerMade) {
  const uint64_t judges = device.Allocate(64, "d_in");
  const uint64_t workers = Allocate(64);
  EXPECT_EQ(server.Allocations().size(), 1u);
  EXPECT_EQ(server.Allocations()[0].label, "cudaMalloc #1 by the submission");
  server.EndSession();
  EXPECT_FALSE(device.Contains(workers, 1));
  EXPECT_TRUE(device.Contains(judges, 64));
  EXPECT_TRUE(server.Allocations().empty());
}

TEST_F(DeviceServerTest, AResetByTheWorkerLeavesTheJudgesMemory) {
  const uint64_t judges = device.Allocate(64, "d_in");
  const uint64_t workers = Allocate(64);
  Ask(MessageType::kReset, Encoder());
  EXPECT_FALSE(device.Contains(workers, 1));
  EXPECT_TRUE(device.Contains(judges, 64));
}

TEST_F(DeviceServerTest, TracesCallsAndFoldsThePiecesOfATransfer) {
  const uint64_t address = Allocate(kTransferBytes + 32);
  EXPECT_TRUE(Write(address, std::vector<uint8_t>(kTransferBytes)));
  EXPECT_TRUE(Write(address + kTransferBytes, std::vector<uint8_t>(32), kContinued));
  Ask(MessageType::kNote, From("cudaStreamCreate").Put(2));
  ASSERT_EQ(server.trace().size(), 3u);
  EXPECT_EQ(server.trace()[0].kind, ApiKind::kAllocate);
  EXPECT_EQ(server.trace()[1].kind, ApiKind::kHostToDevice);
  EXPECT_EQ(server.trace()[1].bytes, kTransferBytes + 32);
  EXPECT_EQ(server.trace()[2].function, "cudaStreamCreate");
  EXPECT_EQ(server.trace()[2].error, 2);
  for (int i = 0; i < 200; ++i) Ask(MessageType::kNote, From("cudaStreamQuery").Put(0));
  EXPECT_EQ(server.trace().size(), 100u);
  EXPECT_EQ(server.trace_dropped(), 103u);
}

TEST_F(DeviceServerTest, RefusesMalformedRequests) {
  EXPECT_THROW(Ask(MessageType::kAllocate, Encoder()), WireError);
  EXPECT_THROW(Ask(MessageType::kRead, From("cudaMemcpy").Put(uint64_t{0}).Put(~uint64_t{0})), WireError);
  EXPECT_THROW(Ask(MessageType::kFree, From("cudaFree").Put(uint64_t{0}).Put(uint8_t{0})), WireError);
  Encoder launch = From("cudaLaunchKernel");
  Put(launch, vgpu::LaunchSpec{.module = 7, .kernel = "absent"});
  EXPECT_THROW(Ask(MessageType::kLaunch, launch), WireError);
}

constexpr char kPtx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .global .align 4 .b8 data[64];\n"
    ".visible .entry k(.param .u64 p, .param .u32 n) { ret; }\n";

TEST_F(DeviceServerTest, LoadsModulesAndChecksLaunches) {
  const std::vector<uint8_t> image(kPtx, kPtx + std::strlen(kPtx));
  const Message loaded = server.Serve({MessageType::kLoadModule, 0, image});
  ASSERT_EQ(loaded.flags & kFailed, 0);
  const auto module = Decoder(loaded.payload).Get<vgpu::ModuleHandle>();

  Encoder find;
  const Message found = Ask(MessageType::kFindKernel, find.Put(module).PutString("k"));
  const auto kernel = Decoded<std::optional<vgpu::KernelInfo>>(found.payload);
  ASSERT_TRUE(kernel.has_value());
  EXPECT_EQ(kernel->parameter_bytes, 12u);

  Encoder find_variable;
  const Message variable = Ask(MessageType::kFindVariable, find_variable.Put(module).PutString("data"));
  const auto data = Decoded<std::optional<vgpu::VariableInfo>>(variable.payload);
  ASSERT_TRUE(data.has_value());
  const uint64_t address = data->address;
  EXPECT_TRUE(Write(address, std::vector<uint8_t>(64)));
  EXPECT_TRUE(Read(address + 60, 4));
  EXPECT_FALSE(Free(address));

  const std::vector<uint8_t> parameters(12);
  Encoder launch = From("cudaLaunchKernel");
  Put(launch, vgpu::LaunchSpec{
                  .module = module, .kernel = "k", .grid = {2, 1, 1}, .block = {32, 1, 1}, .parameters = parameters});
  const Message launched = Ask(MessageType::kLaunch, launch);
  EXPECT_EQ(Decoded<vgpu::LaunchResult>(launched.payload).error, vgpu::LaunchError::kNone);
  const auto launches = std::count_if(server.trace().begin(), server.trace().end(),
                                      [](const ApiCall& call) { return call.kind == ApiKind::kLaunch; });
  EXPECT_EQ(launches, 1);
  Encoder too_few = From("cudaLaunchKernel");
  Put(too_few, vgpu::LaunchSpec{.module = module,
                                .kernel = "k",
                                .grid = {2, 1, 1},
                                .block = {32, 1, 1},
                                .parameters = std::span(parameters).first(4)});
  EXPECT_THROW(Ask(MessageType::kLaunch, too_few), WireError);
}

// cublasSgeam of 2 rows and 3 columns: transposes the matrix at `from`.
vgpu::LibraryOperation TransposeOf(uint64_t from, uint64_t to) {
  vgpu::LibraryOperation operation;
  operation.kind = vgpu::LibraryKind::kGeam;
  operation.m = 2;
  operation.n = 3;
  operation.alpha.value = 1;
  operation.operands = {{{from, 3, 0, true}, {0, 2}, {to, 2}}};
  return operation;
}

TEST_F(DeviceServerTest, DoesALibrarysWorkAsAKernels) {
  const uint64_t from = device.Allocate(24, "in"), to = device.Allocate(24, "out");
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  device.Write(from, values.data(), 24);
  server.BeginCall(std::vector<Argument>{Argument::DevicePointer(from), Argument::DevicePointer(to)});
  Encoder request = From("whatever the program says");
  Put(request, TransposeOf(from, to));
  const Message reply = Ask(MessageType::kLibrary, request);
  EXPECT_EQ(Decoded<vgpu::LaunchResult>(reply.payload).error, vgpu::LaunchError::kNone);
  std::vector<float> result(6);
  device.Read(result.data(), to, 24);
  EXPECT_EQ(result, (std::vector<float>{1, 4, 2, 5, 3, 6}));
  ASSERT_EQ(server.trace().size(), 1u);
  EXPECT_EQ(server.trace()[0].kind, ApiKind::kLaunch);
  EXPECT_EQ(server.trace()[0].kernel, "cublasSgeam") << "the operation counts, not the worker's name for it";
  ASSERT_EQ(device.launches().size(), 1u);
  EXPECT_FALSE(device.launches()[0].is_own);
  // The operation has loaded all of the first buffer, and stored all of the second.
  const MemoryUse use = server.memory_use();
  ASSERT_EQ(use.buffers.size(), 2u);
  uint64_t first = 0;
  EXPECT_EQ(vgpu::TouchedRange::Missing(use.buffers[0].by_kernels.loaded, 0, 24, &first), 0u);
  EXPECT_EQ(vgpu::TouchedRange::Missing(use.buffers[1].by_kernels.stored, 0, 24, &first), 0u);
  EXPECT_EQ(vgpu::TouchedRange::Missing(use.buffers[0].by_kernels.stored, 0, 24, &first), 1u);
}

TEST_F(DeviceServerTest, ALibrarysWorkOutsideOfBuffersIsAFault) {
  const uint64_t from = Allocate(24), to = Allocate(20);
  Encoder request = From("cublasSgeam");
  Put(request, TransposeOf(from, to));
  const Message reply = Ask(MessageType::kLibrary, request);
  EXPECT_EQ(Decoded<vgpu::LaunchResult>(reply.payload).error, vgpu::LaunchError::kIllegalAddress);
  EXPECT_TRUE(device.faulted());
}

TEST_F(DeviceServerTest, RefusesLibrarysWorkThatNoLibraryAsksFor) {
  const uint64_t from = Allocate(24), to = Allocate(24);
  const auto refuses = [&](const std::function<void(vgpu::LibraryOperation&)>& change) {
    vgpu::LibraryOperation operation = TransposeOf(from, to);
    change(operation);
    Encoder request = From("cublasSgeam");
    Put(request, operation);
    EXPECT_THROW(Ask(MessageType::kLibrary, request), WireError);
  };
  refuses([](vgpu::LibraryOperation& operation) { operation.m = -1; });
  refuses([](vgpu::LibraryOperation& operation) { operation.n = int64_t{1} << 40; });
  refuses([](vgpu::LibraryOperation& operation) { operation.operands[2].leading = 1; });
  refuses([](vgpu::LibraryOperation& operation) { operation.kind = static_cast<vgpu::LibraryKind>(15); });
  refuses([](vgpu::LibraryOperation& operation) { operation.in = static_cast<vgpu::FourierForm>(3); });
  // Operations that the assignment doesn't provide, here cuFFT's, are refused too. Most assignments provide none.
  refuses([](vgpu::LibraryOperation& operation) {
    operation.kind = vgpu::LibraryKind::kFft;
    operation.operands[0].transposed = false;
  });
  DeviceServer giving_nothing(device);
  Encoder request = From("cublasSgeam");
  Put(request, TransposeOf(from, to));
  EXPECT_THROW(giving_nothing.Serve({MessageType::kLibrary, 0, request.bytes()}), WireError);
}

// A program that resets the device in each call loads its code again and again.
TEST_F(DeviceServerTest, WhatWasUnloadedHasRoomForAnother) {
  const std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n";
  const std::vector<uint8_t> image(text.begin(), text.end());
  for (int call = 0; call < 10; ++call) {
    ASSERT_EQ(server.Serve({MessageType::kLoadModule, 0, image}).flags & kFailed, 0) << call;
    Ask(MessageType::kReset, Encoder());
  }
  EXPECT_EQ(server.violations(), std::vector<std::string>());
}

// If the host could ask about other addresses, kernels could use the answers to tell it what they have read.
TEST_F(DeviceServerTest, OnlyOwnAndPassedMemoryIsKnownToLive) {
  const uint64_t passed = device.Allocate(256, "d_in", ""), other = device.Allocate(256, "another's", "");
  const std::vector<Argument> arguments = {Argument::DevicePointer(passed)};
  server.BeginCall(arguments);
  const uint64_t own = Allocate(256);
  EXPECT_TRUE(AskBool(MessageType::kContains, Encoder().Put(passed).Put(uint64_t{1})));
  EXPECT_TRUE(AskBool(MessageType::kContains, Encoder().Put(own).Put(uint64_t{1})));
  EXPECT_FALSE(AskBool(MessageType::kContains, Encoder().Put(other).Put(uint64_t{1})));
}

TEST_F(DeviceServerTest, CopiesThatKeepTheirPlaceMoveNothing) {
  const uint64_t in = device.Allocate(1024, "d_in", "");
  const std::vector<Argument> arguments = {Argument::DevicePointer(in + 16)};  // not at the allocation's beginning
  server.BeginCall(arguments);
  const uint64_t whole = Allocate(1024), shifted = Allocate(1024);
  EXPECT_TRUE(Copy(whole, in + 16, 1000));
  EXPECT_TRUE(Copy(shifted + 64, whole + 64, 100));
  EXPECT_EQ(server.memory_use().bytes_moved, 0u);
  EXPECT_TRUE(Copy(shifted, whole + 4, 100));
  EXPECT_TRUE(Copy(shifted + 100, in + 16, 10));
  EXPECT_EQ(server.memory_use().bytes_moved, 110u);
}

// A program may load device code that it has as data: if the task provides the kernels, those of any other image are
// foreign.
TEST(ForeignCodeTest, AKernelIsKnownByItsImage) {
  const auto text_of = [](const std::string& body) {
    return ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n" + body + "\tret;\n}\n";
  };
  const auto bytes_of = [](const std::string& text) { return std::vector<uint8_t>(text.begin(), text.end()); };
  const std::string made = text_of(""), own = text_of("\tbar.sync 0;\n");
  for (const bool is_known : {true, false}) {
    vgpu::Device device{*vgpu::FindProfile("h200"), {}};
    DeviceServer server(device, {.image = is_known ? bytes_of(made) : std::vector<uint8_t>()});
    for (const std::string& text : {made, own, made}) {
      const Message loaded = server.Serve({MessageType::kLoadModule, 0, bytes_of(text)});
      Encoder launch;
      Put(launch, WireOrigin{"cudaLaunchKernel", ""});
      Put(launch, vgpu::LaunchSpec{.module = Decoder(loaded.payload).Get<vgpu::ModuleHandle>(),
                                   .kernel = "k",
                                   .grid = {1, 1, 1},
                                   .block = {32, 1, 1}});
      server.Serve({MessageType::kLaunch, 0, launch.Take()});
      EXPECT_EQ(server.trace().back().foreign, is_known && text == own);
    }
  }
}

// A result may be in a __device__ variable, which no call allocates.
TEST_F(DeviceServerTest, VariablesAreWatchedAsAllocationsAre) {
  const std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .global .align 4 .b8 g[64];\n.const .b32 c;\n"
      ".visible .entry k()\n{\n\t.reg .b64 a;\n\tmov.u64 a, g;\n\tst.global.b32 [a], 7;\n\tret;\n}\n";
  const Message loaded = server.Serve({MessageType::kLoadModule, 0, {text.begin(), text.end()}});
  const auto module = Decoder(loaded.payload).Get<vgpu::ModuleHandle>();
  for (int call = 0; call < 2; ++call) {
    if (call > 0) server.BeginCall({});
    Encoder launch = From("cudaLaunchKernel");
    Put(launch, vgpu::LaunchSpec{.module = module, .kernel = "k", .grid = {1, 1, 1}, .block = {1, 1, 1}});
    Ask(MessageType::kLaunch, launch);
    const MemoryUse use = server.memory_use();
    ASSERT_EQ(use.buffers.size(), 1u) << "the constant is no place for a result";
    const vgpu::TouchedRange& range = use.buffers[0].by_kernels;
    EXPECT_EQ(range.bytes, 64u);
    uint64_t first = 0;
    EXPECT_EQ(vgpu::TouchedRange::Missing(range.stored, 0, 32, &first), 0u);
    EXPECT_EQ(vgpu::TouchedRange::Missing(range.stored, 32, 32, &first), 1u);
  }
}

// A kernel's time is rounded to a power of two, or up to a multiple of the step that the judge sets.
TEST_F(DeviceServerTest, TimesAreRoundedToPowersOfTwoOrToSteps) {
  const std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u32 times)\n{\n"
      "\t.reg .u32 r;\n\t.reg .pred p;\n\tld.param.u32 r, [times];\nagain:\n\tsub.u32 r, r, 1;\n"
      "\tsetp.ne.u32 p, r, 0;\n\t@p bra again;\n\tret;\n}\n";
  const Message loaded = server.Serve({MessageType::kLoadModule, 0, {text.begin(), text.end()}});
  const auto module = Decoder(loaded.payload).Get<vgpu::ModuleHandle>();
  const auto told = [&](uint32_t count) {
    Encoder launch = From("cudaLaunchKernel");
    const std::vector<uint8_t> parameters = {static_cast<uint8_t>(count), static_cast<uint8_t>(count >> 8), 0, 0};
    Put(launch, vgpu::LaunchSpec{
                    .module = module, .kernel = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = parameters});
    const Message reply = Ask(MessageType::kLaunch, launch);
    const vgpu::LaunchResult result = Decoded<vgpu::LaunchResult>(reply.payload);
    EXPECT_EQ(result.error, vgpu::LaunchError::kNone);
    return result.microseconds;
  };
  std::set<double> times;
  for (uint32_t turns = 1; turns <= 50; ++turns) times.insert(told(100 * turns));
  EXPECT_LE(times.size(), 5u);
  for (const double time : times) EXPECT_EQ(std::exp2(std::round(std::log2(time))), time);
  constexpr double kStep = 0.25;
  server.QuantizeTimes(kStep);
  const double stepped = told(2000), exact = device.launches().back().microseconds;
  EXPECT_EQ(stepped, kStep * std::ceil(exact / kStep));
  EXPECT_EQ(times.count(stepped), 0u);
  server.QuantizeTimes(0);
  EXPECT_EQ(times.count(told(2000)), 1u);
}

// Two devices of a worker share a virtual GPU's memory.
TEST_F(DeviceServerTest, EachDeviceReachesItsOwnMemory) {
  DeviceServer two(device, {.devices = 2});
  const auto ask = [&](int on, MessageType type, const Encoder& request) {
    return two.Serve({type, static_cast<uint16_t>(on << kDeviceShift), request.bytes()});
  };
  const std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 to)\n{\n\t.reg .u64 a;\n"
      "\tld.param.u64 a, [to];\n\tst.global.u32 [a], 7;\n\tret;\n}\n";
  vgpu::ModuleHandle modules[2];
  uint64_t memory[2];
  for (const int on : {0, 1}) {
    const Message loaded =
        two.Serve({MessageType::kLoadModule, static_cast<uint16_t>(on << kDeviceShift), {text.begin(), text.end()}});
    modules[on] = Decoder(loaded.payload).Get<vgpu::ModuleHandle>();
    const Message allocated = ask(on, MessageType::kAllocate, From("cudaMalloc").Put(uint64_t{64}));
    memory[on] = Decoder(allocated.payload).Get<uint64_t>();
  }
  const auto store = [&](int on, uint64_t to) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&to);
    Encoder launch = From("cudaLaunchKernel");
    Put(launch, vgpu::LaunchSpec{.module = modules[on],
                                 .kernel = "k",
                                 .grid = {1, 1, 1},
                                 .block = {1, 1, 1},
                                 .parameters = {bytes, sizeof to}});
    const Message reply = ask(on, MessageType::kLaunch, launch);
    return Decoded<vgpu::LaunchResult>(reply.payload).error;
  };
  const auto holds = [&](int on, uint64_t address) {
    return Decoder(ask(on, MessageType::kContains, Encoder().Put(address).Put(uint64_t{4})).payload).GetBool();
  };
  EXPECT_EQ(store(0, memory[0]), vgpu::LaunchError::kNone);
  EXPECT_EQ(store(1, memory[1] + 4), vgpu::LaunchError::kNone);
  EXPECT_TRUE(holds(1, memory[1]) && !holds(0, memory[1]));
  ask(0, MessageType::kCopy, From("cudaMemcpyPeer").Put(memory[1]).Put(memory[0]).Put(uint64_t{4}));
  const StreamedOperation& copy = two.operations().back();
  EXPECT_EQ(copy.kind, StreamedKind::kBetween);
  EXPECT_TRUE(copy.device == 0 && copy.peer == 1);
  EXPECT_THROW(ask(2, MessageType::kFreeBytes, Encoder()), WireError);
  ask(0, MessageType::kReset, Encoder());
  EXPECT_TRUE(holds(1, memory[1]) && !holds(0, memory[0]));
  EXPECT_EQ(store(1, memory[1] + 8), vgpu::LaunchError::kNone);
  const Message allocated = ask(0, MessageType::kAllocate, From("cudaMalloc").Put(uint64_t{64}));
  EXPECT_EQ(store(1, Decoder(allocated.payload).Get<uint64_t>()), vgpu::LaunchError::kIllegalAddress);
  two.EndSession();
}

TEST_F(DeviceServerTest, RefusesModulesWithASentence) {
  const std::string text = "this is no device code";
  const Message reply = server.Serve({MessageType::kLoadModule, 0, {text.begin(), text.end()}});
  EXPECT_NE(reply.flags & kFailed, 0);
  EXPECT_NE(Decoder(reply.payload).GetString(), "");
  const std::vector<uint8_t> image(kPtx, kPtx + std::strlen(kPtx));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(server.Serve({MessageType::kLoadModule, 0, image}).flags & kFailed, 0);
  EXPECT_TRUE(server.violations().empty());
  EXPECT_NE(server.Serve({MessageType::kLoadModule, 0, image}).flags & kFailed, 0);
  ASSERT_EQ(server.violations().size(), 1u);
  EXPECT_NE(server.violations()[0].find("the 3 modules"), std::string::npos) << server.violations()[0];
}

TEST_F(DeviceServerTest, AllTextOfASessionIsBounded) {
  const std::string text = std::string(kPtx) + std::string(6000, '\n');
  const Message request{MessageType::kLoadModule, 0, {text.begin(), text.end()}};
  EXPECT_EQ(server.Serve(request).flags & kFailed, 0);
  EXPECT_NE(server.Serve(request).flags & kFailed, 0) << "12,000 bytes together";
  EXPECT_EQ(server.violations().size(), 1u);
  server.EndSession();
  EXPECT_EQ(server.Serve(request).flags & kFailed, 0) << "the next session has its own";
}

TEST_F(DeviceServerTest, LiveAllocationsAreBounded) {
  uint64_t last = 0;
  for (int i = 0; i < 8; ++i) EXPECT_NE(last = Allocate(1), 0u);
  EXPECT_TRUE(server.violations().empty());
  EXPECT_EQ(Allocate(1), 0u);
  EXPECT_EQ(Allocate(1), 0u);
  EXPECT_EQ(server.violations().size(), 1u) << "said once";
  EXPECT_TRUE(AskBool(MessageType::kFree, From("cudaFree").Put(last)));
  EXPECT_NE(Allocate(1), 0u);
}

TEST_F(DeviceServerTest, AKernelWithAnEndlessNameIsNotFound) {
  const std::string name(101, 'k');
  std::string text = kPtx;
  text.replace(text.find(".entry k(") + 7, 1, name);
  Message reply = server.Serve({MessageType::kLoadModule, 0, {text.begin(), text.end()}});
  const auto module = Decoder(reply.payload).Get<vgpu::ModuleHandle>();
  EXPECT_FALSE(AskBool(MessageType::kFindKernel, Encoder().Put(module).PutString(name)));
  EXPECT_EQ(server.violations().size(), 1u);
}

TEST_F(DeviceServerTest, CallsBeyondTheTraceAreTold) {
  for (int i = 0; i < 100; ++i) Fill(1, 1);
  EXPECT_TRUE(server.violations().empty());
  for (int i = 0; i < 3; ++i) Fill(1, 1);
  ASSERT_EQ(server.violations().size(), 1u);
  EXPECT_EQ(server.violations()[0], "the program made more than 100 CUDA calls");
}

TEST_F(DeviceServerTest, NamesOfCallersAreCut) {
  Encoder encoder;
  Put(encoder, WireOrigin{std::string(4000, 'f'), std::string(4000, 's')});
  Ask(MessageType::kNote, encoder.Put(0));
  ASSERT_EQ(server.trace().size(), 1u);
  EXPECT_EQ(server.trace()[0].function.size(), 256u);
  EXPECT_EQ(server.trace()[0].call_site.size(), 256u);
}

TEST_F(DeviceServerTest, AnOperationThatNamesTooManyStreamsIsNotKept) {
  vgpu::StreamPoint point;
  point.before.resize(17);
  Encoder encoder;
  Put(encoder, point);
  server.Serve({MessageType::kBeginOperation, 0, encoder.Take()});
  EXPECT_EQ(server.violations().size(), 1u);
}

TEST_F(DeviceServerTest, NoRandomRequestDoesMoreThanFail) {
  const uint64_t judges = device.Allocate(64, "d_in");
  const std::vector<uint8_t> expected(64, 0x5a);
  device.Write(judges, expected.data(), expected.size());
  std::mt19937_64 random(1);
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto type = static_cast<uint16_t>(MessageType::kNote) + random() % 2 * 29 + random() % 16;
    if (!IsKnown(static_cast<uint16_t>(type))) continue;
    // An origin and numbers, some of them addresses of the judge's, cut off somewhere or not at all.
    Encoder encoder;
    if (random() % 4 != 0) Put(encoder, WireOrigin{"cudaMemcpy", ""});
    for (uint64_t fields = random() % 5; fields > 0; --fields) {
      const uint64_t numbers[] = {judges, random() % 64, random(), ~uint64_t{0}, 0, 1};
      encoder.Put(numbers[random() % 6]);
    }
    std::vector<uint8_t> payload = encoder.Take();
    if (random() % 4 == 0) payload.resize(random() % (payload.size() + 1));
    try {
      server.Serve({static_cast<MessageType>(type), static_cast<uint16_t>(random() % 4), payload});
    } catch (const WireError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
  std::vector<uint8_t> now(64);
  ASSERT_TRUE(device.Read(now.data(), judges, now.size()));
  EXPECT_EQ(now, expected);
}

TEST_F(DeviceServerTest, KeepsWhatKernelsPrintWithinBounds) {
  DeviceServer small(device, {.print_bytes = 10});
  small.Print("hello ");
  small.Print("world and all");
  EXPECT_EQ(small.printed(), "hello worl");
  small.Print("more");
  EXPECT_EQ(small.printed(), "hello worl");
}

}  // namespace session_device_test
}  // namespace lockstep::worker
