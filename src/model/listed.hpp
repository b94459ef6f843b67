// Observations in lists: what the rows of a slice say together, and what is counted of it goes back to their table.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "plated/model.hpp"

namespace plated::model {

/// Memory that spreading and collecting need, which grows once.
struct ListedScratch {
  struct Step {
    std::int64_t size = 1;
    std::int64_t packed = 0;
    std::int64_t stride = 0;
  };
  std::vector<Step> steps;
  std::vector<double> packed;
};

/// Runs tasks 0 … count−1, each once, in any order or side by side.
using RunTasks = std::function<void(std::int64_t count, const std::function<void(std::int64_t)>& task)>;
/// One after the other.
void run_in_order(std::int64_t count, const std::function<void(std::int64_t)>& task);

/// Observed states that are read together at a table, in groups that are numbered from 0. All arrays have an entry for
/// each row.
struct GroupedRows {
  std::size_t factor = 0;  ///< whose table it is
  DimId child = 0;         ///< whose states these are
  IntegerView states;
  std::map<DimId, IntegerView> others;  ///< the table's other dims that a row is about: slices, and observed states
  IntegerView groups;
  std::int64_t count = 0;  ///< of groups
};

/// The rows of a variable that only its own distribution holds, sorted by the slices of its parents' plates: a number
/// of one, two or four bytes for each row, and where the rows of each group begin.
///
/// A group says one thing of its parents: the product of the table's entries at its rows. So the factor has an axis for
/// each of these plates, and for the parents, and neither the variable nor the rows are seen by a plan.
class Listed {
 public:
  /// Where the variable is in the plate `cut`, that is the first of the plates of groups. Throws as observe() of a list
  /// does.
  Listed(const Model& model, std::string_view variable, const Long& list, std::optional<DimId> cut = {});
  /// Groups of rows that are no slices of plates: messages have one axis for them.
  Listed(const Model& model, const GroupedRows& rows);

  [[nodiscard]] DimId variable() const { return variable_; }
  /// The factor whose table it is read at, the table as the model has it, and the axis of the variable.
  [[nodiscard]] std::size_t factor() const { return factor_; }
  [[nodiscard]] const Tensor& table() const { return table_; }
  [[nodiscard]] std::size_t child_axis() const { return child_axis_; }
  /// Of the factor that groups have in its place: plates, then batch dims and parents.
  [[nodiscard]] const Tensor::Shape& shape() const { return shape_; }
  /// The plates that tell groups apart.
  [[nodiscard]] const std::vector<DimId>& plates() const { return plates_; }
  /// Puts that factor into a model, whose variable has one state in no plate from now on, and no list.
  void put_factor(Model& model) const;
  /// The same with its numbers, where the model is in log space.
  void put_message(Model& model) const;

  /// Logarithms: message[group, parents] = Σ over rows of the group of table[parents, states of the row]. The message
  /// is row-major. It may have fewer slices of plates than the list: the first ones or, where the list is cut, some.
  void spread(const Tensor& table, const Tensor& message, ListedScratch& scratch, const RunTasks& run = run_in_order,
              std::int64_t first_slice = 0) const;
  /// table[parents, states] = the sum of a message's entries over the rows that are read at them, for such a message.
  /// The table has no gaps in memory.
  void collect(const Tensor& message, const Tensor& table, ListedScratch& scratch, const RunTasks& run = run_in_order,
               std::int64_t first_slice = 0) const;

 private:
  struct Axis {
    std::size_t axis = 0;  // of the table
    std::int64_t size = 1;
    std::int64_t step = 0;        // in numbers of rows, groups or entries of a packed row
    std::size_t diagonal_of = 0;  // the first axis of the same dim: itself, or one that it is the diagonal with
  };
  /// Groups of a message, by their place in it.
  class MessageGroups;
  void find_groups(const Model& model, std::optional<DimId> cut);
  /// `of_rows`: the table's dims that rows are about.
  void find_axes(const Model& model, const std::vector<DimId>& of_rows);
  void sort_rows(const Model& model, const Long& list);
  /// Of numbers that are summed up to the kind of each row, and to its group.
  struct Numbers {
    const IntegerView* entries = nullptr;
    std::int64_t step = 0;
  };
  void sort_rows(const IntegerView& states, std::vector<Numbers> codes, std::vector<Numbers> in_group,
                 std::int64_t groups);
  /// How much each dim of rows adds to their kind.
  template <class EntriesOf>
  [[nodiscard]] std::vector<Numbers> codes(const std::vector<DimId>& dims, const EntriesOf& entries_of) const;
  /// How the entries of a table are packed, with those of a row next to each other.
  void find_steps(const Tensor& table, ListedScratch& scratch) const;
  [[nodiscard]] std::int64_t groups() const { return std::ssize(begins_) - 1; }
  /// Whether the entries of a table lie as they are packed.
  [[nodiscard]] bool is_packed(const ListedScratch& scratch) const;
  /// Where the packed rows of a group begin.
  [[nodiscard]] std::int64_t table_at(std::int64_t group) const;
  template <class Code>
  [[nodiscard]] std::span<const Code> rows_of(std::span<const Code> rows, std::int64_t group) const {
    const std::uint32_t* const begin = begins_.data() + group;
    return rows.subspan(begin[0], begin[1] - begin[0]);
  }

  DimId variable_ = 0;
  std::size_t factor_ = 0;
  Tensor table_;
  std::size_t child_axis_ = 0;
  Tensor::Shape shape_;
  bool is_cut_ = false;
  std::vector<DimId> plates_;           // of groups
  std::vector<DimId> dims_;             // of the factor in its place
  std::vector<Axis> of_rows_;           // the child, and plates that no parent is in
  std::vector<Axis> of_group_;          // plates of groups
  std::vector<Axis> free_;              // parents and batch dims
  std::int64_t codes_ = 1;              // kinds of rows
  std::int64_t tables_ = 1;             // kinds of groups, by the axes that the table has for their plates
  std::int64_t width_ = 1;              // entries of a message
  std::size_t group_axes_ = 0;          // of messages
  std::vector<std::int64_t> table_of_;  // [plate of groups]: steps among these kinds
  std::vector<std::uint32_t> begins_;   // [group + 1]
  std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>, std::vector<std::uint32_t>> rows_;
};

}  // namespace plated::model
