// The parsed command line: commands read it, and only parse.cpp knows how options are spelled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plated::cli {

/// Options that every command takes.
struct Common {
  bool quiet = false;
  int threads = 0;                ///< 0: all the machine has
  std::int64_t memory_limit = 0;  ///< in bytes; 0: not said, and memory_limit() is the machine's memory
};

/// One `variable=state` of a command line, and the option that says it.
struct Given {
  std::string option;  ///< `--given`, or `--observe`, which is the same
  std::string assignment;
};

/// A model file with what is known about its variables.
struct Input {
  std::string model;
  std::string evidence;  ///< a file; none where empty
  std::vector<Given> given;
  bool unroll = false;
};

struct Solve {
  Input input;
  std::string task;    ///< pr, mar, map, sample, entropy, leave-one-out; empty: mar, where there is a query
  std::string format;  ///< table, csv, uai, json; empty: not said
  bool json = false;
  std::vector<std::string> query;    ///< `a` or `a,b`; of marginals; empty: all variables
  std::string plate;                 ///< of leave-one-out: a plate or a chain
  std::vector<std::string> factors;  ///< of leave-one-out: left out of a chain's slices
  std::optional<std::int64_t> samples;
  std::optional<std::uint64_t> seed;
  std::string output;  ///< a file; standard output where empty
};

struct FitCommand {
  Input input;
  std::vector<std::string> data;     ///< `name=FILE`, or `FILE.csv`
  std::vector<std::string> weights;  ///< `plate=FILE`
  std::vector<std::string> learn;    ///< factors; empty: those that the model says
  int restarts = 1;
  std::int64_t iterations = 500;
  double tolerance = 1e-9;
  double pseudo_count = 0;
  std::uint64_t seed = 0;
  std::vector<std::string> held_out;  ///< as of data
  std::string batch;                  ///< `plate=slices`; empty: all at once
  std::string cross_validate;         ///< `plate=folds`; empty: none
  std::string vary;                   ///< `variable=2..8`; empty: none
  bool standard_errors = false;
  bool plain = false;  ///< no extrapolation
  bool resume = false;
  bool json = false;
  std::string plot;    ///< an SVG file; none where empty
  std::string output;  ///< the fitted model; none where empty
};

struct Evaluate {
  Input input;
  std::vector<std::string> data;
  std::vector<std::string> weights;
  std::string plate;
  std::vector<std::string> factors;
  bool json = false;
};

struct Convert {
  Input input;
  std::string output;  ///< a file, or `-`
  std::string to;      ///< a format; empty: the one that the output's name says
};

struct Einsum {
  std::string equation;
  std::vector<std::string> operands;  ///< `f.npy`, or `all.npz:f`
  std::string plates;
  std::string batch;
  std::vector<std::string> chains;  ///< `t:a->b`
  std::vector<std::string> sizes;   ///< `t=5`
  std::string semiring = "log";
  std::vector<std::string> outputs;  ///< files; none: all printed
};

struct Explain {
  Input input;
  std::string task;  ///< as of Solve; empty: pr
  std::vector<std::string> observed;
  bool whole = false;  ///< show all steps of the schedule
  bool json = false;
};

struct Draw {
  Input input;
  std::string output;
  bool plan = false;
  bool directed = false;
};

struct Bench {
  std::string figure;  ///< an SVG file; none where empty
  std::string json;    ///< a file; none where empty
  bool quick = false;
  std::optional<std::int64_t> largest;
};

struct Completion {
  std::string shell;  ///< bash, zsh, fish
};

/// One command line. `command` says which of the members counts.
struct Arguments {
  std::string command;
  Common common;
  Solve solve;
  FitCommand fit;
  Evaluate evaluate;
  Convert convert;
  Einsum einsum;
  Explain explain;
  Draw draw;
  Bench bench;
  Completion completion;
};

/// What a command line can say, for those who write about it: completion scripts.
struct OptionHelp {
  std::vector<std::string> names;    ///< `-o`, `--output`
  std::string help;                  ///< one line
  bool takes_value = false;          ///< else it is a switch
  bool takes_file = false;           ///< the value is the name of a file
  std::vector<std::string> choices;  ///< values it may have; empty: any
};
struct CommandHelp {
  std::string name;
  std::string help;
  std::vector<OptionHelp> options;
  std::vector<std::string> choices;  ///< of its first word; empty: a file
};

}  // namespace plated::cli
