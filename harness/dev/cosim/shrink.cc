// Each try runs in a separate process: a context does not survive the failures that we look for.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "dev/cosim/campaign.h"
#include "dev/cosim/reduce.h"
#include "dev/cosim/target.h"

namespace lockstep::cosim {
namespace {

constexpr int kSeconds = 2;  // a kernel that ends does so in milliseconds
constexpr int kLost = 9;

std::string TextOf(const Kernel& kernel) { return kModuleHeader + kernel.Text(); }

bool IsLost(const Kernel& kernel, const std::string& options, const std::string& files) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      const std::unique_ptr<Target> gpu = MakeGpuTarget(options, files, kSeconds);
      const bool lost = gpu->Load(TextOf(kernel)).empty() && gpu->Run(kernel).lost;
      std::_Exit(lost ? kLost : 0);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "cosim: %s\n", error.what());
      std::_Exit(2);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == kLost;
}

// Whether the kernel ends on the virtual GPU: one that doesn't is no finding.
bool Ends(Target& target, const Kernel& kernel) {
  return target.Load(TextOf(kernel)).empty() && target.Run(kernel).error.empty();
}

}  // namespace

int Shrink(const Campaign& campaign) {
  std::filesystem::create_directories(campaign.out);
  const Kernel kernel = MakeKernel(campaign.first);
  const std::string files = campaign.out + "/" + kernel.name;
  const std::unique_ptr<Target> mine = MakeVirtualTarget();
  const auto differs = [&](const Kernel& variant) {
    return Ends(*mine, variant) && IsLost(variant, campaign.gpu[0], files);
  };
  if (!differs(kernel)) {
    std::printf("%s ends on both\n", kernel.name.c_str());
    return 1;
  }
  const Kernel small = Reduce(kernel, differs, campaign.tries);
  const bool still = differs(small);
  std::printf("%s: shrunk from %zu to %zu characters%s\n", kernel.name.c_str(), kernel.Text().size(),
              small.Text().size(), still ? "" : "; ends now");
  std::ofstream(files + ".ptx") << TextOf(small);
  return still ? 0 : 1;
}

}  // namespace lockstep::cosim
