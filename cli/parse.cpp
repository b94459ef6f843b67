// Declares the command line: every command, option and example of --help.
#include "parse.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <limits>
#include <map>
#include <sstream>

#include "errors.hpp"
#include "files.hpp"
#include "quantities.hpp"
#include "version.hpp"

namespace plated::cli {
namespace {

/// The choices of options, which CLI11 keeps only as a text.
using Choices = std::map<const CLI::Option*, std::vector<std::string>>;

/// A whole number as people write it. CLI11's own reading lets minus signs and numbers beyond the type through as other
/// numbers, takes a leading zero for octal, and its range check would clutter --help.
template <class T, class Value>
CLI::Option* number(CLI::App& sub, const std::string& names, Value& value, const std::string& help, T low, T high) {
  return sub.add_option_function<std::string>(
      names,
      [&value, low, high, name = names.substr(names.find("--"))](const std::string& word) {
        T read{};
        const char* const end = word.data() + word.size();
        const auto [rest, error] = std::from_chars(word.data(), end, read);
        if (error != std::errc() || rest != end || read < low || read > high) {
          throw CLI::ValidationError(
              name, "'" + word + "' is not a whole number from " + std::to_string(low) + " to " + std::to_string(high));
        }
        value = read;
      },
      help);
}

class Declaration {
 public:
  Declaration() : app("Exact inference on plated factor graphs, by tensor variable elimination.", "plated") {
    app.set_help_flag("-h,--help", "Show this help");
    app.set_version_flag("--version", std::string("plated ") + version, "Show the version");
    app.require_subcommand(0, 1);  // none is an error too, but one that parse() words
    app.get_formatter()->column_width(32);
    app.footer(
        "Exit codes: 0 answered, 1 internal error, 2 bad input, 3 intractable or over the memory limit, "
        "130 interrupted.\n`plated COMMAND --help` has examples; `man plated` is the full manual.");
    common(app);
    declare_solve();
    declare_fit();
    declare_evaluate();
    declare_convert();
    declare_einsum();
    declare_explain();
    declare_draw();
    declare_bench();
    declare_completion();
  }

  CLI::App app;
  Arguments arguments;
  Choices choices;

 private:
  CLI::App& command(const std::string& name, const std::string& help, const std::string& examples) {
    CLI::App& sub = *app.add_subcommand(name, help);
    sub.set_help_flag("-h,--help", "Show this help");
    sub.footer("Examples:\n" + examples);
    sub.callback([this, name] { arguments.command = name; });
    common(sub);
    return sub;
  }

  /// Options of every command, before or behind its name.
  void common(CLI::App& sub) {
    const std::string group = "Options of every command";
    sub.add_flag("-q,--quiet", arguments.common.quiet, "No progress, no notes; errors only")->group(group);
    number(sub, "--threads", arguments.common.threads, "Threads to use; 0 is all the machine has", 0, 1024)
        ->type_name("N")
        ->group(group);
    sub.add_option_function<std::string>(
           "--memory-limit",
           [this](const std::string& text) {
             const auto bytes = parse_bytes(text);
             if (!bytes)
               throw CLI::ValidationError("--memory-limit", "'" + text + "' is not a size such as 2GiB or 500MB");
             arguments.common.memory_limit = *bytes;
           },
           "Refuse what needs more memory, such as 2GiB (default: what the machine has)")
        ->type_name("SIZE")
        ->group(group);
  }

  /// Options of commands that read a model.
  static void input(CLI::App& sub, Input& input, bool unrolls = true) {
    sub.add_option("MODEL", input.model, "A model: UAI, BIF or plated, told by what is in it; - is standard input")
        ->required();
    sub.add_option("-e,--evidence", input.evidence, "Evidence: UAI's .evid, or JSON as {\"rain\": \"yes\"}")
        ->type_name("FILE");
    for (const auto& [name, help] :
         {std::pair("--given", "A variable is observed; in plates name[3]=state; may be repeated"),
          std::pair("--observe", "The same as --given")}) {
      sub.add_option_function<std::vector<std::string>>(
             name,
             [&input, name = name](const std::vector<std::string>& assignments) {
               for (const std::string& assignment : assignments) input.given.push_back({name, assignment});
             },
             help)
          ->type_name("VAR=STATE")
          ->allow_extra_args(false);
    }
    if (unrolls) sub.add_flag("--unroll", input.unroll, "Replace plates and chains by copies first");
  }

