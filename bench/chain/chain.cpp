// Chains: hidden Markov models beside forward–backward by hand, planning, factorial models; tables and JSON.
//
//   bench_chain [--quick] [--only points,planning,factorial] [--states 2,16,64,256] [--lengths 100,10000,1000000]
//               [--sequences 1,64] [--threads N] [--milliseconds N] [--json FILE]
//
// --milliseconds is spent on each figure. Results are checked before they are timed; a wrong one ends the program.
// Emissions over 2 GiB are left out, and so are figures whose calls take more than 20 s each.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "common/arguments.hpp"
#include "common/machine.hpp"
#include "common/program.hpp"
#include "sections.hpp"

namespace {

std::vector<std::int64_t> numbers(const bench::Arguments& arguments, std::string_view name, std::string_view otherwise,
                                  std::int64_t highest) {
  std::vector<std::int64_t> result;
  for (const std::string& text : arguments.list(name, otherwise)) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > highest) {
      throw std::invalid_argument(std::string(name) + " takes numbers from 1 to " + std::to_string(highest) + ", not " +
                                  text);
    }
    result.push_back(number);
  }
  return result;
}

bench::ChainSettings settings_of(const bench::Arguments& arguments) {
  const bool quick = arguments.has("--quick");
  bench::ChainSettings settings;
  settings.states = numbers(arguments, "--states", quick ? "2,16" : "2,16,64,256", 4096);
  settings.lengths = numbers(arguments, "--lengths", quick ? "100,10000" : "100,10000,1000000", 100000000);
  settings.sequences = numbers(arguments, "--sequences", "1,64", 100000);
  settings.threads = static_cast<int>(arguments.integer("--threads", 1, 1, 1024));
  settings.seconds = 1e-3 * static_cast<double>(arguments.integer("--milliseconds", quick ? 30 : 1000, 0, 1000000));
  settings.turns = quick ? 2 : 5;
  return settings;
}

int run(int argc, const char* const* argv) {
  const bench::Arguments arguments(
      argc, argv, {"--only", "--states", "--lengths", "--sequences", "--threads", "--milliseconds", "--json"},
      {"--quick"});
  const bench::ChainSettings settings = settings_of(arguments);
  const std::vector<std::string> only = arguments.list("--only", "points,planning,factorial");

  bench::Json report = bench::Json::object();
  report.set("benchmark", "chain").set("machine", bench::describe_machine()).set("quick", arguments.has("--quick"));
  report.set("threads", settings.threads).set("dtype", "float32");

  using Section = bench::Json (*)(const bench::ChainSettings&);
  const std::vector<std::pair<std::string, Section>> sections = {{"points", bench::measure_points},
                                                                 {"planning", bench::measure_planning},
                                                                 {"factorial", bench::measure_factorial}};
  for (const std::string& name : only) {
    const bool known = std::any_of(sections.begin(), sections.end(), [&](const auto& s) { return s.first == name; });
    if (!known) throw std::invalid_argument("--only takes points, planning and factorial, not " + name);
  }
  for (const auto& [name, measure] : sections) {
    if (std::find(only.begin(), only.end(), name) != only.end()) report.set(name, measure(settings));
  }
  if (arguments.has("--json")) bench::write_json(arguments.text("--json", ""), report);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program("bench_chain", run, argc, argv); }
