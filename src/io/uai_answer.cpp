// Writes answers in the UAI competitions' format: the task on a line of its own, then the solution on one line.
#include "plated/uai_answer.hpp"

#include <cmath>

#include "io/numbers.hpp"

namespace plated {

std::string uai_pr(double ln_z) {
  std::string text = "PR\n";
  io::append_number(text, ln_z / std::log(10.0));
  return text + "\n";
}

std::string uai_mar(const std::vector<std::vector<double>>& marginals) {
  std::string text = "MAR\n" + std::to_string(marginals.size());
  for (const std::vector<double>& states : marginals) {
    text += " " + std::to_string(states.size());
    for (const double p : states) {
      text += ' ';
      io::append_number(text, p);
    }
  }
  return text + "\n";
}

std::string uai_map(const std::vector<std::int64_t>& states) {
  std::string text = "MAP\n" + std::to_string(states.size());
  for (const std::int64_t state : states) text += " " + std::to_string(state);
  return text + "\n";
}

}  // namespace plated
