#include "judge/model/options.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>
#include <string_view>

namespace lockstep::judge {
namespace {

// Parses a flag's value; returns an error, or "".
using Setter = std::function<std::string(Options&, std::string_view)>;

struct Flag {
  const char* name;
  const char* value;  // for the help; "" if the flag takes no value
  const char* help;
  Setter set;
};

template <class T>
bool ParseNumber(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

Setter SetPath(std::filesystem::path Options::* field) {
  return [field](Options& options, std::string_view value) -> std::string {
    if (value.empty()) return "it takes a path";
    options.*field = std::filesystem::path(value);
    return "";
  };
}

// NOLINTNEXTLINE(readability-function-size): a table
const std::vector<Flag>& Flags() {
  static const std::vector<Flag> flags = {
      {"assignment", "DIR", "folder with assignment.toml", SetPath(&Options::assignment)},
      {"worker", "PATH", "the submission's worker, as harness/worker/build.sh makes it", SetPath(&Options::worker)},
      {"witness", "PATH",
       "a worker without a submission, from build/lib/witness: if it starts and the submission's does not, the "
       "submission is at fault",
       SetPath(&Options::witness)},
      {"reference", "PATH", "the reference's worker, for criteria that compare with it", SetPath(&Options::reference)},
      {"figures", "FILE",
       "the reference's figures, as --record wrote them, to avoid running it; default the assignment's figures.json",
       SetPath(&Options::figures)},
      {"prefix", "FILE", "arguments to put before the worker's command, one per line: the sandbox",
       SetPath(&Options::prefix)},
      {"result", "FILE", "where the result goes, as JSON, rewritten when each test ends", SetPath(&Options::result)},
      {"record", "FILE", "write this run's figures, to serve as the assignment's figures.json",
       SetPath(&Options::record)},
      {"seed", "N", "seed of all inputs, below 2^128; default random",
       [](Options& options, std::string_view value) -> std::string {
         options.seed = ParseSeed(value);
         return options.seed ? "" : "it takes a whole number below 2^128, as in --seed=7";
       }},
      {"seed-file", "FILE", "file with the seed, because every program on the machine can read arguments",
       [](Options& options, std::string_view value) -> std::string {
         std::ifstream file{std::string(value)};
         std::string text;
         if (!(file >> text)) return "it can't be read";
         options.seed = ParseSeed(text);
         return options.seed ? "" : "it holds no whole number below 2^128";
       }},
      {"device", "vgpu|cuda", "the virtual GPU (default), or a real one",
       [](Options& options, std::string_view value) -> std::string {
         if (value != "vgpu" && value != "cuda") return "it takes vgpu or cuda";
         options.device = value == "vgpu" ? DeviceKind::kVgpu : DeviceKind::kCuda;
         return "";
       }},
      {"profile", "NAME",
       "device that the virtual GPU models; default h200, and for the times of evidence the assignment's",
       [](Options& options, std::string_view value) -> std::string {
         if (value.empty()) return "it takes a profile's name, as in --profile=g80";
         options.profile = options.evidence_profile = value;
         options.has_profile = true;
         return "";
       }},
      {"threads", "N", "CPU threads of the virtual GPU; results do not depend on it",
       [](Options& options, std::string_view value) -> std::string {
         if (!ParseNumber(value, options.threads) || options.threads < 1 || options.threads > 1024) {
           return "it takes a number from 1 to 1024";
         }
         return "";
       }},
      {"rung", "ID", "only this rung's tests and criteria: 3, reduce3 or reduce3_sequential",
       [](Options& options, std::string_view value) -> std::string {
         options.rung = value;
         return "";
       }},
      {"checks", "all|none", "fault checkers in correctness tests; default all",
       [](Options& options, std::string_view value) -> std::string {
         if (value != "all" && value != "none") return "it takes all or none";
         options.checks = value == "all";
         return "";
       }},
      {"evidence", "all|judged", "evidence runs of every rung (default), or of those that the selected tests measure",
       [](Options& options, std::string_view value) -> std::string {
         if (value != "all" && value != "judged") return "it takes all or judged";
         options.all_evidence = value == "all";
         return "";
       }},
      {"one-failure", "", "after a failed test, skip the rest of its rung",
       [](Options& options, std::string_view) -> std::string {
         options.one_failure = true;
         return "";
       }},
      {"quiet", "", "print only the table, without the tests' messages, which --result has",
       [](Options& options, std::string_view) -> std::string {
         options.quiet = true;
         return "";
       }},
      {"edits", "SECONDS", "look for a single edit of a kernel or launch that makes the first failing test pass",
       [](Options& options, std::string_view value) -> std::string {
         options.one_failure = true;
         return ParseNumber(value, options.edit_seconds) && options.edit_seconds > 0 ? ""
                                                                                     : "it takes a number from 1 up";
       }},
      {"page", "FILE", "write a page's data about a test's failing call, and about measured calls, as JSON",
       SetPath(&Options::page)},
      {"replay", "X,Y,Z", "with --page: the block whose steps are recorded; default the grid's first",
       [](Options& options, std::string_view value) -> std::string {
         vgpu::Dim3& block = options.replayed.emplace();
         const int read = std::sscanf(std::string(value).c_str(), "%u,%u,%u", &block.x, &block.y, &block.z);
         return read == 3 ? "" : "it takes three numbers";
       }},
      {"debug", "LAUNCHES", "run this many launches, then open the debugger, as vgpu-run --debug does",
       [](Options& options, std::string_view value) -> std::string {
         return ParseNumber(value, options.debug.emplace()) ? "" : "it takes a number";
       }},
      {"help", "", "print this",
       [](Options& options, std::string_view) -> std::string {
         options.help = true;
         return "";
       }},
  };
  return flags;
}

}  // namespace

ParsedOptions ParseOptions(std::vector<std::string>& arguments) {
  ParsedOptions parsed;
  std::vector<std::string> rest;
  for (const std::string& argument : arguments) {
    if (argument.starts_with("--gtest_")) {
      rest.push_back(argument);
      continue;
    }
    const size_t equals = std::min(argument.find('='), argument.size());
    const std::string_view name = std::string_view(argument).substr(0, equals);
    const auto flag =
        std::find_if(Flags().begin(), Flags().end(), [&](const Flag& f) { return name == std::string("--") + f.name; });
    if (flag == Flags().end()) {
      parsed.errors.push_back("there is no flag " + argument + "; --help lists them");
      continue;
    }
    const bool has_value = equals < argument.size();
    if (has_value != (*flag->value != '\0')) {
      parsed.errors.push_back(has_value ? "--" + std::string(flag->name) + " takes no value"
                                        : "--" + std::string(flag->name) + " takes a value: --" + flag->name + "=" +
                                              flag->value);
      continue;
    }
    const std::string error = flag->set(parsed.options, has_value ? std::string_view(argument).substr(equals + 1) : "");
    if (!error.empty()) parsed.errors.push_back(argument + ": " + error);
  }
  arguments = std::move(rest);
  return parsed;
}

std::string HelpText(const std::string& program) {
  std::string text = "Runs the tests of one assignment on one submission.\n\n  " + program +
                     " --assignment=DIR --worker=PATH [flags]\n\nFlags:\n";
  for (const Flag& flag : Flags()) {
    std::string left = std::string("--") + flag.name + (*flag.value != '\0' ? "=" : "") + flag.value;
    left.resize(std::max<size_t>(left.size() + 2, 22), ' ');
    text += "  " + left + flag.help + "\n";
  }
  text +=
      "\nGoogleTest's own flags work too, --gtest_filter=PATTERN and --gtest_list_tests above all.\n\nExamples:\n  " +
      program + " --assignment=assignments/04_reduction --worker=build/workers/04_reduction\n  " + program +
      " --assignment=assignments/04_reduction --worker=build/workers/04_reduction --rung=3 --seed=7\n\n"
      "Exit status: 0 every test passed, 1 some failed, 3 the harness itself failed.\n";
  return text;
}

}  // namespace lockstep::judge
