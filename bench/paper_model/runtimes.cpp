// Measures time against the size of the plates: the figure of [TVE] Sec. 6.
#include <cstdio>

#include "paper_model/comparison.hpp"
#include "paper_model/sections.hpp"

namespace bench {

Json measure_runtimes(const Settings& settings) {
  Json rows = Json::array();
  std::printf("\n%-8s %7s %6s %14s %14s %8s %12s\n", "semiring", "threads", "I = J", "Plated, ms", "roofline, ms",
              "ratio", "ns/element");
  for (const plated::Semiring semiring : {plated::Semiring::log, plated::Semiring::real}) {
    for (std::int64_t size = 1; size <= settings.largest; size *= 2) {
      TreeModel model({settings.domain, size, size}, "bcij");
      model.fill(semiring);
      std::optional<Reference> expected;
      if (size <= settings.checked) expected = reference(model, semiring);
      for (const int threads : settings.threads) {
        const Comparison times = compare(model, model, semiring, threads, expected, settings.budget);
        const auto elements = static_cast<double>(model.large_elements());
        Json row = Json::object();
        row.set("semiring", name(semiring)).set("threads", threads).set("size", size).set("bytes", model.bytes());
        row.set("checked", expected.has_value()).set("plated_seconds", times.plated);
        row.set("plated_ns_per_element", times.plated / elements * 1e9);
        std::printf("%-8s %7d %6d %14.4f ", std::string(name(semiring)).c_str(), threads, static_cast<int>(size),
                    times.plated * 1e3);
        if (times.roofline) {
          row.set("roofline_seconds", *times.roofline).set("ratio", times.plated / *times.roofline);
          row.set("roofline_ns_per_element", *times.roofline / elements * 1e9);
          std::printf("%14.4f %8.2f %5.3f/%5.3f\n", *times.roofline * 1e3, times.plated / *times.roofline,
                      times.plated / elements * 1e9, *times.roofline / elements * 1e9);
        } else {
          std::printf("%14s %8s %5.3f\n", "-", "-", times.plated / elements * 1e9);
        }
        std::fflush(stdout);
        rows.push(row);
      }
    }
  }
  return rows;
}

}  // namespace bench
