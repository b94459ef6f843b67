// Peak memory of the whole process, inputs included, over the bytes of the inputs.
#include <cstdio>

#include "common/machine.hpp"
#include "paper_model/plated_runner.hpp"
#include "paper_model/sections.hpp"

namespace bench {

Json measure_memory(const Settings& settings) {
  Json rows = Json::array();
  std::printf("\n%-8s %-10s %6s %12s %12s %8s\n", "semiring", "stored as", "I = J", "inputs, MiB", "peak, MiB",
              "ratio");
  const std::int64_t n = settings.memory_size;
  for (const char* order : {"bcij", "ijbc", "icjb"}) {
    TreeModel model({settings.domain, n, n}, order);
    for (const plated::Semiring semiring : {plated::Semiring::log, plated::Semiring::real}) {
      model.fill(semiring);
      forget_peak_memory();
      const int threads = settings.threads.back();
      PlatedRunner(model, semiring, threads)();
      const auto inputs = static_cast<double>(model.bytes());
      const auto peak = static_cast<double>(peak_resident_bytes());
      Json row = Json::object();
      row.set("semiring", name(semiring)).set("variant", order).set("size", n).set("threads", threads);
      row.set("input_bytes", model.bytes()).set("peak_bytes", peak_resident_bytes()).set("ratio", peak / inputs);
      std::printf("%-8s %-10s %6d %12.1f %12.1f %8.3f\n", std::string(name(semiring)).c_str(), order,
                  static_cast<int>(n), inputs / 0x1p20, peak / 0x1p20, peak / inputs);
      std::fflush(stdout);
      rows.push(row);
    }
  }
  return rows;
}

}  // namespace bench
