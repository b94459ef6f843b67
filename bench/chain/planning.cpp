// Checks that planning time does not depend on a chain's length: a million slices plan as fast as a hundred.
#include <cstdio>

#include "hidden_markov.hpp"
#include "sections.hpp"
#include "workload/timing.hpp"

namespace bench {

Json measure_planning(const ChainSettings& settings) {
  const ChainSize brief = {.states = 16, .length = 100, .sequences = 64};
  const ChainSize lengthy = {.states = 16, .length = 1'000'000, .sequences = 64};
  const auto best = best_times({[&] { (void)compiled(brief); }, [&] { (void)compiled(lengthy); }},
                               {.seconds = settings.seconds, .turns = settings.turns});
  Json rows = Json::array();
  std::printf("\ncompile\n");
  const ChainSize* sizes[] = {&brief, &lengthy};
  for (std::size_t k = 0; k < best.size(); ++k) {
    std::printf("%8lld slices %10.1f µs\n", static_cast<long long>(sizes[k]->length), best[k] * 1e6);
    rows.push(Json::object().set("length", sizes[k]->length).set("seconds", best[k]));
  }
  return rows;
}

}  // namespace bench
