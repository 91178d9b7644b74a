// A device at the other end of a socket: every request is one message, and most have a reply. The judge has the memory,
// the counters and the clock; nothing here affects a grade.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "protocol/wire.h"
#include "protocol/wire_device.h"
#include "vgpu/cudart/backend.h"

namespace lockstep::worker {

namespace {

using vgpu::cudart::Origin;

template <class Signature>
struct AnswerOf;
template <class Answer, class... Field>
struct AnswerOf<Answer(Field...)> {
  using Type = Answer;
};

// Runs the body; a worker that lost its judge exits.
template <typename Body>
auto Guarded(Body body) {
  try {
    return body();
  } catch (const WireError&) {
    ::_exit(kConnectionLostStatus);
  }
}

class RemoteBackend : public vgpu::cudart::Backend {
 private:
  static WireOrigin WireOf(const Origin& origin) { return {origin.function, origin.call_site, origin.events}; }

  // Sends the fields of a request and returns the reply, if it has one.
  template <MessageType type, class Answer, class... Field>
  Message Send(uint16_t flags, std::type_identity<Answer(Field...)>, const std::remove_cvref_t<Field>&... fields) {
    Encoder encoder;
    Writer writer(encoder);
    writer(fields...);
    Message reply = Guarded([&] {
      worker::Send(socket_, type, flags | device_, encoder.bytes(), writer.rest());
      if constexpr (std::is_same_v<Answer, Unanswered>) return Message{};
      Message received = Receive(socket_);
      if (received.type != MessageType::kReply) throw WireError("no Reply");
      return received;
    });
    if ((reply.flags & kFailed) != 0) throw std::runtime_error(Decoded<std::string>(reply.payload));
    return reply;
  }
  template <MessageType type, class... Field>
  Message Request(uint16_t flags, const Field&... fields) {
    return Send<type>(flags, std::type_identity<typename RequestOf<type>::Signature>(), fields...);
  }

  template <MessageType type, class... Field>
  auto Ask(const Field&... fields) {
    using Answer = typename AnswerOf<typename RequestOf<type>::Signature>::Type;
    const Message reply = Request<type>(0, fields...);
    if constexpr (!std::is_void_v<Answer> && !std::is_same_v<Answer, Unanswered>) {
      return Decoded<Answer>(reply.payload);
    }
  }

 public:
  RemoteBackend(int socket, int device) : socket_(socket), device_(static_cast<uint16_t>(device << kDeviceShift)) {}

  // Only after a failed copy: the program then frees its memory without waiting for results, which is no mistake.
  bool FreeShowsResults() const override { return copy_failed_; }
  bool HoldsAllDevices() const override { return true; }

  vgpu::ModuleHandle LoadModule(std::span<const vgpu::cudart::Image> images) override {
    uint64_t bytes = 0;
    for (const vgpu::cudart::Image& image : images) bytes += image.size() + sizeof(uint64_t);
    if (bytes > kMaxModuleBytes) throw std::runtime_error("device code above 64 MiB");
    if (images.size() == 1) return Ask<MessageType::kLoadModule>(WholeRest{images[0]});
    return Ask<MessageType::kLoadLinked>(std::vector<std::span<const uint8_t>>(images.begin(), images.end()));
  }

  void UnloadModule(vgpu::ModuleHandle module) override { Ask<MessageType::kUnloadModule>(module); }

  std::optional<vgpu::KernelInfo> FindKernel(vgpu::ModuleHandle module, const std::string& mangled) override {
    return Ask<MessageType::kFindKernel>(module, SymbolName{mangled});
  }

  std::optional<vgpu::VariableInfo> FindVariable(vgpu::ModuleHandle module, const std::string& name) override {
    return Ask<MessageType::kFindVariable>(module, SymbolName{name});
  }

  uint64_t Allocate(uint64_t bytes, const Origin& origin) override {
    return Ask<MessageType::kAllocate>(WireOf(origin), bytes);
  }

  bool Free(uint64_t address, const Origin& origin) override {
    return Ask<MessageType::kFree>(WireOf(origin), address);
  }

