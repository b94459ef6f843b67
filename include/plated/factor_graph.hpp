// Plated factor graphs: the symbolic model (V, F, E, P) with sizes, without data.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plated {

class FactorGraph;

/// Index of a dim in FactorGraph::dims().
using DimId = std::uint32_t;

namespace graph {

class Derived;
class Resolver;

/// An index of a graph, which copies of the graph share until one of them changes it. Nobody outside sees a reference.
template <class T>
class Shared {
 public:
  const T& operator*() const { return value_ ? *value_ : nothing(); }
  const T* operator->() const { return &**this; }

 protected:
  friend class plated::FactorGraph;

  T& edit() {
    if (!value_) {
      value_ = std::make_shared<T>();
    } else if (value_.use_count() > 1) {
      value_ = std::make_shared<T>(*value_);
    } else {
      // Another thread may have just let go of it: a share taken and dropped comes after all that was read there.
      (void)std::shared_ptr<T>(value_);
    }
    return *value_;
  }
  static const T& nothing() {
    static const T value;
    return value;
  }

  std::shared_ptr<T> value_;
};

/// What callers have references to: copies of a graph have their own, so that these stay where they are when a graph
/// changes. Graphs that Plated derives for itself may share it: a model may have a hundred thousand factors.
template <class T>
class Owned : public Shared<T> {
 public:
  Owned() = default;
  Owned(const Owned& other) : Shared<T>() {
    if (other.value_) this->value_ = std::make_shared<T>(*other.value_);
  }
  Owned(Owned&&) noexcept = default;
  Owned& operator=(const Owned& other) { return *this = Owned(other); }
  Owned& operator=(Owned&&) noexcept = default;
  ~Owned() = default;

  /// The same memory, until one of the two changes.
  [[nodiscard]] Owned shared() const {
    Owned result;
    result.value_ = this->value_;
    return result;
  }
};

/// P(v) for each variable, indexed by DimId.
using PlateSets = std::vector<std::vector<DimId>>;

/// P(v) once it has been inferred. Any number of threads may look for it and keep it at once.
class KnownPlates {
 public:
  KnownPlates() = default;
  KnownPlates(const KnownPlates& other) noexcept : plates_(other.share()) {}
  KnownPlates& operator=(const KnownPlates& other) noexcept {
    if (this != &other) plates_ = other.share();
    return *this;
  }
  ~KnownPlates() = default;

  /// Null where nobody has kept it yet.
  [[nodiscard]] const PlateSets* find() const { return share().get(); }
  /// Returns what is kept: the first stays.
  const PlateSets& keep(PlateSets plates) const {
    const std::scoped_lock lock(mutex_);
    if (!plates_) plates_ = std::make_shared<const PlateSets>(std::move(plates));
    return *plates_;
  }
  void forget() { plates_.reset(); }

 private:
  [[nodiscard]] std::shared_ptr<const PlateSets> share() const {
    const std::scoped_lock lock(mutex_);
    return plates_;
  }

  mutable std::mutex mutex_;
  mutable std::shared_ptr<const PlateSets> plates_;
};

}  // namespace graph

/// What the index of a dim ranges over: the states of a variable, the slices of a plate, independent problems, or the
/// slices of a chain: an ordered plate whose neighbouring slices share variables.
enum class DimKind : std::uint8_t { variable, plate, batch, chain };

/// Whether a dim has slices that are multiplied: plates and chains.
[[nodiscard]] constexpr bool has_slices(DimKind kind) { return kind == DimKind::plate || kind == DimKind::chain; }

/// Which slice of a chain a variable outside of it stands for.
enum class End : std::uint8_t { none, first, last };

/// A named dim; `size` is |dom(v)| for a variable, M(b) for a plate, and the number of slices of a chain.
struct Dim {
  std::string name;
  DimKind kind = DimKind::variable;
  std::int64_t size = 0;
  /// Of `^v` and `v$`: which slice's v it is, and v itself. An end is another name of a copy of v, not an
  /// additional variable.
  End end = End::none;
  DimId of = 0;
};

/// Slice t's `target` is slice t+1's `source`.
struct Link {
  DimId source = 0;
  DimId target = 0;
  bool operator==(const Link&) const = default;
};

/// A chain and its links. Its linked variables live in it and share their plates.
struct Chain {
  DimId dim = 0;
  std::vector<Link> links;
};

