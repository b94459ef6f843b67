// Maps exceptions to exit codes.
#include "errors.hpp"

#include <cstdio>
#include <new>

#include "machine.hpp"
#include "plated/error.hpp"

namespace plated::cli {
namespace {

/// Messages of the library may span lines; an error is one.
std::string one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at)) text.replace(at, 1, "; ");
  return text;
}

int tell(const std::string& message, ExitCode code) {
  std::fprintf(stderr, "plated: %s\n", one_line(message).c_str());
  return code;
}

std::string about(const std::string& subject, const std::string& message) {
  return subject.empty() || message.starts_with(subject) ? message : subject + ": " + message;
}

}  // namespace

int report_error(const std::string& subject) noexcept {
  try {
    throw;
  } catch (const UsageError& error) {
    return tell(error.what(), bad_input);
  } catch (const IntractableError& error) {
    const bool repairs = !subject.empty() && !error.repairs().empty();
    return tell(about(subject, error.what()) + (repairs ? " --unroll replaces all plates by copies." : ""),
                intractable);
  } catch (const MemoryLimitError& error) {
    const bool said = error.limit() != machine_memory();
    return tell(about(subject, error.what()) + (said ? "" : ", all the memory there is; --memory-limit sets another"),
                intractable);
  } catch (const SizeOverflowError& error) {
    return tell(about(subject, "too wide: " + std::string(error.what())), intractable);
  } catch (const CancelledError&) {
    return tell("interrupted", interrupted);
  } catch (const FileError& error) {
    return tell(error.what(), bad_input);  // names its file, which may be another
  } catch (const Error& error) {
    return tell(about(subject, error.what()), bad_input);
  } catch (const std::bad_alloc&) {
    return tell(about(subject, "not enough memory on this machine; --memory-limit refuses such models up front"),
                intractable);
  } catch (const std::exception& error) {
    return tell(std::string("internal error: ") + error.what(), internal_error);
  } catch (...) {
    return tell("internal error", internal_error);
  }
}

void note(const std::string& line) { std::fprintf(stderr, "plated: note: %s\n", one_line(line).c_str()); }

}  // namespace plated::cli
