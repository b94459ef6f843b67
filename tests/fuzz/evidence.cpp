// Fuzzes the readers of evidence, UAI's and JSON, against models with and without plates.
#include <cstddef>
#include <cstdint>

#include "round_trip.hpp"

namespace {

using plated::Model;

Model flat_model() { return plated::parse_model("MARKOV 3 2 2 3 1 1 0 2 1 1", "m.uai"); }

Model plated_model() {
  return plated::parse_model(R"({"format": "plated", "version": 1, "space": "real", "plates": {"i": 2, "j": 1},
    "variables": {"v0": {"states": ["a", "b"], "label": "w"}, "x": {"size": 3, "plates": ["i"]}, "y": {"size": 2, "plates": ["i", "j"]}},
    "factors": []})",
                             "m.json");
}

void read(Model model, std::string_view text) {
  try {
    plated::parse_evidence(model, text, "fuzz.evid");
  } catch (const plated::FormatError& error) {
    plated::fuzz::require_one_line(error);
    plated::fuzz::require(model.evidence.empty(), "bad evidence leaves the model as it was");
    return;
  }
  const Model again = plated::parse_model(plated::model_text(model, plated::Format::plated).text, "again.json");
  plated::fuzz::require(again.evidence == model.evidence, "evidence is read as it was written");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Model flat = flat_model();
  static const Model in_plates = plated_model();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read(flat, text);
  read(in_plates, text);
  return 0;
}
