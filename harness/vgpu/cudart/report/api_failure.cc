#include "vgpu/cudart/report/api_failure.h"

#include <cstdlib>
#include <map>
#include <string_view>
#include <thread>
#include <utility>

#include "vgpu/cudart/report/call_site.h"
#include "vgpu/cudart/report/checks.h"

namespace lockstep::vgpu::cudart {

namespace {

constexpr size_t kMaxFailures = 100;

struct Failures {
  std::map<std::thread::id, ApiFailure> unread;  // each thread's last error
  std::vector<ApiFailure> lost;                  // errors overwritten by another before they were read
  int exit_status = 0;
};

// Guarded by the runtime's lock. Never destroyed: reports are made when the process ends.
Failures& failures() {
  static Failures* const instance = [] {
    auto* const made = new Failures;
    ::on_exit([](int status, void* data) { static_cast<Failures*>(data)->exit_status = status; }, made);
    return made;
  }();
  return *instance;
}

bool IsOn() {
  static const bool on = [] {
    const char* value = std::getenv("LOCKSTEP_CHECK");
    const std::string_view list = value != nullptr ? value : "";
    return list.find("all") != std::string_view::npos || list.find(kApi.id) != std::string_view::npos;
  }();
  return on;
}

}  // namespace

void NoteFailure(const char* function, cudaError_t code) {
  if (!IsOn()) return;
  ApiFailure& last = failures().unread[std::this_thread::get_id()];
  // The same error again: after a fault every call returns its error.
  if (last.code == code) return;
  if (last.code != cudaSuccess && failures().lost.size() < kMaxFailures) failures().lost.push_back(std::move(last));
  last = {function, CallSite(), code};
}

void NoteErrorRead() {
  if (IsOn()) failures().unread.erase(std::this_thread::get_id());
}

void NoteUnreturned(cudaError_t code) {
  if (!IsOn()) return;
  const auto last = failures().unread.find(std::this_thread::get_id());
  if (last != failures().unread.end() && last->second.code == code) last->second.was_returned = false;
}

std::vector<ApiFailure> UnreadFailures() {
  std::vector<ApiFailure> all = failures().lost;
  for (const auto& [thread, failure] : failures().unread) all.push_back(failure);
  if (failures().exit_status != 0) std::erase_if(all, [](const ApiFailure& failure) { return failure.was_returned; });
  return all;
}

std::string Sentence(const ApiFailure& failure) {
  return failure.function + " failed with " + cudaGetErrorName(failure.code) + " (" + cudaGetErrorString(failure.code) +
         ")" + (failure.call_site.empty() ? "" : " at " + failure.call_site) + ", and nothing checked it";
}

}  // namespace lockstep::vgpu::cudart
