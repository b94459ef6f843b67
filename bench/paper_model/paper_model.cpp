// The paper's runtime experiment ([TVE] Fig. 4 and 5) beside a roofline: tables on standard output, figures as JSON.
//
//   bench_paper_model [--quick] [--only runtimes,adjoints,layouts,memory,overhead] [--largest N] [--domain N]
//                     [--threads 1,2] [--layout-size N] [--memory-size N] [--check-up-to N] [--milliseconds N]
//                     [--json FILE]
//
// --milliseconds is spent on each figure. Results are checked before they are timed; a wrong one ends the program.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include "common/arguments.hpp"
#include "common/machine.hpp"
#include "common/program.hpp"
#include "paper_model/sections.hpp"

namespace {

bench::Settings settings_of(const bench::Arguments& arguments) {
  const bool quick = arguments.has("--quick");
  bench::Settings settings;
  settings.domain = arguments.integer("--domain", 32, 2, 127);
  settings.largest = arguments.integer("--largest", quick ? 64 : 512, 1, 2048);
  settings.checked = arguments.integer("--check-up-to", quick ? 16 : 64, 0, 2048);
  settings.layout_size = arguments.integer("--layout-size", quick ? 32 : 128, 16, 2048);
  if (settings.layout_size % 16 != 0) throw std::invalid_argument("--layout-size takes multiples of 16");
  settings.all_layouts = !quick;
  settings.memory_size = arguments.integer("--memory-size", quick ? 128 : 512, 1, 2048);
  settings.budget = {
      .seconds = 1e-3 * static_cast<double>(arguments.integer("--milliseconds", quick ? 30 : 1000, 0, 1000000)),
      .turns = quick ? 3 : 7};
  settings.threads.clear();
  for (const std::string& threads : arguments.list("--threads", "1,2")) {
    if (threads != "1" && threads != "2") throw std::invalid_argument("--threads takes 1, 2 or 1,2");
    settings.threads.push_back(threads == "1" ? 1 : 2);
  }
  return settings;
}

int run(int argc, const char* const* argv) {
  const bench::Arguments arguments(argc, argv,
                                   {"--only", "--largest", "--domain", "--threads", "--layout-size", "--memory-size",
                                    "--check-up-to", "--milliseconds", "--json"},
                                   {"--quick"});
  const bench::Settings settings = settings_of(arguments);
  const std::vector<std::string> only = arguments.list("--only", "memory,overhead,runtimes,adjoints,layouts");

  bench::Json report = bench::Json::object();
  report.set("benchmark", "paper_model").set("machine", bench::describe_machine());
  report.set("quick", arguments.has("--quick")).set("domain", settings.domain).set("dtype", "float32");

  // Memory comes first: what later parts leave in the process would count.
  using Section = bench::Json (*)(const bench::Settings&);
  const std::vector<std::pair<std::string, Section>> sections = {{"memory", bench::measure_memory},
                                                                 {"overhead", bench::measure_overhead},
                                                                 {"runtimes", bench::measure_runtimes},
                                                                 {"adjoints", bench::measure_adjoints},
                                                                 {"layouts", bench::measure_layouts}};
  for (const std::string& name : only) {
    const bool known = std::any_of(sections.begin(), sections.end(), [&](const auto& s) { return s.first == name; });
    if (!known) {
      throw std::invalid_argument("--only takes memory, overhead, runtimes, adjoints and layouts, not " + name);
    }
  }
  for (const auto& [name, measure] : sections) {
    if (std::find(only.begin(), only.end(), name) != only.end()) report.set(name, measure(settings));
  }
  if (arguments.has("--json")) bench::write_json(arguments.text("--json", ""), report);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program("bench_paper_model", run, argc, argv); }
