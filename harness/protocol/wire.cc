#include "protocol/wire.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace lockstep::worker {

static_assert(std::endian::native == std::endian::little, "the wire format is little-endian");

namespace {

constexpr uint64_t kSmallBytes = uint64_t{1} << 20;
constexpr uint64_t kCallBytes = uint64_t{256} << 20;  // host arrays travel with the call and its return
constexpr uint64_t kMargin = 4096;                    // for the other fields of a transfer

struct TypeInfo {
  MessageType type;
  uint64_t max_bytes;
  std::string_view name;
};

constexpr TypeInfo kTypes[] = {
#define MESSAGE(name, number, most_bytes, ...) {MessageType::k##name, most_bytes, #name},
#define REQUEST MESSAGE
#include "protocol/messages.inc"
};

const TypeInfo* FindType(uint16_t type) {
  for (const TypeInfo& info : kTypes) {
    if (static_cast<uint16_t>(info.type) == type) return &info;
  }
  return nullptr;
}

struct Header {
  uint32_t length;
  uint16_t type;
  uint16_t flags;
};
static_assert(sizeof(Header) == kHeaderBytes);

Header CheckedHeader(const uint8_t* bytes) {
  Header header;
  std::memcpy(&header, bytes, sizeof header);
  const TypeInfo* info = FindType(header.type);
  if (info == nullptr) throw WireError("message of unknown type " + std::to_string(header.type));
  if (header.length > info->max_bytes) {
    throw WireError(std::string(info->name) + " message of " + std::to_string(header.length) + " bytes: at most " +
                    std::to_string(info->max_bytes));
  }
  return header;
}

volatile std::sig_atomic_t sending = 0;

// Payloads grow by this much at a time, so that a header alone takes no memory.
constexpr uint64_t kReceiveStep = uint64_t{1} << 20;

void ReceiveExactly(int socket, uint8_t* to, uint64_t bytes) {
  while (bytes > 0) {
    const ssize_t got = ::recv(socket, to, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw WireError(std::string("recv: ") + std::strerror(errno));
    if (got == 0) throw WireError("the other end closed the connection");
    to += got;
    bytes -= static_cast<uint64_t>(got);
  }
}

// Sends the parts in order.
void SendExactly(int socket, std::span<iovec> parts) {
  while (!parts.empty()) {
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) throw WireError(std::string("send: ") + std::strerror(errno));
    auto left = static_cast<size_t>(sent);
    while (!parts.empty() && left >= parts.front().iov_len) {
      left -= parts.front().iov_len;
      parts = parts.subspan(1);
    }
    if (parts.empty()) return;
    parts.front().iov_base = static_cast<uint8_t*>(parts.front().iov_base) + left;
    parts.front().iov_len -= left;
  }
}

Header CheckedHeader(MessageType type, uint16_t flags, uint64_t bytes) {
  if (bytes > MaxPayloadBytes(type)) {
    throw WireError(std::string(NameOf(type)) + " message of " + std::to_string(bytes) + " bytes");
  }
  return {static_cast<uint32_t>(bytes), static_cast<uint16_t>(type), flags};
}

}  // namespace

bool IsKnown(uint16_t type) { return FindType(type) != nullptr; }

uint64_t MaxPayloadBytes(MessageType type) {
  const TypeInfo* info = FindType(static_cast<uint16_t>(type));
  return info == nullptr ? 0 : info->max_bytes;
}

std::string_view NameOf(MessageType type) {
  const TypeInfo* info = FindType(static_cast<uint16_t>(type));
  return info == nullptr ? "unknown" : info->name;
}

Encoder& Encoder::PutRaw(const void* data, size_t bytes) {
  const auto* from = static_cast<const uint8_t*>(data);
  bytes_.insert(bytes_.end(), from, from + bytes);
  return *this;
}

Encoder& Encoder::PutBytes(std::span<const uint8_t> bytes) {
  Put<uint64_t>(bytes.size());
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return *this;
}