  static void list(CLI::App& sub, const std::string& name, std::vector<std::string>& values, const std::string& help,
                   const std::string& type) {
    // One value a name: else a list would swallow the words that follow it.
    sub.add_option(name, values, help)->type_name(type)->allow_extra_args(false);
  }

  void choice(CLI::App& sub, const std::string& name, std::string& value, const std::string& help,
              const std::vector<std::string>& values, bool required = false) {
    CLI::Option* option =
        sub.add_option(name, value, help)->required(required)->check([values](const std::string& word) {
          std::string all;
          for (const std::string& candidate : values) {
            if (candidate == word) return std::string();
            all += (all.empty() ? "" : ", ") + candidate;
          }
          return "'" + word + "' is not one of " + all;
        });
    std::string type;
    for (const std::string& candidate : values) type += (type.empty() ? "" : "|") + candidate;
    option->type_name(type);
    choices[option] = values;
  }

  void declare_solve() {
    Solve& solve = arguments.solve;
    CLI::App& sub = command("solve", "Answer a question about a model",
                            "  plated solve asia.bif --given smoke=yes --task mar\n"
                            "  plated solve asia.bif --query lung --query tub,bronc --given dysp=yes\n"
                            "  plated solve grid.uai --evidence grid.uai.evid --task pr --format uai\n"
                            "  plated solve anesthesia.json --task map --json -o map.json\n"
                            "  plated solve anesthesia.json --task sample -n 100 --seed 7 --format csv\n"
                            "  plated solve anesthesia.json --task leave-one-out --plate patient");
    input(sub, solve.input);
    choice(sub, "-t,--task", solve.task,
           "ln Z, marginals (default where there is a --query), most probable assignment, samples, entropy, or ln p of "
           "each slice of a plate given the others",
           {"pr", "mar", "map", "sample", "entropy", "leave-one-out"});
    list(sub, "--query", solve.query, "Ask for this variable only, or for several jointly; may be repeated",
         "VAR[,VAR]");
    sub.add_option("--plate", solve.plate, "Leave one slice of this plate or chain out")->type_name("PLATE");
    list(sub, "--factor", solve.factors, "Leave this factor out of a slice of a chain; may be repeated", "NAME");
    choice(sub, "-f,--format", solve.format, "A table for people (default), CSV, UAI's result format, or JSON",
           {"table", "csv", "uai", "json"});
    sub.add_flag("--json", solve.json, "The same as --format json");
    number(sub, "-n,--samples", solve.samples, "How many samples to draw (default 1)", std::int64_t{0},
           std::numeric_limits<std::int64_t>::max())
        ->type_name("N");
    number(sub, "--seed", solve.seed, "Of the samples (default 0); the same seed gives the same", std::uint64_t{0},
           std::numeric_limits<std::uint64_t>::max())
        ->type_name("S");
    sub.add_option("-o,--output", solve.output, "Write the answer here, whole or not at all; - is standard output")
        ->type_name("FILE");
  }

