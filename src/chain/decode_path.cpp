// Traces paths, many rows and samples at a time.
#include "chain/decode_path.hpp"

#include <algorithm>
#include <memory>

#include "base/watch.hpp"
#include "chain/decode_row.hpp"
#include "chain/messages.hpp"
#include "engine/thread_pool.hpp"
#include "kernels/choose.hpp"

namespace plated::chain {
namespace {

// A task's answers of a few neighbouring slices stay in the second-level cache.
constexpr std::int64_t pairs_per_task = 512;

}  // namespace

/// Chooses for some pairs in all slices of a block.
class Path::Worker {
 public:
  Worker(Path& path, const SliceWeights& weights, const TraceBlock& block)
      : path_(path),
        slice_(path.slice_),
        weights_(weights),
        block_(block),
        rows_(slice_, weights, path.call_.settings.semiring),
        base_(weights.inputs.size() * static_cast<std::size_t>(pairs_per_task)),
        offset_(weights.inputs.size()),
        sample_(path.choice_.draw ? numbers_at_once : 0),
        number_(sample_.size()),
        uniform_(sample_.size()),
        state_(slice_.chosen.size()),
        known_(slice_.known.size()) {
    if (!path.choice_.draw || path.states_.samples() < 2 || !count_keys()) return;
    key_.resize(static_cast<std::size_t>(pairs_per_task));
    sums_.resize(static_cast<std::size_t>(keys_ * rows_.states()));
    known_at_.assign(static_cast<std::size_t>(keys_), -1);
  }

  void run(std::int64_t first, std::int64_t count) {
    first_ = first;
    count_ = count;
    find_bases();
    base::Pace pace;
    const std::int64_t at_once = path_.choice_.draw ? std::max<std::int64_t>(1, numbers_at_once / count) : block_.count;
    for (std::int64_t done = 0; done < block_.count; done += at_once) {
      const std::int64_t some = std::min(at_once, block_.count - done);
      if (path_.choice_.draw) draw_numbers(done, some);
      for (std::int64_t k = 0; k < some; ++k) {
        choose_slice(slice_at(done + k), path_.choice_.draw ? uniform_.data() + k * count : nullptr);
        if (pace.stops(count * rows_.states())) return;
      }
    }
  }

 private:
  static constexpr std::int64_t numbers_at_once = 4096;
  static constexpr std::int64_t most_sums = 1 << 17;
  static_assert(numbers_at_once >= pairs_per_task);

  [[nodiscard]] std::int64_t links() const { return static_cast<std::int64_t>(slice_.known.size()); }
  /// Slices are taken from the end where the result is.
  [[nodiscard]] std::int64_t slice_at(std::int64_t k) const { return path_.piece_.forward ? block_.count - 1 - k : k; }
  [[nodiscard]] std::int64_t sample_of(std::int64_t pair) const { return (first_ + pair) / path_.rows_; }
  [[nodiscard]] std::int64_t row_of(std::int64_t pair) const { return (first_ + pair) % path_.rows_; }

  /// How many different rows of weights samples may meet in a slice; whether they are few enough to be kept.
  [[nodiscard]] bool count_keys() {
    keys_ = path_.rows_;
    const FactorGraph& graph = path_.states_.graph();
    for (const std::vector<DimId>* variables : {&path_.piece_.outer, &slice_.known}) {
      for (const DimId v : *variables) {
        keys_ *= graph.dims()[v].size;
        if (keys_ * rows_.states() > most_sums) return false;
      }
    }
    return keys_ * rows_.states() <= most_sums;
  }

  /// Rows and outer variables do not change along the chain.
  void find_bases() {
    const FactorGraph& graph = path_.states_.graph();
    for (std::int64_t p = 0; p < count_; ++p) {
      const std::int64_t sample = sample_of(p), row = row_of(p);
      std::int64_t key = row;
      for (std::size_t i = 0; i < weights_.inputs.size(); ++i) base(i, p) = weights_.inputs[i].row[row];
      for (std::size_t o = 0; o < path_.outer_.size(); ++o) {
        const Answer& outer = path_.outer_[o];
        const std::int64_t state = outer.values[sample * outer.per_sample + outer.row[row]];
        for (std::size_t i = 0; i < weights_.inputs.size(); ++i) base(i, p) += state * weights_.inputs[i].outer[o];
        key = key * graph.dims()[path_.piece_.outer[o]].size + state;
      }
      if (!key_.empty()) key_[p] = key;
    }
  }
  [[nodiscard]] std::int64_t& base(std::size_t input, std::int64_t pair) {
    return base_[static_cast<std::int64_t>(input) * pairs_per_task + pair];
  }

