// A device at the other end of a socket: every request is one message with a reply. The judge has the memory, the
// counters and the clock; nothing here affects a grade.
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
 public:
  RemoteBackend(int socket, int device) : socket_(socket), device_(static_cast<uint16_t>(device << kDeviceShift)) {}

  // After a failed copy a program cleans up, and needs no results.
  bool FreeShowsResults() const override { return copy_failed_; }
  bool HoldsAllDevices() const override { return true; }

  vgpu::ModuleHandle LoadModule(std::span<const vgpu::cudart::Image> images) override {
    Encoder encoder;
    uint64_t bytes = 0;
    encoder.Put(static_cast<uint32_t>(images.size()));
    for (const vgpu::cudart::Image& image : images) {
      bytes += image.size() + sizeof(uint64_t);
      if (bytes > kMaxModuleBytes) throw std::runtime_error("device code above 64 MiB");
      encoder.PutBytes(image);
    }
    const Message reply = images.size() == 1 ? Exchange(MessageType::kLoadModule, 0, images[0])
                                             : Exchange(MessageType::kLoadLinked, 0, encoder.bytes());
    Decoder decoder(reply.payload);
    return decoder.Get<vgpu::ModuleHandle>();
  }

  void UnloadModule(vgpu::ModuleHandle module) override {
    Encoder encoder;
    Exchange(MessageType::kUnloadModule, 0, encoder.Put(module).bytes());
  }

  std::optional<vgpu::KernelInfo> FindKernel(vgpu::ModuleHandle module, const std::string& mangled) override {
    return Find<vgpu::KernelInfo>(MessageType::kFindKernel, module, mangled, GetKernelInfo);
  }

  std::optional<vgpu::VariableInfo> FindVariable(vgpu::ModuleHandle module, const std::string& name) override {
    return Find<vgpu::VariableInfo>(MessageType::kFindVariable, module, name, GetVariableInfo);
  }

  uint64_t Allocate(uint64_t bytes, const Origin& origin) override {
    Encoder encoder = For(origin);
    return Ask<uint64_t>(MessageType::kAllocate, encoder.Put(bytes));
  }

  bool Free(uint64_t address, const Origin& origin) override {
    Encoder encoder = For(origin);
    return AskBool(MessageType::kFree, encoder.Put(address));
  }

  bool Write(uint64_t to, const void* from, uint64_t bytes, const Origin& origin) override {
    return InPieces(bytes, [&](uint64_t done, uint64_t piece, uint16_t flags) {
      const std::span<const uint8_t> data(static_cast<const uint8_t*>(from) + done, piece);
      Encoder encoder = For(origin);
      encoder.Put(to + done).PutLengthOf(data);
      const Message reply = Exchange(MessageType::kWrite, flags, encoder.bytes(), data);
      return Decoder(reply.payload).GetBool();
    });
  }

  bool Read(void* to, uint64_t from, uint64_t bytes, const Origin& origin) override {
    return InPieces(bytes, [&](uint64_t done, uint64_t piece, uint16_t flags) {
      Encoder encoder = For(origin);
      const Message reply = Exchange(MessageType::kRead, flags, encoder.Put(from + done).Put(piece).bytes());
      Decoder decoder(reply.payload);
      if (!decoder.GetBool()) return false;
      const auto data = decoder.GetBytes();
      if (data.size() != piece) throw WireError("Read answered with another size");
      std::memcpy(static_cast<uint8_t*>(to) + done, data.data(), piece);
      return true;
    });
  }

  bool Copy(uint64_t to, uint64_t from, uint64_t bytes, const Origin& origin) override {
    Encoder encoder = For(origin);
    const bool done = AskBool(MessageType::kCopy, encoder.Put(to).Put(from).Put(bytes));
    copy_failed_ |= !done;
    return done;
  }

  bool Fill(uint64_t to, uint8_t value, uint64_t bytes, const Origin& origin) override {
    Encoder encoder = For(origin);
    return AskBool(MessageType::kFill, encoder.Put(to).Put(value).Put(bytes));
  }

  bool Contains(uint64_t address, uint64_t bytes) override {
    Encoder encoder;
    return AskBool(MessageType::kContains, encoder.Put(address).Put(bytes));
  }

  uint64_t FreeBytes() override {
    Encoder encoder;
    return Ask<uint64_t>(MessageType::kFreeBytes, encoder);
  }

  vgpu::LaunchResult Launch(const vgpu::LaunchSpec& launch, const Origin& origin) override {
    Encoder encoder = For(origin);
    Put(encoder, launch);
    const Message reply = Exchange(MessageType::kLaunch, 0, encoder.bytes());
    Decoder decoder(reply.payload);
    return GetLaunchResult(decoder);
  }

  vgpu::LaunchResult DoOperation(const vgpu::LibraryOperation& operation, const Origin& origin) override {
    Encoder encoder = For(origin);
    Put(encoder, operation);
    const Message reply = Exchange(MessageType::kLibrary, 0, encoder.bytes());
    Decoder decoder(reply.payload);
    return GetLaunchResult(decoder);
  }

  int MaxBlocksPerSm(const vgpu::KernelInfo& kernel, int block_threads, uint64_t dynamic_shared) override {
    Encoder encoder;
    Put(encoder, kernel);
    return Ask<int>(MessageType::kMaxBlocksPerSm, encoder.Put(block_threads).Put(dynamic_shared));
  }

  const vgpu::DeviceProfile& profile() override {
    if (profile_ == nullptr) {
      const Message reply = Exchange(MessageType::kProfile, 0, {});
      Decoder decoder(reply.payload);
      const std::string id = decoder.GetString();
      profile_ = vgpu::FindProfile(id);
      if (profile_ == nullptr) throw std::runtime_error("the judge's device has an unknown profile, " + id);
    }
    return *profile_;
  }

  void Reset() override { Exchange(MessageType::kReset, 0, {}); }

  void BeginOperation(const vgpu::StreamPoint& point) override {
    vgpu::StreamPoint sent = point;
    // A copy with very many rows is reported without them; then its host memory is not compared.
    if (sent.spans.size() > kMostSpans) sent.spans.clear();
    Encoder encoder;
    Put(encoder, sent);
    Tell(MessageType::kBeginOperation, encoder.bytes());
  }

  void EndOperation() override { Tell(MessageType::kEndOperation, {}); }

  void Report(const vgpu::HostRace& race) override {
    Encoder encoder;
    Put(encoder, race);
    Tell(MessageType::kHostRace, encoder.bytes());
  }

  void Note(const Origin& origin, int error) override {
    Encoder encoder = For(origin);
    Tell(MessageType::kNote, encoder.Put(error).bytes());
  }

 private:
  static constexpr size_t kMostSpans = 1000;

  // Sends a message that has no reply.
  void Tell(MessageType type, std::span<const uint8_t> payload) {
    Guarded([&] { Send(socket_, type, device_, payload); });
  }

  static Encoder For(const Origin& origin) {
    Encoder encoder;
    PutOrigin(encoder, origin.function, origin.call_site);
    return encoder;
  }

  Message Exchange(MessageType type, uint16_t flags, std::span<const uint8_t> payload,
                   std::span<const uint8_t> rest = {}) {
    Message reply = Guarded([&] {
      Send(socket_, type, flags | device_, payload, rest);
      Message received = Receive(socket_);
      if (received.type != MessageType::kReply) throw WireError("no Reply");
      return received;
    });
    if ((reply.flags & kFailed) != 0) {
      Decoder decoder(reply.payload);
      throw std::runtime_error(decoder.GetString());
    }
    return reply;
  }

  template <typename T>
  T Ask(MessageType type, const Encoder& request) {
    const Message reply = Exchange(type, 0, request.bytes());
    Decoder decoder(reply.payload);
    return decoder.Get<T>();
  }

  bool AskBool(MessageType type, const Encoder& request, uint16_t flags = 0) {
    const Message reply = Exchange(type, flags, request.bytes());
    Decoder decoder(reply.payload);
    return decoder.GetBool();
  }

  template <typename T, typename Get>
  std::optional<T> Find(MessageType type, vgpu::ModuleHandle module, const std::string& name, Get get) {
    Encoder encoder;
    const Message reply = Exchange(type, 0, encoder.Put(module).PutString(name).bytes());
    Decoder decoder(reply.payload);
    if (!decoder.GetBool()) return std::nullopt;
    return get(decoder);
  }

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
