// Reduces a model by its data before planning: absorbs evidence into the tables, drops impossible states.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plated/model.hpp"

namespace plated::reduce {

/// A smaller model with the same answers. Its dims have the ids of the original's; a variable that is known has a
/// single state and no factor.
struct Reduction {
  Model model;
  /// Variables that evidence removed, with their states, shaped by their plates.
  std::map<DimId, IntegerView> known;
  /// Variables whose evidence is a list of rows: a factor of their parents says what these say.
  std::set<DimId> listed;
  /// For variables that have lost states: the original numbers of the remaining ones.
  std::map<DimId, std::vector<std::int64_t>> kept;
  /// Some variable has no possible state: Z is zero.
  bool impossible = false;
};

/// What becomes of states that are observed in many slices.
enum class Reading : std::uint8_t {
  absorbed,  ///< tables have an entry for each slice in their place
  in_place,  ///< they stay evidence where such tables would be large, and runs read factors at them
};

/// Both of the below, in this order, on the model with further evidence and lengths: what they say of a variable or a
/// chain counts alone. Where the states of the evidence are not known yet, no state is dropped. Throws what observe()
/// throws.
[[nodiscard]] Reduction reduce(const Model& model, const Evidence& evidence = {}, const Lengths& lengths = {},
                               Reading reading = Reading::absorbed, bool states_known = true);

/// Takes variables that are observed in all their slices out of the factors. Evidence that cannot be absorbed so stays
/// evidence: of linked variables, of some slices only, and in ragged chains. Throws ValueError for a state that
/// does not exist.
void absorb_evidence(Reduction& reduction, Reading reading = Reading::absorbed);

/// The only factor that holds a variable, in the same slices, if runs can read it at the variable's states, and a table
/// with an entry for each slice would be large.
[[nodiscard]] std::optional<std::size_t> read_in_place_at(const Model& model, DimId variable);

/// Repeatedly drops states to which some factor without plates gives weight zero for all states of its other variables.
void drop_impossible(Reduction& reduction);

}  // namespace plated::reduce
