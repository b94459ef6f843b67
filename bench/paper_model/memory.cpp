// Measures the peak memory of the whole process, inputs included, relative to the bytes of the inputs.
#include <cstdio>
#include <functional>

#include "common/machine.hpp"
#include "paper_model/plated_runner.hpp"
#include "paper_model/sections.hpp"
#include "workload/adjoint_runner.hpp"

namespace bench {
namespace {

/// Runs something of a model and pushes the row of its peak.
void push_peak(const TreeModel& model, const std::string& order, plated::Semiring semiring, const char* question,
               double target, int threads, Json& rows, const std::function<void()>& run) {
  forget_peak_memory();
  run();
  const std::int64_t peak = peak_resident_bytes();
  const double ratio = static_cast<double>(peak) / static_cast<double>(model.bytes());
  Json row = Json::object();
  row.set("question", question).set("semiring", name(semiring)).set("variant", order).set("size", model.sizes().i);
  row.set("threads", threads).set("input_bytes", model.bytes()).set("peak_bytes", peak).set("ratio", ratio);
  row.set("target", target);
  std::printf("%-10s %-8s %-10s %6d %12.1f %12.1f %8.3f%c %6.1f\n", question, std::string(name(semiring)).c_str(),
              order.c_str(), static_cast<int>(model.sizes().i), static_cast<double>(model.bytes()) / 0x1p20,
              static_cast<double>(peak) / 0x1p20, ratio, ratio > target ? '!' : ' ', target);
  std::fflush(stdout);
  rows.push(row);
}

}  // namespace

Json measure_memory(const Settings& settings) {
  Json rows = Json::array();
  std::printf("\n%-10s %-8s %-10s %6s %12s %12s %8s %7s\n", "question", "semiring", "stored as", "I = J", "inputs, MiB",
              "peak, MiB", "ratio", "target");
  const std::int64_t n = settings.memory_size;
  const int threads = settings.threads.back();
  for (const char* order : {"bcij", "ijbc", "icjb"}) {
    TreeModel model({settings.domain, n, n}, order);
    for (const plated::Semiring semiring : {plated::Semiring::real, plated::Semiring::log}) {
      model.fill(semiring);
      push_peak(model, order, semiring, "value", 1.1, threads, rows, [&] { PlatedRunner(model, semiring, threads)(); });
    }
    push_peak(model, order, plated::Semiring::log, "marginals", 1.2, threads, rows,
              [&] { AdjointRunner(model, threads, {}).ask_marginals(); });
    // Gradients that the call allocates, which are as large as the inputs.
    push_peak(model, order, plated::Semiring::log, "gradient", 2.2, threads, rows,
              [&] { AdjointRunner(model, threads, {}).ask_gradient(); });
  }
  return rows;
}

}  // namespace bench
