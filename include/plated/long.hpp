// Observations as lists of rows: which slice, which state.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "plated/integer_view.hpp"
#include "plated/model.hpp"

namespace plated {

/// What was observed of a variable in plates, one row for each observation: sparse data without an array of all slices.
///
///   Long votes{.states = IntegerView::view(vote),
///              .slices = {{"item", IntegerView::view(item)}, {"annotator", IntegerView::view(annotator)}}};
struct Long {
  /// From 0; a row with −1 says nothing.
  IntegerView states = {};
  /// For each plate of the variable, the slice that a row is about, from 0.
  std::map<std::string, IntegerView> slices = {};
};

/// By variable.
using Lists = std::map<std::string, Long>;

/// Gives a model observations of a variable that only its own distribution holds. Slices that no row is about are not
/// observed, and several rows may be about one: each is an observation of its own.
///
/// Such a variable is then in a plate of rows, `rows_of_vote`, instead of those plates that no parent of it is in;
/// where its distribution has an axis for one of them, that is a variable, `annotator_of_vote`, which is observed. So
/// the rows of an item cost what they hold: confusion[annotator[r], truth, vote[r]] is read in place. There is room for
/// the longest list of a slice of the parents' plates in each. Factors keep their names and shapes.
///
/// Throws UnknownNameError, ShapeError, ValueError for slices and states that do not exist, and OptionError where
/// another factor holds the variable.
void observe(Model& model, std::string_view variable, const Long& list);

}  // namespace plated
