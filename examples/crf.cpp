// A linear-chain conditional random field that tags words, decoded by MAP.
//
// Scores of tags for each word and of tags that follow each other are given here; learning them is another matter. The
// sentences are a batch of unequal lengths. Each best path is compared with all possible paths, and so is its
// probability.
#include <plated/plated.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "check.hpp"

using plated::Integers;
using plated::Tensor;

namespace {

constexpr double never = -INFINITY;
enum Tag { start, article, adjective, noun, verb, tags };
const char* const tag_names[] = {"start", "article", "adjective", "noun", "verb"};

// Score of a tag (column) after another (row).
const double follows[tags][tags] = {
    {never, 1.0, 0.0, 0.5, -1.0},    // start
    {never, -4.0, 1.0, 1.5, -3.0},   // article
    {never, -3.0, 0.0, 1.0, -2.0},   // adjective
    {never, -4.0, -2.0, -0.5, 1.5},  // noun
    {never, 1.0, 0.5, 0.5, -2.0},    // verb
};
// Score of a sentence to end with a tag.
const double ends[tags] = {never, -5.0, -1.0, 0.5, 0.0};

// What a word may be, by itself: scores of article, adjective, noun, verb.
const std::map<std::string, std::vector<double>> lexicon = {
    {"the", {4, -4, -4, -4}},      {"a", {4, -4, -4, -4}},        {"old", {-4, 2, 1, -4}},
    {"man", {-4, -4, 2, 0.5}},     {"boats", {-4, -4, 2, 0}},     {"young", {-4, 2, 1, -4}},
    {"left", {-4, 1, -1, 1.5}},    {"complex", {-4, 2, 0.5, -4}}, {"houses", {-4, -4, 2, 1}},
    {"families", {-4, -4, 2, -4}},
};

const std::vector<std::vector<std::string>> sentences = {
    {"the", "old", "man", "left"},
    {"the", "old", "man", "the", "boats"},
    {"the", "complex", "houses", "young", "families"},
    {"boats"},
};

double word_score(const std::string& word, int tag) {
  return tag == start ? never : lexicon.at(word)[static_cast<std::size_t>(tag - 1)];
}

/// Every path there is: the best score and the logarithm of the sum over all.
struct AllPaths {
  double best = never;
  double log_sum = never;
};

AllPaths all_paths(const std::vector<std::string>& words) {
  AllPaths result;
  std::vector<int> path(words.size(), article);
  std::vector<double> scores;
  for (bool more = true; more;) {
    double score = ends[path.back()];
    for (std::size_t t = 0; t < words.size(); ++t) {
      score += follows[t == 0 ? start : path[t - 1]][path[t]] + word_score(words[t], path[t]);
    }
    scores.push_back(score);
    more = false;
    for (int& tag : path) {  // the next path, like an odometer
      if (++tag < tags) {
        more = true;
        break;
      }
      tag = article;
    }
  }
  result.best = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (const double score : scores) sum += std::exp(score - result.best);
  result.log_sum = result.best + std::log(sum);
  return result;
}

}  // namespace

int main() {
  const auto count = std::ssize(sentences);
  std::int64_t longest = 0;
  Integers lengths({count});
  for (std::size_t n = 0; n < sentences.size(); ++n) {
    lengths.values[n] = std::ssize(sentences[n]);
    longest = std::max(longest, lengths.values[n]);
  }
  std::vector<double> words;  // sentence t tag; what lies past the end of a sentence is never read
  for (const std::vector<std::string>& sentence : sentences) {
    for (std::int64_t t = 0; t < longest; ++t) {
      for (int tag = 0; tag < tags; ++tag) {
        words.push_back(t < std::ssize(sentence) ? word_score(sentence[static_cast<std::size_t>(t)], tag) : never);
      }
    }
  }
  const std::vector<Tensor> factors = {
      Tensor::of<double>({tags}, {0, never, never, never, never}),
      Tensor::of({tags, tags}, std::vector<double>(&follows[0][0], &follows[0][0] + tags * tags)),
      Tensor::of({count, longest, tags}, words), Tensor::of({tags}, std::vector<double>(ends, ends + tags))};
  // Outside of the chain `before` is the first slice's and `tag` the last one's, wherever a sentence ends.
  const char* const equation = "before, (t) before tag, sentence t tag, tag ->";
  const plated::EinsumOptions options{
      .batch = "sentence", .chains = {{"t", {"before->tag"}}}, .lengths = {{"t", lengths}}};

  const plated::MapResult best = plated::map(equation, factors, options);
  const plated::Marginals posterior = plated::marginals(equation, factors, options);
  Checks checks;
  for (std::int64_t n = 0; n < count; ++n) {
    const std::vector<std::string>& sentence = sentences[static_cast<std::size_t>(n)];
    const double score = best.score.at({n}), log_z = posterior.log_partition.at({n});
    std::printf("score %.2f, probability %.3f\n", score, std::exp(score - log_z));
    for (std::int64_t t = 0; t < std::ssize(sentence); ++t) {
      const std::string& word = sentence[static_cast<std::size_t>(t)];
      const auto tag = best.assignment.at("tag").at({n, t});
      int alone = article;
      for (int k = article; k < tags; ++k) alone = word_score(word, k) > word_score(word, alone) ? k : alone;
      std::printf("  %-9s %-10s P = %.3f%s%s\n", word.c_str(), tag_names[tag],
                  posterior.variables.at("tag").at({n, t, tag}),
                  alone == tag ? "" : "   by itself: ", alone == tag ? "" : tag_names[alone]);
    }
    const AllPaths all = all_paths(sentence);
    checks.near("the best of all paths", score, all.best, 1e-12);
    checks.near("the sum over all paths", log_z, all.log_sum, 1e-12);
    for (std::int64_t t = std::ssize(sentence); t < longest; ++t) {
      checks.that(best.assignment.at("tag").at({n, t}) == -1, "no tag past the end");
    }
  }
  checks.that(best.assignment.at("tag").at({1, 1}) == noun && best.assignment.at("tag").at({1, 2}) == verb,
              "the old (people) man the boats");
  return checks.exit_code();
}
