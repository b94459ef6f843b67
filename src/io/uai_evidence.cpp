// Reads and writes UAI evidence, whose format has changed over the years.
#include "io/readers.hpp"
#include "io/uai_words.hpp"
#include "plated/error.hpp"

namespace plated {
namespace io {
namespace {

struct Number {
  std::size_t at = 0;
  std::int64_t value = 0;
};

/// Where the pairs begin. Since 2014 a file is `count variable state …`; before, a number of samples came first, each
/// of them such a line. Pairs make an odd number of words with their count, so a file of one sample is the only reading
/// of an even number.
std::size_t skip_samples(const Source& source, const std::vector<Number>& numbers) {
  const auto words = static_cast<std::int64_t>(numbers.size());
  const std::int64_t first = numbers[0].value;
  if (first <= words && words == 1 + 2 * first) return 1;
  if (first == 1 && words >= 2 && numbers[1].value <= words && words == 2 + 2 * numbers[1].value) return 2;
  std::int64_t samples = 0;
  std::int64_t at = 1;
  while (at < words && numbers[static_cast<std::size_t>(at)].value <= words) {
    at += 1 + 2 * numbers[static_cast<std::size_t>(at)].value;
    ++samples;
  }
  if (at == words && samples == first && samples > 1) {
    source.fail(numbers[0].at, "holds " + std::to_string(samples) + " samples of evidence; give one at a time");
  }
  source.fail(numbers[0].at, "the number of observed variables is " + std::to_string(first) + ", but " +
                                 std::to_string(words - 1) + " numbers follow, two are needed for each");
}

}  // namespace

Evidence read_uai_evidence(const Model& model, const Source& source) {
  UaiWords words(source);
  std::vector<Number> numbers;
  while (!words.done()) {
    const std::size_t at = words.at();
    numbers.push_back({at, words.integer(0, "the number of a variable or state")});
  }
  if (numbers.empty()) source.fail(0, "is empty; no evidence is written as 0");
  const std::vector<std::string> names = variables(model);
  const auto plates = source.blame(0, [&] { return model.graph.variable_plates(); });
  Evidence evidence;
  for (std::size_t k = skip_samples(source, numbers); k < numbers.size(); k += 2) {
    const Number& variable = numbers[k];
    const Number& state = numbers[k + 1];
    if (static_cast<std::uint64_t>(variable.value) >= names.size()) {
      source.fail(variable.at, "there is no variable " + std::to_string(variable.value) + ": the model has " +
                                   std::to_string(names.size()) + ", counted from 0");
    }
    const std::string& name = names[static_cast<std::size_t>(variable.value)];
    const DimId id = *model.graph.find(name);
    if (!plates[id].empty()) {
      source.fail(variable.at, "variable " + std::to_string(variable.value) + " is " + shown(name) +
                                   ", which lives in plates: its evidence is given in JSON");
    }
    const std::int64_t size = model.graph.dims()[id].size;
    if (state.value >= size) {
      source.fail(state.at, "variable " + std::to_string(variable.value) + " has no state " +
                                std::to_string(state.value) + ", only " + std::to_string(size));
    }
    if (!evidence.emplace(name, Integers({}, {state.value})).second) {
      source.fail(variable.at, "variable " + std::to_string(variable.value) + " is observed twice");
    }
  }
  return evidence;
}

}  // namespace io

std::string uai_evidence_text(const Model& model) {
  const std::vector<std::string> names = variables(model);
  std::string pairs;
  std::int64_t count = 0;
  for (std::size_t v = 0; v < names.size(); ++v) {
    const auto found = model.evidence.find(names[v]);
    if (found == model.evidence.end()) continue;
    if (!found->second.shape().empty()) {
      throw OptionError("evidence of '" + names[v] +
                        "' is in plates, which UAI files do not have: unroll the model first");
    }
    if (found->second[0] < 0) continue;
    pairs += " " + std::to_string(v) + " " + std::to_string(found->second[0]);
    ++count;
  }
  return std::to_string(count) + pairs + "\n";
}

}  // namespace plated
