// A model and its conversions (unrolled, and through UAI) give the same answers.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "plated/model_file.hpp"
#include "plated/plan.hpp"

namespace plated {
namespace {

double ln_z(const Model& model) {
  const Model logs = in_space(model, Space::log);
  PlanOptions options;
  for (const auto& [variable, states] : logs.evidence) options.observable.push_back(variable);
  const Plan plan = compile(logs.graph, options);
  return plan.run(logs.factors, {.evidence = logs.evidence, .lengths = logs.lengths})[0].item();
}

Model shipped(const std::string& name) { return read_model(std::filesystem::path(PLATED_MODELS) / name); }

TEST(ConvertedModels, HaveTheSamePartitionFunction) {
  for (const char* name : {"anesthesia.json", "earthquakes.json", "sprinkler.bif", "ring.uai"}) {
    SCOPED_TRACE(name);
    const Model model = shipped(name);
    const double expected = ln_z(model);
    const Model flat = unroll(model);
    EXPECT_NEAR(ln_z(flat), expected, 1e-9 * std::max(1.0, std::abs(expected)));
    Model uai = parse_model(model_text(flat, Format::uai).text, "m.uai");
    parse_evidence(uai, uai_evidence_text(flat), "m.uai.evid");
    EXPECT_NEAR(ln_z(uai), expected, 1e-9 * std::max(1.0, std::abs(expected)));
  }
}

TEST(ShippedModels, HaveTheAnswersOfTheForwardAlgorithm) {
  // Computed from the files by a few lines of NumPy: a product over patients, and the forward algorithm.
  EXPECT_NEAR(ln_z(shipped("anesthesia.json")), -193.2802574046, 1e-8);
  EXPECT_NEAR(ln_z(shipped("earthquakes.json")), -328.2043842838, 1e-8);
}

TEST(ShippedModels, TheRingIsSummedByHand) {
  Model ring = shipped("ring.uai");
  // The ring's transfer matrix has eigenvalues 3 and 1, so that Z with a field of (1, 3) is (3^4 + 1) / 2 · (1 + 3).
  EXPECT_NEAR(ln_z(ring), std::log(164.0), 1e-12);
  read_evidence(ring, std::filesystem::path(PLATED_MODELS) / "ring.uai.evid");
  // Ends that are alike have (3^3 + 1) / 2 = 14 ways round the other three links, others 13, then the fourth link.
  EXPECT_NEAR(ln_z(ring), std::log(3 * 14 * 2 + 1 * 13 * 1.0), 1e-12);
}

}  // namespace
}  // namespace plated
