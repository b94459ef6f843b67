// The models of [TVE] Table 1 whose emissions are tables, as models that fit() learns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <plated/fit.hpp>

#include "piano_rolls.hpp"

namespace experiments {

/// How the hidden states of a step depend on those before.
enum class Structure : std::uint8_t {
  hmm,           ///< p(x | x before)
  factorial,     ///< p(x | x before) p(w | w before)
  partial,       ///< p(x | x before, w) p(w | w before)
  second_order,  ///< λ A1[x before, x] + (1 − λ) A2[x two steps before, x]
};

/// A model by its name in the paper: "HMM", "arPFHMM", "nn2HMM". Throws std::runtime_error.
struct MusicModelName {
  explicit MusicModelName(const std::string& name);
  Structure structure = Structure::hmm;
  bool autoregressive = false;
  bool neural = false;
};

/// The number of states of one hidden variable: `states` are those of a step, of which a factorial model's two
/// variables have the square root each.
[[nodiscard]] std::int64_t states_of_variable(Structure structure, std::int64_t states);

/// The model with random tables. Before the first step hidden states are 0 and notes are off. Notes start from chances
/// that are scattered around their frequencies in the training set: from chances of any size, a few states would be
/// nearer to all of the data than the others, and would keep them.
[[nodiscard]] plated::Model table_model(const MusicModelName& name, std::int64_t states, const PianoRolls& train,
                                        std::uint32_t seed);

/// The notes, and those of the step before where the model is autoregressive.
[[nodiscard]] plated::Data table_data(const MusicModelName& name, const PianoRolls& rolls);

}  // namespace experiments