  void declare_fit() {
    FitCommand& fit = arguments.fit;
    CLI::App& sub = command("fit", "Learn a model from data, by exact EM",
                            "  plated fit anesthesia.json -o fitted.json\n"
                            "  plated fit model.json --data grade=grades.npy --restarts 10 -o fitted.json\n"
                            "  plated fit asia.bif --data patients.csv --learn f0,f3 --pseudo-count 0.1 -o fitted.bif\n"
                            "  plated fit model.json --data votes.csv --cross-validate patient=5\n"
                            "  plated fit model.json --data votes.csv --vary truth=2..8 --restarts 10 -o best.json\n"
                            "  plated fit model.json --iterations 100000 --resume -o fitted.json --plot fit.svg");
    input(sub, fit.input, false);
    data(sub, fit.data, fit.weights);
    sub.add_option_function<std::string>(
           "--learn",
           [&fit](const std::string& words) {
             std::istringstream names(words);
             for (std::string name; std::getline(names, name, ',');) fit.learn.push_back(name);
           },
           "Factors to learn (default: those that the model says, or all distributions)")
        ->type_name("NAME[,NAME]");
    number(sub, "--restarts", fit.restarts, "Starts: the model's own numbers, then random ones (default 1)", 1, 1000000)
        ->type_name("N");
    number(sub, "--iterations", fit.iterations, "The most E- and M-steps of each start (default 500)", std::int64_t{0},
           std::numeric_limits<std::int64_t>::max())
        ->type_name("N");
    real(sub, "--tolerance", fit.tolerance, "End where a step gains less than this share of ln L (default 1e-9)");
    real(sub, "--pseudo-count", fit.pseudo_count, "Added to every count of factors without a prior (default 0)");
    number(sub, "--seed", fit.seed, "Of the random starts and of folds (default 0)", std::uint64_t{0},
           std::numeric_limits<std::uint64_t>::max())
        ->type_name("S");
    sub.add_option("--batch", fit.batch, "A step for every N slices of a plate; iterations are passes over the data")
        ->type_name("PLATE=N");
    list(sub, "--held-out", fit.held_out, "Score the fitted model on these data, given as to --data; may be repeated",
         "[VAR=]FILE");
    sub.add_option("--cross-validate", fit.cross_validate,
                   "Deal the slices of a plate to N folds; score each under a fit of the others")
        ->type_name("PLATE=N");
    sub.add_option("--vary", fit.vary, "Fit a model for each number of states of a latent variable; keep the least BIC")
        ->type_name("VAR=N..N");
    sub.add_flag("--standard-errors", fit.standard_errors, "Standard errors of what is learnt");
    sub.add_flag("--plain", fit.plain, "Plain EM: do not extrapolate steps");
    sub.add_flag("--resume", fit.resume, "Go on from the numbers in the file of -o, where there is one");
    sub.add_flag("--json", fit.json, "Restarts, ln L and history for programs");
    sub.add_option("--plot", fit.plot, "Draw ln L over the iterations here; - is standard output")
        ->type_name("FILE.svg");
    sub.add_option("-o,--output", fit.output, "Write the fitted model here; - is standard output")->type_name("FILE");
  }

  void declare_evaluate() {
    Evaluate& evaluate = arguments.evaluate;
    CLI::App& sub = command("evaluate", "Score a model on data that it was not fitted to",
                            "  plated evaluate fitted.json --data grade=held_out.npy\n"
                            "  plated evaluate fitted.json --plate patient --json");
    input(sub, evaluate.input, false);
    data(sub, evaluate.data, evaluate.weights);
    sub.add_option("--plate", evaluate.plate, "Score each slice of this plate or chain given all others")
        ->type_name("PLATE");
    list(sub, "--factor", evaluate.factors, "Score this factor in the slices of a chain; may be repeated", "NAME");
    sub.add_flag("--json", evaluate.json, "The same for programs");
  }

  static void data(CLI::App& sub, std::vector<std::string>& files, std::vector<std::string>& weights) {
    list(sub, "--data", files, "States of a variable (.npy), or a table with a column for each (.csv); may be repeated",
         "[VAR=]FILE");
    list(sub, "--weights", weights, "Copies that the slices of a plate stand for (.npy, .csv)", "PLATE=FILE");
  }