  void draw_numbers(std::int64_t first_step, std::int64_t steps) {
    if (slice_.chosen.empty()) return;
    const Answer& answer = path_.chosen_[0];
    std::int64_t n = 0;
    for (std::int64_t k = 0; k < steps; ++k) {
      const std::int64_t slice = block_.first + slice_at(first_step + k);
      for (std::int64_t p = 0; p < count_; ++p, ++n) {
        sample_[n] = path_.choice_.first + sample_of(p);
        number_[n] = answer.row[row_of(p)] + slice * answer.step;
      }
    }
    kernels::choose_uniforms(path_.choice_.seed, slice_.chosen[0], sample_.data(), number_.data(), n, uniform_.data());
  }

  void choose_slice(std::int64_t s, const double* uniform) {
    const std::int64_t slice = block_.first + s;
    std::int64_t sample = sample_of(0), row = row_of(0);
    for (std::int64_t p = 0; p < count_; ++p) {
      if (slice < path_.lengths_[row]) {
        std::uint32_t* known = path_.at_.data() + (first_ + p) * links();
        std::uint32_t tuple = 0;
        if (!slice_.chosen.empty()) {
          tuple = path_.choice_.draw ? rows_.draw(sums(s, p, known), uniform[p]) : rows_.best(weigh(s, p, known));
        }
        write(sample, row, slice, known, tuple);
      }
      if (++row == path_.rows_) row = 0, ++sample;
    }
  }

  [[nodiscard]] double* weigh(std::int64_t s, std::int64_t pair, const std::uint32_t* known) {
    for (std::size_t i = 0; i < weights_.inputs.size(); ++i) {
      const SliceWeights::Input& input = weights_.inputs[i];
      offset_[i] = base(i, pair) + s * input.step;
      for (std::int64_t l = 0; l < links(); ++l) offset_[i] += known[l] * input.known[l];
    }
    return rows_.weigh(offset_.data());
  }

  /// Running sums of weights; samples that know the same share them.
  [[nodiscard]] const double* sums(std::int64_t s, std::int64_t pair, const std::uint32_t* known) {
    if (key_.empty()) {
      double* weight = weigh(s, pair, known);
      rows_.accumulate(weight);
      return weight;
    }
    std::int64_t key = key_[pair];
    for (std::int64_t l = 0; l < links(); ++l) {
      key = key * path_.states_.graph().dims()[slice_.known[l]].size + known[l];
    }
    double* kept = sums_.data() + key * rows_.states();
    if (known_at_[key] != s) {
      double* weight = weigh(s, pair, known);
      rows_.accumulate(weight);
      std::copy_n(weight, rows_.states(), kept);
      known_at_[key] = s;
    }
    return kept;
  }

  void write(std::int64_t sample, std::int64_t row, std::int64_t slice, std::uint32_t* known, std::uint32_t tuple) {
    const auto put = [&](const Answer& answer, std::uint32_t state) {
      answer.values[sample * answer.per_sample + answer.row[row] + slice * answer.step] = state;
    };
    for (std::size_t v = state_.size(); v-- > 0;) {
      const auto extent = static_cast<std::uint32_t>(slice_.extent[v]);
      state_[v] = v == 0 ? tuple : tuple % extent;
      if (v > 0) tuple /= extent;
      put(path_.chosen_[v], state_[v]);
    }
    for (std::size_t l = 0; l < slice_.known.size(); ++l) {
      put(path_.known_[l], known[l]);
      known_[l] = known[l];
    }
    for (std::size_t l = 0; l < slice_.next.size(); ++l) {
      const SliceChoice::Source& from = slice_.next[l];
      known[l] = from.is_chosen ? state_[from.index] : known_[from.index];
    }
  }

