// Reports errors: one line on standard error and an exit code.
#pragma once

#include <stdexcept>
#include <string>

namespace plated::cli {

/// The exit codes of the program; docs/cli.md and the man page list them.
enum ExitCode : int {
  answered = 0,
  internal_error = 1,
  bad_input = 2,    ///< files and options that make no sense
  intractable = 3,  ///< too much for any machine, for this one, or for the memory limit
  interrupted = 130,
};

/// A command line that makes no sense; the message says what to do.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Tells the exception that is being handled in one line on standard error, and returns its exit code. `subject`, if
/// not empty, is the file that errors are about which name none.
int report_error(const std::string& subject) noexcept;

/// A line on standard error that is no error: `plated: note: …`.
void note(const std::string& line);

}  // namespace plated::cli
