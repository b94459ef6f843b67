// What random chains may be like.
#pragma once

namespace plated::test {

struct ChainOptions {
  double most_work = 60000;  // of the oracle: assignments × sites
  bool ragged = true;
  bool small_sizes = true;      // 0 and 1
  bool last_factors = true;     // on the last slice's variables
  bool nested = false;          // chains inside chains
  bool slice_ends = true;       // of variables that exist in slices alone: ^target, source$, ^w
  bool loose_parts = true;      // parts of slices that no linked variable is joined to
  bool outputs_across = false;  // outputs of variables of a slice that nothing joins
  bool odd = true;              // links that no factor spans, variables that nothing holds, names in any order
};

}  // namespace plated::test