  /// A number that is not below zero.
  static void real(CLI::App& sub, const std::string& name, double& value, const std::string& help) {
    sub.add_option_function<std::string>(
           name,
           [&value, name](const std::string& word) {
             double read = 0;
             const char* const end = word.data() + word.size();
             const auto [rest, error] = std::from_chars(word.data(), end, read);
             if (error != std::errc() || rest != end || !(read >= 0) || read * 0 != 0) {
               throw CLI::ValidationError(name, "'" + word + "' is not a number from 0 on");
             }
             value = read;
           },
           help)
        ->type_name("X");
  }

  void declare_convert() {
    Convert& convert = arguments.convert;
    CLI::App& sub = command("convert", "Write a model in another format, and say what is lost",
                            "  plated convert asia.bif asia.uai\n"
                            "  plated convert anesthesia.json flat.uai --unroll\n"
                            "  plated convert grid.uai - --to plated");
    input(sub, convert.input);
    sub.add_option("OUTPUT", convert.output, "The file to write; - is standard output")->required();
    choice(sub, "--to", convert.to, "The format (default: by OUTPUT's extension)", {"uai", "bif", "plated"});
  }

  void declare_einsum() {
    Einsum& einsum = arguments.einsum;
    CLI::App& sub = command("einsum", "Plated einsum of NumPy arrays",
                            "  plated einsum \"x,iy,ijxy->\" F.npy G.npy H.npy --plates ij\n"
                            "  plated einsum \"a,(t)ab,tb->\" all.npz:a all.npz:ab all.npz:b --chain \"t:a->b\"\n"
                            "  plated einsum \"ab,bc->a,c\" M.npy N.npy --semiring real -o a.npy -o c.npy");
    sub.add_option("EQUATION", einsum.equation, "As in \"x,iy,ijxy->\"; sums over variables, multiplies over plates")
        ->required();
    sub.add_option("FILES", einsum.operands,
                   "Operands: .npy files, mapped into memory, or file.npz:name; - is a .npy on standard input");
    sub.add_option("--plates", einsum.plates, "Dims that are plates, spelled as in the equation")->type_name("DIMS");
    sub.add_option("--batch", einsum.batch, "Dims that are independent problems")->type_name("DIMS");
    list(sub, "--chain", einsum.chains, "A dim that is a chain, with its links: t:a->b,c->d", "T:A->B");
    list(sub, "--sizes", einsum.sizes, "The size of a dim that no operand carries", "DIM=N");
    choice(sub, "--semiring", einsum.semiring, "The meaning of sums and products (default log)",
           {"real", "log", "max_plus", "min_plus", "max_product", "boolean"});
    list(sub, "-o,--output", einsum.outputs, "Write an output here, once for each; - is standard output", "FILE");
  }

  void declare_explain() {
    Explain& explain = arguments.explain;
    CLI::App& sub = command("explain", "Say whether and how a model can be solved, and what it costs",
                            "  plated explain anesthesia.json\n"
                            "  plated explain munin1.bif --task mar --whole\n"
                            "  plated explain munin1.bif --json\n"
                            "  plated explain rbm.json --memory-limit 2GiB");
    input(sub, explain.input);
    choice(sub, "-t,--task", explain.task, "What is to be solved: as of plated solve (default pr)",
           {"pr", "mar", "map", "sample", "entropy"});
    list(sub, "--observed", explain.observed,
         "As if this variable were observed in all its slices, in whichever states; may be repeated", "NAME");
    sub.add_flag("--whole", explain.whole, "Show all steps of the schedule");
    sub.add_flag("--json", explain.json, "The same for programs, with whole schedules");
  }

  void declare_draw() {
    Draw& draw = arguments.draw;
    CLI::App& sub = command("draw", "Draw a model or its plan",
                            "  plated draw anesthesia.json -o model.svg\n"
                            "  plated draw asia.bif --directed -o asia.png\n"
                            "  plated draw anesthesia.json --plan -o plan.svg");
    input(sub, draw.input);
    sub.add_option("-o,--output", draw.output, "The picture: .svg or .png; - is SVG on standard output")
        ->type_name("FILE")
        ->required();
    sub.add_flag("--plan", draw.plan, "The elimination schedule, step by step, instead of the graph");
    sub.add_flag("--directed", draw.directed, "Arrows from parents to children (BAYES and BIF models)");
  }

