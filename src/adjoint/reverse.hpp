// The reverse sweep: propagates the masses (adjoints, [TVE] Sec. 4.3) of a plan's outputs to every value.
//
// The mass of a value is the derivative of the outputs, weighted with their cotangents, by the value's entries. In log
// space that is a sum of posterior probabilities: each step's mass is shared among its terms by their weights, which
// are normalised by the very sum that the step formed. Products over plates pass their mass on to every slice, so that
// nothing is ever divided or subtracted. In the real semiring the other factors take the weights' place, and
// leave-one-out products the place of the other slices.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "adjoint/scan_slices.hpp"

namespace plated::adjoint {

struct ReverseOptions {
  Semiring semiring = Semiring::log;  ///< log or real
  /// No cotangent is negative: large contractions may go through matrix products in log space.
  bool nonnegative = true;
  /// Plates and batch dims whose slices are distinguished, even in the mass of a value that is the same in all of them.
  SortedSet expand;
  /// Dims that the masses of all values have.
  SortedSet shared_by_all = {};
  /// What is written into an answer may be read again: it is not rounded to a narrower type.
  bool reads_answers = true;
  /// Nobody visits the steps of slices: a scan may answer for all that they read.
  bool skips_slices = false;
};

class Reverse {
 public:
  /// `writer`'s schedule was planned with keep_sums.
  Reverse(StepWriter& writer, ReverseOptions options);

  /// Takes the mass of an output from a further operand of the output's shape.
  void seed(std::size_t output);
  /// The mass of a value that no output depends on otherwise.
  void seed(ValueId value, ValueId mass) { mass_[value] = mass; }
  /// Ask for the mass of a value; to be called before run().
  void want(ValueId value);
  /// Have the mass of a scan's messages, before or after each slice, written into an answer: up to a factor of each row
  /// of states, where the answer tells all rows apart.
  void want_messages(ValueId messages, ValueId answer);
  /// Whether the mass of a value is needed for what has been asked so far.
  [[nodiscard]] bool is_wanted(ValueId value);
  /// Have an operand's mass, times a number, written into a new answer.
  void want_operand(std::size_t operand, planner::Scale scale = {});

  /// Called for each step whose output's mass is known, before it is passed on.
  using Visit = std::function<void(const planner::Step& step, std::size_t index)>;
  void run(const Visit& visit);

  /// The mass of a value; `none` where no output depends on it.
  [[nodiscard]] ValueId mass(ValueId value) const { return mass_[value]; }
  /// The loops of a step and of its output's mass.
  [[nodiscard]] SortedSet reach(const planner::Step& step) const;
  /// The value through which the plan reads an operand; `none` where it plays no part.
  [[nodiscard]] ValueId operand_value(std::size_t operand) const { return operand_value_[operand]; }
  /// Steps of the forward run.
  [[nodiscard]] std::size_t forward_steps() const { return forward_steps_; }

  /// How the output's mass is shared among the terms of a step in log space: `factors` times the terms' weights.
  [[nodiscard]] Terms shared(const planner::Step& step, std::vector<ValueId> factors) const;
  /// The same for its mass alone.
  [[nodiscard]] Terms shared_mass(const planner::Step& step);

  /// The scans of the forward run.
  [[nodiscard]] const AllSlices& scans() const { return scans_; }
  /// Of the messages after all slices of a scan and of the first one, where messages run back along the chain.
  struct Returned {
    ValueId results = none;
    ValueId first = none;
  };
  /// What runs back along a scan.
  struct Returning {
    ValueId last = none;   // the mass of the last message, or
    ValueId added = none;  // that others have given the messages before each slice
    /// Where the masses of messages before and after each slice go that are told.
    std::vector<ValueId> before = {}, after = {};
    /// Whether the scan back answers for all that its slices read: what that is, and where its masses go.
    bool answers_slices = false;
    std::vector<ValueId> factors = {}, answers = {};
    std::optional<planner::ScanForm> form = {};  // that of hidden Markov models
  };
  [[nodiscard]] Returned pass_back(const Slices& slices, const Returning& masses) const;

 private:
  /// Passes the masses of a scan's messages along its chain.
  void pass_along(const Slices& slices);
  [[nodiscard]] ValueId present_part(ValueId mass, ValueId present) const;
  /// Whether the ratios of masses to messages can run back, as contexts do, and not the masses themselves.
  [[nodiscard]] bool has_ratios(const Slices& slices, const Returning& masses) const;
  [[nodiscard]] Returned send_ratios(const Slices& slices, const Returning& masses) const;
  [[nodiscard]] ValueId last_mass(const Slices& slices, const Returning& masses) const;
  void write_return(const Slices& slices, const Returning& masses, planner::Scan& back, SliceBody& body) const;
  /// The dims of masses besides the states: they may tell slices apart that messages do not.
  [[nodiscard]] std::vector<DimId> kept_in(const Slices& slices, const Returning& masses) const;
  /// Whether the scan back answers for its slices: where there are kernels for it, or where slices are large.
  void find_factors(const Slices& slices, Returning& masses) const;
  void find_form(const Slices& slices, Returning& masses) const;
  void choose_answers(const Slices& slices, Returning& masses);
  void activate(ValueId value);
  void spread_activity();
  void spread_slices();
  [[nodiscard]] ValueId pass_to_joint(const planner::Step& step);
  void pass_to(const planner::Step& step, std::size_t input);
  [[nodiscard]] bool passes_as_it_is(const planner::Step& step, ValueId in) const;
  void pass_log(const planner::Step& step, std::size_t input);
  void pass_real(const planner::Step& step, std::size_t input);
  void pass_gathered(const planner::Step& step, std::size_t input);
  [[nodiscard]] std::vector<DimId> mass_dims(ValueId value) const;
  void begin_mass(ValueId value);
  void add(ValueId value, Terms terms, const SortedSet& loops);
  /// A leave-one-out product as the mass of its input, which is never an operand.
  void add(ValueId value, ValueId whole);

  StepWriter& writer_;
  ReverseOptions options_;
  std::size_t forward_steps_;
  std::vector<ValueId> operand_value_;       // [operand]
  std::vector<bool> wanted_;                 // [value]: its mass is asked for by itself
  std::vector<bool> active_;                 // [value]: its mass is asked for, or leads to one that is
  bool spread_ = true;                       // all that depends on an active value is active
  std::vector<SortedSet> slices_;            // [value]: dims of its mass beyond its own
  std::vector<ValueId> mass_;                // [value]
  std::vector<ValueId> log_mass_;            // [value]
  std::vector<ValueId> log_ratio_;           // [value]; of its mass to itself
  std::vector<std::uint32_t> uses_;          // [value]: inputs of forward steps that it is
  std::vector<bool> is_leave_one_out_;       // [value]
  std::vector<ValueId> target_;              // [value]: where the mass of an operand goes
  std::vector<planner::Scale> scale_;        // [value]: of what goes there
  std::vector<std::vector<ValueId>> tells_;  // [value]: the answers that messages' masses are
  std::vector<bool> answered_;               // [step]: of slices for which the scan back has answered
  AllSlices scans_;
};

}  // namespace plated::adjoint
