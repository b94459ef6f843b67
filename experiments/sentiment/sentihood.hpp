// Sentihood: sentences with opinions on four aspects of two locations, their words as vectors, and how predictions are
// scored.
#pragma once

#include <torch/torch.h>

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace experiments {

enum Opinion : std::int8_t { none, positive, negative };
constexpr int opinions = 3, locations = 2, aspects = 4, pairs = locations * aspects;

struct Sentence {
  std::string id;
  std::vector<std::string> words;      // between <bos> and <eos>
  std::vector<std::int64_t> rows;      // of the words' vectors
  std::array<bool, locations> flat{};  // the location stands alone in the text: its pairs are flat examples
  std::array<Opinion, pairs> gold{};   // by location, then aspect
};

/// A sentence and one of its pairs of location and aspect.
struct Example {
  const Sentence* sentence = nullptr;
  int pair = 0;
  [[nodiscard]] Opinion gold() const { return sentence->gold[static_cast<std::size_t>(pair)]; }
};

struct Split {
  std::vector<Sentence> sentences;

  /// Pairs whose location stands alone in the text; the others are left out of training and of the accuracy.
  [[nodiscard]] std::vector<Example> flat() const;
  /// All pairs.
  [[nodiscard]] std::vector<Example> all() const;
};

/// The three splits and the vectors of all of their words; words without one have zeros.
struct Sentihood {
  Split train, dev, test;
  at::Tensor vectors;  // [words, 100]
  double covered = 0;  // the share of tokens that have a vector

  explicit Sentihood(const std::string& folder);

  /// A sentence of known words, without opinions. Throws std::out_of_range for others.
  [[nodiscard]] Sentence sentence(const std::vector<std::string>& words) const;

 private:
  std::map<std::string, std::int64_t> vocabulary_;
};

struct Scores {
  double accuracy = 0;  // of flat examples whose opinion is not none
  double f1 = 0;        // of P and R, means over sentences and locations with an opinion
};

/// Predictions are asked for all examples at once.
[[nodiscard]] Scores scored(const Split& split,
                            const std::function<std::vector<Opinion>(const std::vector<Example>&)>& predict);
/// The accuracy alone, which needs fewer predictions.
[[nodiscard]] double accuracy(const Split& split,
                              const std::function<std::vector<Opinion>(const std::vector<Example>&)>& predict);

}  // namespace experiments
