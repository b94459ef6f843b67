// Reads Sentihood's tables and GloVe's vectors, and scores predictions.
#include "sentiment/sentihood.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace experiments {
namespace {

using Predict = std::function<std::vector<Opinion>(const std::vector<Example>&)>;

std::vector<std::string> cut(const std::string& line, char at) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, at);) cells.push_back(cell);
  return cells;
}

Opinion opinion_named(const std::string& name) {
  if (name == "none") return none;
  if (name == "positive") return positive;
  if (name == "negative") return negative;
  throw std::runtime_error("there is no opinion " + name);
}

Split read_split(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line) || !line.starts_with("id\tflat_location1\tflat_location2\tlocation1:price")) {
    throw std::runtime_error(path + " has other columns, or is not there");
  }
  Split split;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = cut(line, '\t');
    if (cells.size() != 12) throw std::runtime_error(path + ": a line has other columns");
    Sentence sentence;
    sentence.id = cells[0];
    for (std::size_t l = 0; l < locations; ++l) sentence.flat[l] = cells[1 + l] == "1";
    for (std::size_t p = 0; p < pairs; ++p) sentence.gold[p] = opinion_named(cells[3 + p]);
    sentence.words = cut(cells[11], ' ');
    sentence.words.insert(sentence.words.begin(), "<bos>");
    sentence.words.emplace_back("<eos>");
    split.sentences.push_back(std::move(sentence));
  }
  return split;
}

double accuracy_of(const std::vector<Example>& examples, const std::vector<Opinion>& found) {
  double right = 0, counted = 0;
  for (std::size_t k = 0; k < examples.size(); ++k) {
    const Example& example = examples[k];
    if (example.gold() == none || !example.sentence->flat[static_cast<std::size_t>(example.pair / aspects)]) continue;
    counted += 1;
    right += found[k] == example.gold() ? 1 : 0;
  }
  return right / counted;
}

}  // namespace

std::vector<Example> Split::flat() const {
  std::vector<Example> examples;
  for (const Example& example : all()) {
    if (example.sentence->flat[static_cast<std::size_t>(example.pair / aspects)]) examples.push_back(example);
  }
  return examples;
}

std::vector<Example> Split::all() const {
  std::vector<Example> examples;
  for (const Sentence& sentence : sentences) {
    for (int pair = 0; pair < pairs; ++pair) examples.push_back({&sentence, pair});
  }
  return examples;
}

Sentihood::Sentihood(const std::string& folder)
    : train(read_split(folder + "/sentihood/train.tsv")),
      dev(read_split(folder + "/sentihood/dev.tsv")),
      test(read_split(folder + "/sentihood/test.tsv")) {
  for (Split* split : {&train, &dev, &test}) {
    for (Sentence& sentence : split->sentences) {
      for (const std::string& word : sentence.words) {
        sentence.rows.push_back(vocabulary_.emplace(word, static_cast<std::int64_t>(vocabulary_.size())).first->second);
      }
    }
  }
  constexpr std::int64_t length = 100;
  std::vector<float> table(vocabulary_.size() * length, 0.0F);
  std::vector<bool> known(vocabulary_.size(), false);
  const std::string path = folder + "/embeddings/glove.6B.100d.sentihood.txt";
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + " is not there");
  for (std::string line; std::getline(file, line);) {
    std::istringstream stream(line);
    std::string word;
    stream >> word;
    const auto found = vocabulary_.find(word);
    if (found == vocabulary_.end()) continue;
    const auto row = static_cast<std::size_t>(found->second);
    known[row] = true;
    for (std::size_t k = 0; k < length; ++k) stream >> table[row * length + k];
    if (!stream) throw std::runtime_error(path + ": a row is too short");
  }
  double tokens = 0;
  for (const Split* split : {&train, &dev, &test}) {
    for (const Sentence& sentence : split->sentences) {
      for (std::size_t k = 1; k + 1 < sentence.rows.size(); ++k) {
        tokens += 1;
        covered += known[static_cast<std::size_t>(sentence.rows[k])] ? 1 : 0;
      }
    }
  }
  covered /= tokens;
  vectors = at::tensor(table, at::kFloat).reshape({static_cast<std::int64_t>(vocabulary_.size()), length});
}

Sentence Sentihood::sentence(const std::vector<std::string>& words) const {
  Sentence made;
  made.words = words;
  made.words.insert(made.words.begin(), "<bos>");
  made.words.emplace_back("<eos>");
  for (const std::string& word : made.words) made.rows.push_back(vocabulary_.at(word));
  return made;
}

double accuracy(const Split& split, const Predict& predict) {
  std::vector<Example> examples;
  for (const Example& example : split.flat()) {
    if (example.gold() != none) examples.push_back(example);
  }
  return accuracy_of(examples, predict(examples));
}

Scores scored(const Split& split, const Predict& predict) {
  const std::vector<Example> examples = split.all();
  const std::vector<Opinion> found = predict(examples);
  double precision = 0, recall = 0, units = 0;
  for (std::size_t begin = 0; begin < examples.size(); begin += aspects) {  // a sentence and a location
    double right = 0, predicted = 0, wanted = 0;
    for (std::size_t k = begin; k < begin + aspects; ++k) {
      const Opinion gold = examples[k].gold();
      predicted += found[k] != none ? 1 : 0;
      wanted += gold != none ? 1 : 0;
      right += gold != none && found[k] == gold ? 1 : 0;
    }
    if (wanted == 0) continue;
    units += 1;
    precision += predicted > 0 ? right / predicted : 0;
    recall += right / wanted;
  }
  precision /= units;
  recall /= units;
  const double sum = precision + recall;
  return {.accuracy = accuracy_of(examples, found), .f1 = sum > 0 ? 2 * precision * recall / sum : 0};
}

}  // namespace experiments
