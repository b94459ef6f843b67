// The `plated` program: a command line in, an answer and an exit code out.
#include "commands.hpp"
#include "errors.hpp"
#include "files.hpp"
#include "interrupt.hpp"
#include "parse.hpp"

namespace plated::cli {
namespace {

int run(const Arguments& arguments) {
  const std::string& command = arguments.command;
  if (command == "solve") return solve(arguments.solve, arguments.common);
  if (command == "fit") return fit(arguments.fit, arguments.common);
  if (command == "evaluate") return evaluate(arguments.evaluate, arguments.common);
  if (command == "convert") return convert(arguments.convert, arguments.common);
  if (command == "einsum") return einsum(arguments.einsum, arguments.common);
  if (command == "explain") return explain(arguments.explain, arguments.common);
  if (command == "draw") return draw(arguments.draw, arguments.common);
  if (command == "bench") return bench(arguments.bench, arguments.common);
  return completion(arguments.completion, command_help());
}

std::string subject(const Arguments& arguments) {
  const std::string& command = arguments.command;
  return shown_name(command == "solve"      ? arguments.solve.input.model
                    : command == "fit"      ? arguments.fit.input.model
                    : command == "evaluate" ? arguments.evaluate.input.model
                    : command == "convert"  ? arguments.convert.input.model
                    : command == "explain"  ? arguments.explain.input.model
                    : command == "draw"     ? arguments.draw.input.model
                                            : "");
}

}  // namespace
}  // namespace plated::cli

int main(int count, char** words) {
  std::string subject;
  try {
    plated::cli::watch_for_interrupts();
    const auto arguments = plated::cli::parse(count, words);
    if (!arguments) return plated::cli::answered;
    subject = plated::cli::subject(*arguments);
    return plated::cli::run(*arguments);
  } catch (...) {
    return plated::cli::report_error(subject);
  }
}