/// How the first and the last slice's `v` are named outside of its chain: `^v` and `v$`.
[[nodiscard]] std::string first(std::string_view variable);
[[nodiscard]] std::string last(std::string_view variable);

/// A factor: the dims of its operand's axes in order (a dim may repeat: its diagonal), and the plates it is tied in:
/// it lives in them, but its operand has no such axis.
struct Factor {
  std::string name;
  std::vector<DimId> dims;
  std::vector<DimId> tied;
  /// Set where the factor is a distribution of this variable given its other variables.
  std::optional<DimId> distribution_of;
  /// A distribution whose sums are not checked.
  bool trusted = false;
};

/// An output: the dims of its axes in order, batch dims that are not written first. A dim repeats only in unrolled
/// chains where two ends are one state (`^a a$` of a single slice); then all but the diagonal is zero.
struct Output {
  std::vector<DimId> dims;
};

/// How an equation is to be read.
struct EquationOptions {
  std::string plates = {};  ///< dims that are plates, spelled as in the equation
  std::string batch = {};   ///< dims that are batch dims
  /// Dims that are chains, by name, each with its links, as in {"t", {"a->b"}}.
  std::map<std::string, std::vector<std::string>> chains = {};
  std::map<std::string, std::int64_t> sizes = {};  ///< of dims that no operand carries; checked where one does
  /// True: names separated by blanks; false: one letter per dim; not set: spaced iff blanks separate two dims
  /// inside one term or parenthesis.
  std::optional<bool> spaced = {};
};

/// Further properties of a factor in the builder.
struct FactorOptions {
  std::vector<std::string> tied = {};
  std::optional<std::string> distribution_of = {};
  bool trusted = false;
};

struct UnrolledGraph;

/// A plated factor graph ([TVE] Def. 2) with the sizes of its dims and the outputs asked of it.
///
///   FactorGraph g;
///   g.plate("i", 100);
///   g.variable("x", 2);
///   g.variable("y", 3);
///   g.factor("prior", {"x"});
///   g.factor("likelihood", {"i", "x", "y"});
///   g.output({});
///
/// P(v) of a variable is the set given to the builder or, if none is given, the largest set consistent with the
/// graph: the intersection of the plates of every factor and output that holds it.
class FactorGraph {
 public:
  FactorGraph() = default;

  /// The graph of an equation and its operands' shapes. Throws ParseError, RankError, SizeError, OperandCountError,
  /// UnknownNameError, DuplicateNameError and PlateError.
  [[nodiscard]] static FactorGraph from_equation(std::string_view equation,
                                                 std::span<const std::vector<std::int64_t>> shapes,
                                                 const EquationOptions& options = {});

  /// Declare a dim. Throws DuplicateNameError, ParseError for a name that an equation could not spell, SizeError.
  DimId plate(std::string_view name, std::int64_t size);
  DimId batch(std::string_view name, std::int64_t size);
  DimId chain(std::string_view name, std::int64_t size);
  DimId variable(std::string_view name, std::int64_t domain);
  /// A variable whose plates are stated; validate() checks them against the factors.
  DimId variable(std::string_view name, std::int64_t domain, const std::vector<std::string>& plates);

  /// Slice t's `target` is slice t+1's `source`. Links are declared before the factors and outputs. Throws
  /// UnknownNameError, SizeError where the domains differ, and PlateError for a variable that is linked twice.
  void link(std::string_view chain, std::string_view source, std::string_view target);

  /// Add a factor whose operand's axes are `dims`, in that order; returns its index, which is its operand's too. Where
  /// the factor lies outside a chain, first(v) and last(v) name the ends of its variables, a bare source is the first
  /// slice's and a bare target the last slice's. A factor without a name is called f and the first number from its
  /// index on that is free. Throws DuplicateNameError for a name that another factor has.
  std::size_t factor(std::string_view name, const std::vector<std::string>& dims, const FactorOptions& options = {});
  /// Add an output; returns its index.
  std::size_t output(const std::vector<std::string>& dims);

  /// The same graph with other outputs. Every variable keeps its plates, even those that come from outputs.
  [[nodiscard]] FactorGraph asking(const std::vector<std::vector<std::string>>& outputs) const;

  /// The same graph with another number of slices in a plate or chain. Throws UnknownNameError and SizeError.
  [[nodiscard]] FactorGraph resized(std::string_view plate, std::int64_t size) const;
  /// The same graph with other sizes of plates, batch dims and chains, by DimId. Throws SizeError for a negative size,
  /// and for another domain of a variable.
  [[nodiscard]] FactorGraph resized(std::span<const std::int64_t> sizes) const;

