// Requirements for a new function of the runtime API or the driver API: its place on docs/reference/api.md or
// driver-api.md, and a program that calls it; for the runtime API also a variant for the per-thread default stream
// where the toolkit has one (the build makes the driver's). The pages are generated from the sources and from the
// build's lists of what they lack: LOCKSTEP_UPDATE_GOLDEN=1 writes them again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/support/needs.h"
#include "tests/support/source_files.h"
#include "vgpu/cudart/report/refused.h"

namespace lockstep {
namespace api_reference_test {

const std::string kReference = std::string(LOCKSTEP_SOURCE_DIR) + "/docs/reference/";
const std::string kSources = std::string(LOCKSTEP_SOURCE_DIR) + "/harness/vgpu/cudart";
const std::string kTests = std::string(LOCKSTEP_SOURCE_DIR) + "/harness/tests/cudart";
const std::string kToolkit = std::string(LOCKSTEP_CUDA_INCLUDE) + "/cuda_runtime_api.h";
const std::string kConformance = std::string(LOCKSTEP_SOURCE_DIR) + "/harness/dev/conformance";
const std::string kUncalled = "## Called by no test";
const std::string kGenerated = std::string(LOCKSTEP_BUILD_DIR) + "/generated/";

// An API: its page, its sources, and patterns of its functions.
struct Api {
  std::string page, sources, refused;
  std::regex definition, name;
};
const Api kRuntime = {kReference + "api.md", kSources, kGenerated + "refused_functions.inc",
                      std::regex("\n(?:cudaError_t|const char\\*|cudaChannelFormatDesc) (cuda\\w+)\\("),
                      std::regex("\\b(cuda\\w+)")};
const Api kDriver = {kReference + "driver-api.md", kSources + "/driver", kGenerated + "refused_driver_functions.inc",
                     std::regex("\n(?:CUresult |LOCKSTEP_FORWARD\\d\\(\\w+, )(cu[A-Z]\\w*?)(?:_v\\d)?[(,]"),
                     std::regex("\\b(cu[A-Z]\\w+)")};

std::vector<std::string> AllMatches(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) {
    found.push_back((*match)[1]);
  }
  return found;
}

// A source's first comment, up to the end of its first sentence or line.
std::string Area(const std::string& source) {
  std::smatch match;
  std::regex_search(source, match, std::regex("^// ([^.\n]+)"));
  return match[1];
}

std::vector<std::string> Sources(const Api& api) {
  std::vector<std::string> sources;
  for (const auto& file : std::filesystem::directory_iterator(api.sources)) {
    if (file.path().extension() == ".cc") sources.push_back(tests::ReadText(file.path()));
  }
  return sources;
}

std::vector<std::string> Defined(const Api& api, const std::string& source) {
  return AllMatches(source, api.definition);
}

// The functions that no program or test in this folder names.
std::set<std::string> Uncalled(const Api& api) {
  std::set<std::string> names;
  for (const std::string& source : Sources(api)) {
    for (const std::string& name : Defined(api, source)) names.insert(name);
  }
  for (const std::string& folder : {kTests, kConformance}) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
      const std::string extension = file.path().extension();
      // The functions that signatures.cu calls are named in its part of the record.
      const bool is_record = file.path().filename() == "recorded.txt";
      if (extension != ".cu" && extension != ".cc" && extension != ".h" && !is_record) continue;
      for (const std::string& name : AllMatches(tests::ReadText(file.path()), api.name)) names.erase(name);
    }
  }
  return names;
}

// Those listed on the page. No name may be added to this list: new functions have tests.
std::set<std::string> AdmittedUncalled(const Api& api) {
  const std::string page = tests::ReadText(api.page);
  const size_t begin = page.find(kUncalled);
  if (begin == std::string::npos) return {};
  const std::string section = page.substr(begin, page.find("\n## ", begin) - begin);
  const auto names = AllMatches(section, std::regex("`(cu\\w+)`"));
  return {names.begin(), names.end()};
}

// "## area" and its functions, and what no test calls.
std::string Parts(const Api& api) {
  std::map<std::string, std::set<std::string>> areas;
  for (const std::string& source : Sources(api)) {
    const auto names = Defined(api, source);
    if (!names.empty()) areas[Area(source)] = {names.begin(), names.end()};
  }
  std::set<std::string> uncalled;
  const std::set<std::string> now = Uncalled(api), admitted = AdmittedUncalled(api);
  std::set_intersection(now.begin(), now.end(), admitted.begin(), admitted.end(),
                        std::inserter(uncalled, uncalled.end()));
  std::string page;
  for (const auto& [area, names] : areas) page += "\n## " + area + "\n\n" + tests::ListOf(names);
  return page + "\n" + kUncalled +
         "\n\nNo program or test in `harness/tests/cudart` or `harness/dev/conformance` names these. The list only gets shorter: every new "
         "function must come with a test that calls it.\n\n" +
         tests::ListOf(uncalled);
}

std::vector<std::string> Refused(const Api& api) {
  return AllMatches(tests::ReadText(api.refused), std::regex("LOCKSTEP_REFUSE\\((\\w+)\\)"));
}

const std::string kMark = "<!-- Generated by api_reference_test: LOCKSTEP_UPDATE_GOLDEN=1 writes it anew. -->\n\n";

