// Lists between tables, which are learnt, and messages, which runs read and give in the place of these.
#pragma once

#include <vector>

#include "model/listed.hpp"

namespace plated::learn {

/// Operands are by factor. Where lists are cut, messages have the groups of some slices, from `first` on.
class SpreadLists {
 public:
  /// The lists outlive it.
  SpreadLists(const std::vector<model::Listed>& lists, int threads) : lists_(lists), threads_(threads) {}

  /// Fills the messages of those whose factor is wanted.
  void spread(const std::vector<Tensor>& tables, const std::vector<Tensor>& messages, const std::vector<bool>& of,
              std::int64_t first = 0);
  /// Fills the tables.
  void collect(const std::vector<Tensor>& messages, const std::vector<Tensor>& tables, const std::vector<bool>& of,
               std::int64_t first = 0);

 private:
  const std::vector<model::Listed>& lists_;
  int threads_;
  model::ListedScratch scratch_;
};

}  // namespace plated::learn
