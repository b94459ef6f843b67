// Prices and prints programs.
#include "chain/describe.hpp"

#include <algorithm>

#include "chain/sweep.hpp"
#include "planner/print_schedule.hpp"
#include "planner/schedule_cost.hpp"

namespace plated::chain {
namespace {

/// The schedules behind a program's outputs, those of chains inside it included.
void add_stages(const Program& program, std::vector<Stage>& list, double repeats) {
  if (!program.has_chains()) {
    list.push_back(
        {.kind = Stage::Kind::rest,
         .runnable = program.question("outputs", [&] { return planner::plan(program.graph(), program.options()); }),
         .repeats = repeats});
    return;
  }
  if (program.point_ends() != nullptr) return add_stages(program.sliced(), list, repeats);
  const Pieces& pieces = program.pieces();
  for (std::size_t p = 0; p < pieces.pieces.size(); ++p) {
    const Piece& piece = pieces.pieces[p];
    const double slices = static_cast<double>(pieces.graph.dims()[piece.chain].size);
    const Body& body = program.body(p);
    for (std::size_t k = 0; k < body.preparations.size(); ++k) {
      const auto part = program.part("preparation " + std::to_string(p) + " " + std::to_string(k) + " 1",
                                     [&] { return preparation_graph(pieces.graph, piece, body.preparations[k], 1); });
      const std::size_t before = list.size();
      add_stages(*part, list, repeats * (body.preparations[k].varies ? slices : 1));
      for (std::size_t s = before; s < list.size(); ++s) {
        if (list[s].kind == Stage::Kind::rest) list[s].kind = Stage::Kind::preparation;
        list[s].piece = p;
      }
    }
    std::vector<bool> varies;
    for (const BodyFactor& factor : body.factors) varies.push_back(factor.varies);
    Stage step{
        .kind = Stage::Kind::step, .piece = p, .runnable = program.step(p, piece.forward), .repeats = repeats * slices};
    const engine::Recursion recursion(step.runnable->schedule(), piece.links.size(), varies, Semiring::log,
                                      Dtype::float32);
    step.fused = recursion.fused().has_value();
    step.in_parts = recursion.splits_time(pieces.graph.dims()[piece.chain].size);
    step.rows = recursion.rows();
    step.states = recursion.states();
    list.push_back(std::move(step));
  }
  add_stages(*program.rest(), list, repeats);
}

std::string names(const FactorGraph& graph, const std::vector<DimId>& dims) {
  std::string text;
  for (const DimId d : dims) text += (text.empty() ? "" : ", ") + graph.dims()[d].name;
  return text;
}

std::string about(const FactorGraph& graph, const Piece& piece) {
  std::string links;
  for (const Link& link : piece.links) {
    links += (links.empty() ? "" : ", ") + graph.dims()[link.source].name + "→" + graph.dims()[link.target].name;
  }
  std::string text = "chain " + graph.dims()[piece.chain].name + " = " +
                     std::to_string(graph.dims()[piece.chain].size) + " slices, links " + links + "\n";
  text +=
      std::string("  messages [") + names(graph, message_axes(piece, piece.forward ? piece.sources : piece.targets)) +
      "] run " +
      (piece.forward ? "forwards, from the first slice to the last" : "backwards, from the last slice to the first");
  if (piece.keeps_start) {
    text += ", one for each first state: both ends are held by more than a factor that could begin a message";
  } else if (!piece.absorbed.empty()) {
    text += ", beginning with";
    for (const std::size_t f : piece.absorbed) text += " " + graph.factors()[f].name;
  } else {
    text += std::string(", since nothing holds the ") + (piece.forward ? "first" : "last") + " state";
  }
  return text + "\n";
}

/// What was chosen between the two ways along a chain, and why.
std::string how_time_is_walked(const Stage& stage) {
  const std::string rows = std::to_string(stage.rows) + (stage.rows == 1 ? " row" : " rows");
  const std::string states = std::to_string(stage.states) + (stage.states == 1 ? " state" : " states");
  if (stage.in_parts) {
    return std::to_string(engine::Recursion::time_parts) +
           " parts of the chain at once, each from every state: " + rows + " of " + states +
           " would leave vector lanes idle";
  }
  return "slice after slice, " + rows + " of " + states +
         " at once: products across time would take as many times the work as there are states";
}

}  // namespace

std::vector<Stage> stages(const Program& program) {
  std::vector<Stage> list;
  add_stages(program, list, 1);
  return list;
}

void plan_all(const Program& program) { (void)stages(program); }

Cost cost(const Program& program, Semiring semiring, int element_bytes) {
  Cost sum;
  std::int64_t messages = 0;
  for (const Stage& stage : stages(program)) {
    const Cost one =
        planner::schedule_cost(stage.runnable->schedule(), stage.runnable->schedule().extents, semiring, element_bytes);
    sum.flops += stage.repeats * one.flops;
    sum.exps += stage.repeats * one.exps;
    sum.bytes_read += stage.repeats * one.bytes_read;
    sum.bytes_written += stage.repeats * one.bytes_written;
    // Slices follow each other: a chain is as deep as it is long.
    const double depth = stage.kind == Stage::Kind::step ? stage.repeats : 1;
    sum.sequential += depth * one.sequential;
    sum.span += depth * one.span;
    sum.peak_bytes = std::max(sum.peak_bytes, one.peak_bytes);
    if (stage.kind == Stage::Kind::step) {
      messages += 2 * element_bytes *
                  planner::elements(stage.runnable->schedule().extents, stage.runnable->schedule().operands[0]);
    }
  }
  sum.peak_bytes += messages;
  return sum;
}

std::string print(const Program& program) {
  std::string text;
  std::size_t described = program.pieces().pieces.size();
  for (const Stage& stage : stages(program)) {
    if (stage.kind != Stage::Kind::rest && stage.piece != described) {
      described = stage.piece;
      text += about(program.pieces().graph, program.pieces().pieces[stage.piece]);
    }
    const auto times = std::to_string(static_cast<std::int64_t>(stage.repeats));
    if (stage.kind == Stage::Kind::preparation) text += "  prepared for many slices at once (" + times + " slices):\n";
    if (stage.kind == Stage::Kind::step) {
      text += std::string("  ") + how_time_is_walked(stage) + "\n";
      text += "  each slice (" + times + " times" + (stage.fused ? ", fused: the matrix is exponentiated once" : "") +
              "):\n";
    }
    if (stage.kind == Stage::Kind::rest) text += "what the chains leave:\n";
    text += planner::print_schedule(stage.runnable->schedule());
  }
  return text;
}

}  // namespace plated::chain
