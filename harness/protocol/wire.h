// The protocol between the judge and a worker, over one Unix stream socket.
//
// A message is {u32 payload bytes, u16 type, u16 flags} and the payload, all little-endian. The judge sends Call, or
// another message by which launchers are called (messages.inc), or Quit. Until the worker's Returned or ReturnedAll
// comes, the worker sends requests: every request of a CUDA backend is one message, answered by one Reply. Some
// messages, such as Note and Hello, get no answer.
//
// Neither end trusts the other: a length above its type's limit, a payload that is too short, or one that is too long
// is a WireError, and memory is allocated as bytes arrive, never because a header announces them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace lockstep::worker {

inline constexpr uint32_t kProtocolVersion = 7;
inline constexpr int kSocketDescriptor = 3;  // the descriptor in the worker
// Makes a worker that does not return report its location: it sends Stopped, and ends by this signal.
inline constexpr int kWhereSignal = 24;  // SIGXCPU: its time is up
// Exit status of a worker that lost its connection to the judge.
inline constexpr int kConnectionLostStatus = 120;
inline constexpr uint64_t kHeaderBytes = 8;
// Memory transfers are split into pieces of this size; every piece except the first carries kContinued.
inline constexpr uint64_t kTransferBytes = uint64_t{16} << 20;
inline constexpr uint64_t kMaxModuleBytes = uint64_t{64} << 20;

class WireError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class MessageType : uint16_t {
#define MESSAGE(name, number, ...) k##name = number,
#define REQUEST MESSAGE
#include "protocol/messages.inc"
};

// Flags.
inline constexpr uint16_t kContinued = 1;  // a further piece of the previous message's transfer or batch
inline constexpr uint16_t kFailed = 2;     // of a Reply: the payload is an error sentence
// The upper byte of a request's flags is the device that it is for, by its ordinal.
inline constexpr int kDeviceShift = 8;

bool IsKnown(uint16_t type);
uint64_t MaxPayloadBytes(MessageType type);
std::string_view NameOf(MessageType type);

struct Message {
  MessageType type = MessageType::kQuit;
  uint16_t flags = 0;
  std::vector<uint8_t> payload;
};

class Encoder {
 public:
  template <typename T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
  Encoder& Put(T value) {
    return PutRaw(&value, sizeof value);
  }
  Encoder& PutDouble(double value) { return PutRaw(&value, sizeof value); }
  Encoder& PutBytes(std::span<const uint8_t> bytes);  // u64 length, bytes
  // Only the length: the bytes are sent after the encoder's contents.
  Encoder& PutLengthOf(std::span<const uint8_t> bytes) { return Put<uint64_t>(bytes.size()); }
  Encoder& PutString(std::string_view text);
  std::vector<uint8_t> Take() { return std::move(bytes_); }
  const std::vector<uint8_t>& bytes() const { return bytes_; }
  void Reserve(size_t bytes) { bytes_.reserve(bytes); }

 private:
  Encoder& PutRaw(const void* data, size_t bytes);
  std::vector<uint8_t> bytes_;
};

// Reads an Encoder's output. Views point into the payload, which must outlive them.
class Decoder {
 public:
  explicit Decoder(std::span<const uint8_t> payload) : rest_(payload) {}
  template <typename T>
    requires std::is_integral_v<T> && (!std::is_same_v<T, bool>)
  T Get() {
    T value;
    GetRaw(&value, sizeof value);
    return value;
  }
  bool GetBool();
  double GetDouble();
  std::span<const uint8_t> GetBytes();
  std::string GetString(uint64_t max_bytes = 4096);
  std::span<const uint8_t> GetRest() { return std::exchange(rest_, {}); }
  // A count of items with at least `least_bytes` each, limited by the payload's size.
  uint32_t GetCount(uint64_t least_bytes);
  // Throws if the payload has more bytes.
  void Finish() const;

 private:
  void GetRaw(void* to, uint64_t bytes);
  std::span<const uint8_t> Take(uint64_t bytes);
  std::span<const uint8_t> rest_;
};

// The bytes of a message on the wire. Throws WireError when the payload is above its type's limit.
std::vector<uint8_t> Frame(MessageType type, uint16_t flags, std::span<const uint8_t> payload);

// Splits a stream of bytes into messages.
class FrameReader {
 public:
  // Adds received bytes; throws WireError as soon as a header is invalid.
  void Feed(std::span<const uint8_t> bytes);
  // The next complete message; false if there is none yet.
  bool Next(Message* message);
  // From the next header on, limits Returned and ReturnedAll messages to this size, known from the request.
  void set_most_returned(uint64_t bytes) { most_returned_ = bytes; }

 private:
  void CheckHeader();
  uint64_t most_returned_ = ~uint64_t{0};
  std::vector<uint8_t> header_;
  Message partial_;
  uint64_t missing_ = 0;
  bool in_payload_ = false;
  std::vector<Message> ready_;
  size_t taken_ = 0;
};

// Blocking transfer, for the worker's end. Send and Receive throw WireError if the judge is gone. rest: the rest of the
// payload, stored elsewhere.
void Send(int socket, MessageType type, uint16_t flags, std::span<const uint8_t> payload,
          std::span<const uint8_t> rest = {});
Message Receive(int socket);
// Whether a message has been sent partly. For a signal handler.
bool IsSending();

}  // namespace lockstep::worker