  void declare_bench() {
    Bench& bench = arguments.bench;
    CLI::App& sub = command("bench", "Time the paper's benchmark on this machine, and draw its runtime figure",
                            "  plated bench -o runtimes.svg\n"
                            "  plated bench --quick --json times.json");
    sub.add_option("-o,--output", bench.figure, "Draw the figure here; - is standard output")->type_name("FILE.svg");
    sub.add_option("--json", bench.json, "Write the times here; - is standard output")->type_name("FILE");
    sub.add_flag("--quick", bench.quick, "Small sizes and few repetitions: seconds instead of a minute");
    number(sub, "--largest", bench.largest, "The largest plate size (default 128)", std::int64_t{1}, std::int64_t{1024})
        ->type_name("N");
  }

  void declare_completion() {
    CLI::App& sub = command("completion", "Print a completion script for a shell",
                            "  source <(plated completion bash)\n"
                            "  plated completion zsh > ~/.zfunc/_plated\n"
                            "  plated completion fish > ~/.config/fish/completions/plated.fish");
    choice(sub, "SHELL", arguments.completion.shell, "The shell", {"bash", "zsh", "fish"}, true);
  }
};

std::string names_of_commands(const CLI::App& app) {
  std::string names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    names += (names.empty() ? "" : ", ") + sub->get_name();
  }
  return names;
}

CommandHelp help_of(const CLI::App& app, const std::string& name, const Choices& choices) {
  CommandHelp help{.name = name, .help = app.get_description(), .options = {}, .choices = {}};
  for (const CLI::Option* option : app.get_options()) {
    const auto values = choices.find(option);
    if (option->get_positional()) {
      if (values != choices.end()) help.choices = values->second;
      continue;
    }
    OptionHelp& written = help.options.emplace_back();
    for (const std::string& letter : option->get_snames()) written.names.push_back("-" + letter);
    for (const std::string& word : option->get_lnames()) written.names.push_back("--" + word);
    written.help = option->get_description();
    written.takes_value = option->get_items_expected_max() > 0;
    written.takes_file = option->get_type_name().starts_with("FILE");
    if (values != choices.end()) written.choices = values->second;
  }
  return help;
}

}  // namespace

std::optional<Arguments> parse(int count, const char* const* words) {
  Declaration declaration;
  try {
    declaration.app.parse(count, words);
  } catch (const CLI::Success& asked) {  // help and version
    std::ostringstream text;
    declaration.app.exit(asked, text, text);
    deliver(text.str(), "");
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    const auto chosen = declaration.app.get_subcommands();
    if (const auto left = declaration.app.remaining();
        chosen.empty() && !left.empty() && !left.front().starts_with("-")) {
      throw UsageError("unknown command '" + left.front() + "', only " + names_of_commands(declaration.app));
    }
    const std::string command = chosen.empty() ? "" : " " + chosen.front()->get_name();
    throw UsageError(std::string(error.what()) + " (plated" + command + " --help)");
  }
  if (declaration.arguments.command.empty()) {
    throw UsageError("no command; the commands are " + names_of_commands(declaration.app) + " (plated --help)");
  }
  Solve& solve = declaration.arguments.solve;
  if (solve.task.empty() && !solve.query.empty()) solve.task = "mar";
  check(declaration.arguments);
  return declaration.arguments;
}

std::vector<CommandHelp> command_help() {
  const Declaration declaration;
  std::vector<CommandHelp> commands = {help_of(declaration.app, "", declaration.choices)};
  for (const CLI::App* sub : declaration.app.get_subcommands([](const CLI::App*) { return true; })) {
    commands.push_back(help_of(*sub, sub->get_name(), declaration.choices));
  }
  return commands;
}

}  // namespace plated::cli
