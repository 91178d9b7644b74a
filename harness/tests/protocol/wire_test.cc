#include "protocol/wire.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "protocol/wire_call.h"
#include "protocol/wire_device.h"
#include "worker/launchers.h"

namespace lockstep::worker {
namespace wire_test {

std::vector<uint8_t> Bytes(std::string_view text) { return {text.begin(), text.end()}; }

std::vector<uint8_t> HeaderOf(uint32_t length, uint16_t type) {
  Encoder encoder;
  return encoder.Put(length).Put(type).Put(uint16_t{0}).Take();
}

TEST(WireTest, DecodesWhatItEncodes) {
  Encoder encoder;
  encoder.Put(uint8_t{7}).Put(int32_t{-5}).Put(uint64_t{1} << 63).Put(true).PutDouble(2.5).PutString("αβγ");
  const auto payload = encoder.Take();
  Decoder decoder(payload);
  EXPECT_EQ(decoder.Get<uint8_t>(), 7);
  EXPECT_EQ(decoder.Get<int32_t>(), -5);
  EXPECT_EQ(decoder.Get<uint64_t>(), uint64_t{1} << 63);
  EXPECT_TRUE(decoder.GetBool());
  EXPECT_EQ(decoder.GetDouble(), 2.5);
  EXPECT_EQ(decoder.GetString(), "αβγ");
  EXPECT_NO_THROW(decoder.Finish());
}

TEST(WireTest, RefusesEveryTruncationOfAMessage) {
  const Argument arguments[] = {Argument::DevicePointer(1), Argument::Integer(7u), Argument::Float(1.5f),
                                Argument::HostArray(Bytes("abcd")), Argument::CString("hello")};
  const auto payload = EncodeCall("reduce1", arguments);
  ASSERT_EQ(DecodeCall(payload).arguments.size(), 5u);
  for (size_t length = 0; length < payload.size(); ++length) {
    EXPECT_THROW(DecodeCall(std::span(payload).first(length)), WireError) << length;
  }
  auto longer = payload;
  longer.push_back(0);
  EXPECT_THROW(DecodeCall(longer), WireError);
}

TEST(WireTest, BelievesNoLengthInAPayload) {
  Encoder encoder;
  const auto payload = encoder.Put(~uint64_t{0}).Put(uint32_t{1}).Take();
  EXPECT_THROW(Decoder(payload).GetBytes(), WireError);
  EXPECT_THROW(Decoder(payload).GetString(), WireError);
  EXPECT_THROW(Decoder(payload).GetCount(1), WireError);
  Encoder truth;
  const auto two = truth.Put(uint8_t{2}).Take();
  EXPECT_THROW(Decoder(two).GetBool(), WireError);
}

TEST(WireTest, CutsAStreamIntoMessagesHoweverItArrives) {
  std::vector<uint8_t> stream;
  for (const std::string_view text : {"", "a", "bcdefghijklmnop"}) {
    const auto frame = Frame(MessageType::kReply, kContinued, Bytes(text));
    stream.insert(stream.end(), frame.begin(), frame.end());
  }
  for (size_t step = 1; step <= stream.size(); ++step) {
    FrameReader reader;
    for (size_t at = 0; at < stream.size(); at += step) {
      reader.Feed(std::span(stream).subspan(at, std::min(step, stream.size() - at)));
    }
    std::vector<std::vector<uint8_t>> payloads;
    Message message;
    while (reader.Next(&message)) {
      EXPECT_EQ(message.type, MessageType::kReply);
      EXPECT_EQ(message.flags, kContinued);
      payloads.push_back(message.payload);
    }
    EXPECT_EQ(payloads, (std::vector{Bytes(""), Bytes("a"), Bytes("bcdefghijklmnop")})) << step;
  }
}

TEST(WireTest, RefusesUnknownTypesAndLengthsAboveTheLimit) {
  FrameReader reader;
  EXPECT_THROW(reader.Feed(HeaderOf(0, 9999)), WireError);
  FrameReader second;
  EXPECT_THROW(second.Feed(HeaderOf(0xffffffff, static_cast<uint16_t>(MessageType::kWrite))), WireError);
  FrameReader third;
  EXPECT_THROW(third.Feed(HeaderOf(1, static_cast<uint16_t>(MessageType::kQuit))), WireError);
  EXPECT_THROW(Frame(MessageType::kQuit, 0, Bytes("x")), WireError);
}

TEST(WireTest, SendsAndReceivesLargeMessages) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const std::vector<uint8_t> large(5'000'000, 42);
  std::thread sender([&] {
    Send(ends[0], MessageType::kWrite, 0, large);
    ::close(ends[0]);
  });
  EXPECT_EQ(Receive(ends[1]).payload, large);
  EXPECT_THROW(Receive(ends[1]), WireError);
  sender.join();
  ::close(ends[1]);
}

TEST(WireTest, CarriesDeviceThings) {
  vgpu::KernelInfo kernel;
  kernel.mangled = "_Z1kPi";
  kernel.demangled = "k";
  kernel.parameters = {{0, 8}, {8, 4}};
  kernel.parameter_bytes = 12;
  kernel.registers = 16;
  kernel.target_sm = 80;
  Encoder encoder;
  Put(encoder, kernel);
  const uint8_t parameters[12] = {1, 2, 3};
  Put(encoder, vgpu::LaunchSpec{3, "_Z1kPi", {7, 1, 1}, {128, 1, 1}, {2, 1, 1}, 64, parameters, true});
  Put(encoder, vgpu::LaunchResult{vgpu::LaunchError::kIllegalAddress, 12.5});
  const auto payload = encoder.Take();
  Reader reader(payload);
  const auto decoded = reader.Read<vgpu::KernelInfo>();
  EXPECT_EQ(decoded.demangled, "k");
  ASSERT_EQ(decoded.parameters.size(), 2u);
  EXPECT_EQ(decoded.parameters[1].offset, 8u);
  EXPECT_EQ(decoded.target_sm, 80);
  const auto launch = reader.Read<vgpu::LaunchSpec>();
  EXPECT_EQ(launch.grid.x, 7u);
  EXPECT_EQ(launch.cluster.x, 2u);
  EXPECT_EQ(launch.cluster, (vgpu::Dim3{2, 1, 1}));
  EXPECT_EQ(launch.dynamic_shared, 64u);
  EXPECT_TRUE(launch.cooperative);
  EXPECT_EQ(launch.parameters[2], 3);
  EXPECT_EQ(reader.Read<vgpu::LaunchResult>().error, vgpu::LaunchError::kIllegalAddress);
  reader.Finish();
}

enum class Mode : short { kFirst = 1, kSecond = -2 };
int g_sum = 0;
void TakesPointers(const int* in, int* out, unsigned n, const char*) { *out = in[n]; }
Mode TakesScalars(Mode mode, bool flag, long long wide, float x, double y) noexcept {
  g_sum = static_cast<int>(mode) + flag + static_cast<int>(wide) + static_cast<int>(x + y);
  return Mode::kSecond;
}
float Halves(float x) { return x / 2; }
LOCKSTEP_LAUNCHERS(TakesPointers, TakesScalars, Halves);

TEST(LaunchersTest, AreRegisteredWithTheirSignatures) {
  ASSERT_EQ(Launchers().size(), 3u);
  EXPECT_EQ(Launchers()[0].info.name, "TakesPointers");
  EXPECT_EQ(Describe(Launchers()[0].info.parameters), "pointer, pointer, u32, string");
  EXPECT_EQ(Describe(Launchers()[1].info.parameters), "i16, u8, i64, float, double");
  EXPECT_EQ(Launchers()[0].info.result, ValueKind::kNone);
  EXPECT_EQ(Launchers()[1].info.result, ValueKind::kInteger);
}

TEST(LaunchersTest, UnpackTheirArguments) {
  const int in[] = {1, 2, 3};
  int out = 0;
  Launchers()[0].invoke(std::vector<Argument>{Argument::DevicePointer(reinterpret_cast<uintptr_t>(in)),
                                              Argument::DevicePointer(reinterpret_cast<uintptr_t>(&out)),
                                              Argument::Integer(2u), Argument::DevicePointer(0)});
  EXPECT_EQ(out, 3);
  const Value value = Launchers()[1].invoke(std::vector<Argument>{Argument::Integer(Mode::kSecond),
                                                                  Argument::Integer(true), Argument::Integer(-100LL),
                                                                  Argument::Float(1.5f), Argument::Double(2.5)});
  EXPECT_EQ(g_sum, -2 + 1 - 100 + 4);
  EXPECT_EQ(value.AsInteger(), -2);
  EXPECT_EQ(Launchers()[2].invoke(std::vector<Argument>{Argument::Float(5)}).AsDouble(), 2.5);
}

TEST(LaunchersTest, SayWhatDoesNotFit) {
  const LauncherInfo& launcher = Launchers()[0].info;
  const std::vector<Argument> few = {Argument::DevicePointer(8), Argument::Integer(1LL)};
  EXPECT_EQ(Mismatch(launcher, few),
            "TakesPointers takes (pointer, pointer, u32, string) but was called with (device pointer, 64-bit integer)");
  const std::vector<Argument> right = {Argument::HostArray({}), Argument::DevicePointer(8), Argument::Integer(1),
                                       Argument::CString("x")};
  EXPECT_EQ(Mismatch(launcher, right), "");
  const std::vector<Argument> string_for_ints = {Argument::CString("x"), Argument::DevicePointer(8),
                                                 Argument::Integer(1), Argument::CString("x")};
  EXPECT_NE(Mismatch(launcher, string_for_ints), "");
}

TEST(LaunchersTest, HelloAndReturnedArriveWhole) {
  Hello hello;
  for (const Launcher& launcher : Launchers()) hello.launchers.push_back(launcher.info);
  const auto payload = Encode(hello);
  const Hello decoded = DecodeHello(payload);
  ASSERT_EQ(decoded.launchers.size(), 3u);
  EXPECT_EQ(decoded.launchers[1].parameters, hello.launchers[1].parameters);
  for (size_t length = 0; length < payload.size(); ++length) {
    EXPECT_THROW(DecodeHello(std::span(payload).first(length)), WireError) << length;
  }
  Returned returned;
  returned.result = {ValueKind::kInteger, 9};
  returned.cuda_error = 700;
  returned.cuda_error_name = "cudaErrorIllegalAddress";
  returned.arrays = {Bytes("abc"), Bytes("")};
  const Returned back = DecodeReturned(Encode(returned));
  EXPECT_EQ(back.result, returned.result);
  EXPECT_EQ(back.cuda_error_name, returned.cuda_error_name);
  EXPECT_EQ(back.arrays, returned.arrays);
}

TEST(LaunchersTest, AnotherProtocolVersionIsRefused) {
  Hello hello;
  hello.version = 99;
  EXPECT_THROW(DecodeHello(Encode(hello)), WireError);
}

// The bound is what this call requested, not the largest possible answer.
TEST(FrameReaderTest, ReturnedIsBoundedByTheCall) {
  FrameReader reader;
  reader.set_most_returned(100);
  const std::vector<uint8_t> payload(100);
  reader.Feed(Frame(MessageType::kReturned, 0, payload));
  Message message;
  EXPECT_TRUE(reader.Next(&message));
  EXPECT_THROW(reader.Feed(Frame(MessageType::kReturned, 0, std::vector<uint8_t>(101))), WireError);
}

}  // namespace wire_test
}  // namespace lockstep::worker