std::string RuntimePage(const std::string& version) {
  std::map<std::string, std::set<std::string>> missing;
  for (const std::string& name : Refused(kRuntime)) {
    missing[std::string(vgpu::cudart::RefusedSubject(name))].insert(name);
  }
  std::string page =
      "# Runtime API\n\n" + kMark + "The functions of " + version +
      "'s runtime API that the virtual GPU has, by the part of `harness/vgpu/cudart` that defines them. Each has its\n"
      "variant for the per-thread default stream (`_ptsz`, `_ptds`) where the toolkit has one. The programs in\n"
      "`harness/tests/cudart/programs` compare what calls return with what an H100 or H200 returned, error by error, "
      "and\n"
      "`graphs.cu` with NVIDIA's documentation. [Called by no test](#called-by-no-test) lists the functions without a "
      "test.\n"
      "For `cuMemAlloc` and the like see [Driver API](driver-api.md).\n" +
      Parts(kRuntime) +
      "\n## Refused by name\n\n"
      "A program that uses one of these functions still links and runs. A call to it prints its name, the line that "
      "made it and what\nis missing, and fails with `cudaErrorNotSupported`.\n";
  for (const auto& [subject, names] : missing) {
    page += "\n**" + (subject == "this function" ? std::string("Others") : subject) + "**\n\n" + tests::ListOf(names);
  }
  return page;
}

std::string DriverPage(const std::string& version) {
  std::set<std::string> missing;
  for (const std::string& name : Refused(kDriver)) {
    missing.insert(std::regex_replace(name, std::regex("(_v\\d)?(_ptsz|_ptds)?$"), ""));
  }
  return "# Driver API\n\n" + kMark + "The functions of " + version +
         "'s driver API that the virtual GPU has, by the part of `harness/vgpu/cudart/driver` that defines them, in "
         "the\n"
         "version that the toolkit's `cuda.h` declares. `vgpu-run` puts its `libcuda.so.1` before NVIDIA's. It is "
         "another "
         "name of\n"
         "`libcudart.so.13`, so a program may use both APIs on one device. `harness/tests/cudart/programs/driver.cu` "
         "compares what calls\n"
         "return with what an H200 returned.\n\n"
         "What differs from a GPU:\n\n"
         "* Kernels of one context reach the memory of the others of its device.\n"
         "* Modules, and what `cuLinkAddData` adds, are PTX or fat binaries with PTX; machine code and object files "
         "are refused.\n"
         "* The compiler's information log stays empty. The error log says what is wrong with PTX.\n"
         "* Submissions can't use it: each call is refused by name.\n" +
         Parts(kDriver) +
         "\n## Refused by name\n\n"
         "A program that uses one of these functions still links and runs. A call to it prints its name and the line "
         "that made it, and\nfails with `CUDA_ERROR_NOT_SUPPORTED`.\n\n" +
         tests::ListOf(missing);
}

void ExpectUpToDate(const Api& api, const std::string& version, const std::string& page) {
  const char* update = std::getenv("LOCKSTEP_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    std::ofstream(api.page) << page;
    return;
  }
  const std::string written = tests::ReadText(api.page);
  if (written.find("The functions of " + version + "'s") == std::string::npos) {
    LOCKSTEP_SKIP_BUT_IN_CI(
        api.page + " is about another toolkit than this build's, " + version +
        ": build with that one, as .venv/bin/pip install -r harness/nvcc-requirements.txt gives it");
  }
  // Updates of one toolkit declare other names too, all of which are refused.
  const auto without_refused = [](const std::string& text) {
    return text.substr(0, text.find("\n## Refused by name"));
  };
  if (written != page && without_refused(written) == without_refused(page)) {
    LOCKSTEP_SKIP_BUT_IN_CI("another update of " + version + " than that of " + api.page +
                            ", or LOCKSTEP_UPDATE_GOLDEN=1 has to write the page again: its refused functions differ");
  }
  EXPECT_TRUE(written == page) << "the page of functions is out of date: LOCKSTEP_UPDATE_GOLDEN=1 writes " << api.page
                               << " again";
}

TEST(ApiReferenceTest, TheRuntimesPageIsUpToDate) {
  const std::string version = tests::ToolkitVersion();
  ExpectUpToDate(kRuntime, version, RuntimePage(version));
}

TEST(ApiReferenceTest, TheDriversPageIsUpToDate) {
  const std::string version = tests::ToolkitVersion();
  ExpectUpToDate(kDriver, version, DriverPage(version));
}

TEST(ApiReferenceTest, EachFunctionIsCalledByATest) {
  for (const Api* api : {&kRuntime, &kDriver}) {
    const std::set<std::string> admitted = AdmittedUncalled(*api);
    for (const std::string& name : Uncalled(*api)) {
      EXPECT_TRUE(admitted.contains(name))
          << "no test calls " << name
          << ": call it in a program of harness/tests/cudart/programs or harness/dev/conformance";
    }
  }
}

// A program built with --default-stream per-thread calls cudaMemcpy_ptds where it says cudaMemcpy.
TEST(ApiReferenceTest, EachFunctionHasItsPerThreadVariant) {
  std::map<std::string, std::string> variants;
  const std::string header = tests::ReadText(kToolkit);
  const std::regex pattern("#define +(cuda\\w+) +__CUDART_API_PT(DS|SZ)\\(");
  for (std::sregex_iterator match(header.begin(), header.end(), pattern), end; match != end; ++match) {
    variants[(*match)[1]] = (*match)[2] == "DS" ? "_ptds" : "_ptsz";
  }
  ASSERT_GT(variants.size(), 50u) << kToolkit << " no longer says which functions have variants";
  for (const std::string& source : Sources(kRuntime)) {
    for (const std::string& name : Defined(kRuntime, source)) {
      if (!variants.contains(name)) continue;
      const std::string line = "LOCKSTEP_PER_THREAD(" + name + ", " + variants[name] + ")";
      EXPECT_TRUE(source.find(line) != std::string::npos)
          << name << " has no per-thread variant: write " << line << " after it";
    }
  }
}

}  // namespace api_reference_test
}  // namespace lockstep