  bool Write(uint64_t to, const void* from, uint64_t bytes, const Origin& origin) override {
    return InPieces(bytes, [&](uint64_t done, uint64_t piece, uint16_t flags) {
      const std::span<const uint8_t> data(static_cast<const uint8_t*>(from) + done, piece);
      const Message reply = Request<MessageType::kWrite>(flags, WireOf(origin), to + done, Tail{data});
      return Decoded<bool>(reply.payload);
    });
  }

  bool Read(void* to, uint64_t from, uint64_t bytes, const Origin& origin) override {
    return InPieces(bytes, [&](uint64_t done, uint64_t piece, uint16_t flags) {
      const Message reply = Request<MessageType::kRead>(flags, WireOf(origin), from + done, piece);
      const auto read = Decoded<ReadBytes>(reply.payload);
      if (!read.done) return false;
      if (read.bytes.size() != piece) throw WireError("Read answered with another size");
      std::memcpy(static_cast<uint8_t*>(to) + done, read.bytes.data(), piece);
      return true;
    });
  }

  bool Copy(uint64_t to, uint64_t from, uint64_t bytes, const Origin& origin) override {
    const bool done = Ask<MessageType::kCopy>(WireOf(origin), to, from, bytes);
    copy_failed_ |= !done;
    return done;
  }

  bool Fill(uint64_t to, uint8_t value, uint64_t bytes, const Origin& origin) override {
    return Ask<MessageType::kFill>(WireOf(origin), to, value, bytes);
  }

  bool Contains(uint64_t address, uint64_t bytes) override { return Ask<MessageType::kContains>(address, bytes); }

  uint64_t FreeBytes() override { return Ask<MessageType::kFreeBytes>(); }

  vgpu::LaunchResult Launch(const vgpu::LaunchSpec& launch, const Origin& origin) override {
    return Ask<MessageType::kLaunch>(WireOf(origin), launch);
  }

  vgpu::LaunchResult DoOperation(const vgpu::LibraryOperation& operation, const Origin& origin) override {
    return Ask<MessageType::kLibrary>(WireOf(origin), operation);
  }

  int MaxBlocksPerSm(const vgpu::KernelInfo& kernel, int block_threads, uint64_t dynamic_shared) override {
    return Ask<MessageType::kMaxBlocksPerSm>(kernel, block_threads, dynamic_shared);
  }

  const vgpu::DeviceProfile& profile() override {
    if (profile_ == nullptr) {
      const std::string id = Ask<MessageType::kProfile>();
      profile_ = vgpu::FindProfile(id);
      if (profile_ == nullptr) throw std::runtime_error("the judge's device has an unknown profile, " + id);
    }
    return *profile_;
  }

  void Reset() override { Ask<MessageType::kReset>(); }

  void BeginOperation(const vgpu::StreamPoint& point) override {
    vgpu::StreamPoint sent = point;
    // A copy with very many rows is reported without them; then its host memory is not compared.
    if (sent.spans.size() > kMostSpans) sent.spans.clear();
    Ask<MessageType::kBeginOperation>(sent);
  }

  void EndOperation() override { Ask<MessageType::kEndOperation>(); }
  void Report(const vgpu::HostRace& race) override { Ask<MessageType::kHostRace>(race); }
  void Note(const Origin& origin, int error) override { Ask<MessageType::kNote>(WireOf(origin), error); }

 private:
  static constexpr size_t kMostSpans = 1000;

  // A transfer split to fit into messages. A range that is not within one allocation fails before anything is moved.
  template <typename Body>
  bool InPieces(uint64_t bytes, Body body) {
    uint64_t done = 0;
    do {
      const uint64_t piece = std::min(bytes - done, kTransferBytes);
      if (!body(done, piece, done == 0 ? uint16_t{0} : kContinued)) {
        copy_failed_ = true;
        return false;
      }
      done += piece;
    } while (done < bytes);
    return true;
  }

  const int socket_;
  const uint16_t device_;  // as flags
  bool copy_failed_ = false;
  const vgpu::DeviceProfile* profile_ = nullptr;
};

}  // namespace

}  // namespace lockstep::worker

namespace lockstep::vgpu::cudart {

std::unique_ptr<Backend> MakeRemoteBackend(int socket, int device) {
  return std::make_unique<worker::RemoteBackend>(socket, device);
}

}  // namespace lockstep::vgpu::cudart