  Path& path_;
  const SliceChoice& slice_;
  const SliceWeights& weights_;
  const TraceBlock& block_;
  RowChooser rows_;
  std::int64_t first_ = 0;  // the pairs at work
  std::int64_t count_ = 0;
  std::vector<std::int64_t> base_;  // [input, pair]
  std::vector<std::int64_t> offset_;
  std::vector<std::int64_t> sample_;  // of each number that is drawn
  std::vector<std::int64_t> number_;
  std::vector<double> uniform_;
  std::int64_t keys_ = 0;
  std::vector<std::int64_t> key_;       // [pair]; empty: no sums are kept
  std::vector<double> sums_;            // [key, state]
  std::vector<std::int64_t> known_at_;  // [key]: the slice that its sums are of
  std::vector<std::uint32_t> state_;
  std::vector<std::uint32_t> known_;
};

Path::Path(const Program& program, std::size_t piece, const adjoint::Choice& choice, const Call& call, States& states)
    : program_(program),
      index_(piece),
      piece_(program.pieces().pieces[piece]),
      choice_(choice),
      call_(call),
      states_(states),
      slice_(slice_choice(program.pieces().graph, piece_, program.body(piece))) {
  const FactorGraph& graph = states_.graph();
  rows_ = elements(graph, piece_.rows);
  pairs_ = states.samples() * rows_;
  lengths_.assign(static_cast<std::size_t>(rows_), graph.dims()[piece_.chain].size);
  if (const Ragged* ragged = call.ragged(piece_.chain)) {
    lengths_ = ragged->over(piece_.rows, engine::sizes(graph, piece_.rows)).values;
  }
  for (const DimId v : piece_.outer) outer_.push_back(answer(v));
  for (const DimId v : slice_.known) known_.push_back(answer(v));
  for (const DimId v : slice_.chosen) chosen_.push_back(answer(v));
}

Path::Answer Path::answer(DimId v) {
  return {.values = states_.of(v),
          .per_sample = states_.per_sample(v),
          .row = states_.places(v, piece_.rows),
          .step = states_.stride(v, piece_.chain)};
}

void Path::trace(Sweep& sweep) {
  if (pairs_ == 0 || sweep.states() == 0) return;
  begin();
  sweep.trace([&](const TraceBlock& block) { choose(block); });
  end();
}

void Path::begin() {
  const std::size_t links = piece_.links.size();
  at_.resize(static_cast<std::size_t>(pairs_) * links);
  for (std::size_t l = 0; l < links; ++l) {
    const Answer known = answer(piece_.result()[l]);
    for (std::int64_t p = 0; p < pairs_; ++p) {
      const std::int64_t state = known.values[p / rows_ * known.per_sample + known.row[p % rows_]];
      at_[static_cast<std::size_t>(p) * links + l] = static_cast<std::uint32_t>(state);
    }
  }
}

void Path::choose(const TraceBlock& block) {
  base::check_wanted();
  const SliceWeights weights = slice_weights(program_, index_, slice_, block);
  const std::int64_t tasks = (pairs_ + pairs_per_task - 1) / pairs_per_task;
  const int threads = call_.settings.threads;
  std::vector<std::unique_ptr<Worker>> workers;
  while (static_cast<std::int64_t>(workers.size()) < std::min<std::int64_t>(threads, tasks)) {
    workers.push_back(std::make_unique<Worker>(*this, weights, block));
  }
  auto task = [&](std::int64_t t, int worker) {
    workers[worker]->run(t * pairs_per_task, std::min(pairs_per_task, pairs_ - t * pairs_per_task));
  };
  engine::parallel_for(tasks, threads, engine::TaskRef(task));
}

void Path::end() {
  if (piece_.keeps_start) return;  // its states were known from the beginning
  const std::size_t links = piece_.links.size();
  for (std::size_t l = 0; l < links; ++l) {
    const Answer start = answer(piece_.start()[l]);
    for (std::int64_t p = 0; p < pairs_; ++p) {
      start.values[p / rows_ * start.per_sample + start.row[p % rows_]] = at_[static_cast<std::size_t>(p) * links + l];
    }
  }
}

}  // namespace plated::chain
