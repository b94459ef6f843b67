// What `plated explain` says, as JSON.
#pragma once

#include <string>

#include "plated/error.hpp"
#include "plated/model.hpp"
#include "plated/solve.hpp"

namespace plated::cli {

struct Verdict {
  std::string verdict;                            ///< tractable, intractable, too wide, impossible
  std::string reason = {};                        ///< none where tractable
  const IntractableError* intractable = nullptr;  ///< with its certificate, if that is the verdict
};

/// One object; what was planned is in it where something was.
[[nodiscard]] std::string explain_json(const Model& model, const Verdict& verdict, const Explanation* told = nullptr);

}  // namespace plated::cli