Encoder& Encoder::PutString(std::string_view text) {
  return PutBytes({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

std::span<const uint8_t> Decoder::Take(uint64_t bytes) {
  if (bytes > rest_.size()) throw WireError("message ends early");
  const auto taken = rest_.first(bytes);
  rest_ = rest_.subspan(bytes);
  return taken;
}

void Decoder::GetRaw(void* to, uint64_t bytes) { std::memcpy(to, Take(bytes).data(), bytes); }

bool Decoder::GetBool() {
  const auto value = Get<uint8_t>();
  if (value > 1) throw WireError("a truth value that is neither 0 nor 1");
  return value == 1;
}

double Decoder::GetDouble() {
  double value;
  GetRaw(&value, sizeof value);
  return value;
}

std::span<const uint8_t> Decoder::GetBytes() { return Take(Get<uint64_t>()); }

std::string Decoder::GetString(uint64_t max_bytes) {
  const auto bytes = GetBytes();
  if (bytes.size() > max_bytes) throw WireError("string of " + std::to_string(bytes.size()) + " bytes");
  return std::string(bytes.begin(), bytes.end());
}

uint32_t Decoder::GetCount(uint64_t least_bytes) {
  const auto count = Get<uint32_t>();
  if (count > rest_.size() / std::max<uint64_t>(least_bytes, 1)) throw WireError("count beyond the message's end");
  return count;
}

void Decoder::Finish() const {
  if (!rest_.empty()) throw WireError("message has " + std::to_string(rest_.size()) + " bytes too many");
}

std::vector<uint8_t> Frame(MessageType type, uint16_t flags, std::span<const uint8_t> payload) {
  const Header header = CheckedHeader(type, flags, payload.size());
  const auto* first = reinterpret_cast<const uint8_t*>(&header);
  std::vector<uint8_t> bytes;
  bytes.reserve(kHeaderBytes + payload.size());
  bytes.assign(first, first + kHeaderBytes);
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

void FrameReader::CheckHeader() {
  const Header header = CheckedHeader(header_.data());
  header_.clear();
  const auto type = static_cast<MessageType>(header.type);
  const bool is_answer = type == MessageType::kReturned || type == MessageType::kReturnedAll;
  if (is_answer && header.length > most_returned_) {
    throw WireError(std::string(NameOf(type)) + " message of " + std::to_string(header.length) + " bytes: at most " +
                    std::to_string(most_returned_) + " were asked for");
  }
  partial_ = Message{static_cast<MessageType>(header.type), header.flags, {}};
  missing_ = header.length;
  in_payload_ = true;
}

void FrameReader::Feed(std::span<const uint8_t> bytes) {
  while (!bytes.empty() || (in_payload_ && missing_ == 0)) {
    if (!in_payload_) {
      const size_t wanted = std::min<size_t>(kHeaderBytes - header_.size(), bytes.size());
      header_.insert(header_.end(), bytes.begin(), bytes.begin() + wanted);
      bytes = bytes.subspan(wanted);
      if (header_.size() == kHeaderBytes) CheckHeader();
      continue;
    }
    const size_t wanted = std::min<uint64_t>(missing_, bytes.size());
    // Reserves only after a part of a long message has arrived: a header alone takes no memory.
    if (partial_.payload.size() + wanted > partial_.payload.capacity() && partial_.payload.size() >= kReceiveStep / 4) {
      partial_.payload.reserve(partial_.payload.size() + missing_);
    }
    partial_.payload.insert(partial_.payload.end(), bytes.begin(), bytes.begin() + wanted);
    bytes = bytes.subspan(wanted);
    missing_ -= wanted;
    if (missing_ == 0) {
      ready_.push_back(std::move(partial_));
      in_payload_ = false;
    }
  }
}

bool FrameReader::Next(Message* message) {
  if (taken_ == ready_.size()) return false;
  *message = std::move(ready_[taken_++]);
  if (taken_ == ready_.size()) {
    ready_.clear();
    taken_ = 0;
  }
  return true;
}

void Send(int socket, MessageType type, uint16_t flags, std::span<const uint8_t> payload,
          std::span<const uint8_t> rest) {
  Header header = CheckedHeader(type, flags, payload.size() + rest.size());
  const auto part = [](const uint8_t* data, size_t bytes) { return iovec{const_cast<uint8_t*>(data), bytes}; };
  iovec parts[] = {{&header, kHeaderBytes}, part(payload.data(), payload.size()), part(rest.data(), rest.size())};
  sending = 1;
  SendExactly(socket, parts);
  sending = 0;
}

bool IsSending() { return sending != 0; }

Message Receive(int socket) {
  uint8_t bytes[kHeaderBytes];
  ReceiveExactly(socket, bytes, kHeaderBytes);
  const Header header = CheckedHeader(bytes);
  Message message{static_cast<MessageType>(header.type), header.flags, {}};
  for (uint64_t done = 0; done < header.length;) {
    const uint64_t step = std::min<uint64_t>(header.length - done, kReceiveStep);
    message.payload.resize(done + step);
    ReceiveExactly(socket, message.payload.data() + done, step);
    done += step;
  }
  return message;
}

}  // namespace lockstep::worker
