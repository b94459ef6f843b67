// Observations as lists of rows: which slice, which state.
#pragma once

#include <map>
#include <string>

#include "plated/integer_view.hpp"

namespace plated {

/// What was observed of a variable in plates, one row for each observation: sparse data without an array of all slices.
/// Slices that no row is about are not observed, and several rows may be about one: each is an observation of its own.
///
///   Long votes{.states = IntegerView::view(vote),
///              .slices = {{"item", IntegerView::view(item)}, {"annotator", IntegerView::view(annotator)}}};
struct Long {
  /// From 0; a row with −1 says nothing.
  IntegerView states = {};
  /// For each plate of the variable, the slice that a row is about, from 0.
  std::map<std::string, IntegerView> slices = {};

  friend bool operator==(const Long&, const Long&) = default;
};

/// By variable.
using Lists = std::map<std::string, Long>;

}  // namespace plated