  /// Throws PlateError where P(v) ⊄ P(f), where stated plates disagree with what is written, or where two outputs
  /// disagree on a variable's plates; where linked variables do not share theirs, or a factor or output holds one of
  /// them, or an end, outside of its plates; and for an end of a chain that does not exist or has no slices.
  void validate() const;

  [[nodiscard]] const std::vector<Dim>& dims() const { return *dims_; }
  [[nodiscard]] const std::vector<Factor>& factors() const { return *factors_; }
  [[nodiscard]] const std::vector<Output>& outputs() const { return outputs_; }
  [[nodiscard]] const std::vector<Chain>& chains() const { return chains_; }
  [[nodiscard]] std::optional<DimId> find(std::string_view name) const;
  /// The chain that links a variable.
  [[nodiscard]] std::optional<DimId> linking_chain(DimId variable) const;

  /// P(v) for each variable, indexed by DimId, sorted, chains among them; empty for dims that are none. Validates.
  /// Inferred when it is first asked for, and kept until the graph changes.
  [[nodiscard]] const std::vector<std::vector<DimId>>& variable_plates() const;
  /// P(f): the plates and chains among the factor's dims and tied dims, sorted.
  [[nodiscard]] std::vector<DimId> factor_plates(std::size_t factor) const;
  /// The variables that a factor involves, sorted, each once.
  [[nodiscard]] std::vector<DimId> factor_variables(std::size_t factor) const;

  /// Connected components, each the sorted factors that variables join; links join variables, and ends are joined to
  /// theirs. Variables of no factor are components without factors and are listed last.
  struct Component {
    std::vector<DimId> variables;
    std::vector<std::size_t> factors;
  };
  [[nodiscard]] std::vector<Component> components() const;

  /// The graph with one plate or chain, or all of them, replaced by copies ([TVE] Sec. 3). Names become `y[i=0]`; the
  /// states of a chain are numbered in order under the name of the first variable that its links lead through, T + m
  /// of them for m links in a row. Outputs that have the plate become one output for each slice. Throws
  /// UnknownNameError, DuplicateNameError where a copy gets a name that is taken, and SizeOverflowError beyond 2^31
  /// copies.
  [[nodiscard]] UnrolledGraph unroll(std::string_view plate) const;
  [[nodiscard]] UnrolledGraph unroll() const;

  /// The graph as an equation with spaced names.
  [[nodiscard]] std::string equation() const;
  /// A readable table of plates, variables, factors and outputs.
  [[nodiscard]] std::string print() const;

 private:
  /// A linked variable's place among the links of its chain.
  struct Linked {
    DimId chain = 0;
    std::optional<DimId> before, after;
  };
  DimId declare(std::string_view name, DimKind kind, std::int64_t size);
  std::size_t add(Factor factor);
  void connect(Chain& chain, Link link);
  [[nodiscard]] graph::PlateSets infer_plates() const;
  /// Every change comes by here.
  template <class T>
  T& edit(graph::Shared<T>& part) {
    known_plates_.forget();
    return part.edit();
  }
  template <class T>
  std::vector<T>& edit(std::vector<T>& list) {
    known_plates_.forget();
    return list;
  }
  friend class graph::Derived;
  friend class graph::Resolver;

  graph::Owned<std::vector<Dim>> dims_;
  std::vector<Chain> chains_;
  graph::Owned<std::vector<Factor>> factors_;
  // Those of graphs that Plated derives may repeat, and are not here.
  graph::Shared<std::set<std::string, std::less<>>> factor_names_;
  std::vector<Output> outputs_;
  graph::Shared<std::map<std::string, DimId, std::less<>>> by_name_;
  graph::Shared<std::map<DimId, std::vector<DimId>>> stated_plates_;
  graph::Shared<std::map<DimId, Linked>> linked_;
  graph::KnownPlates known_plates_;
};

/// The slice of an original operand or output that a copy is: `index` pairs an axis of the original with the index
/// fixed on it; the axes that are not fixed follow in order.
struct Slice {
  std::size_t original = 0;
  std::vector<std::pair<std::size_t, std::int64_t>> index;
};

/// An unrolled graph and where its factors and outputs come from.
struct UnrolledGraph {
  FactorGraph graph;
  std::vector<Slice> factors;
  std::vector<Slice> outputs;
};

}  // namespace plated
