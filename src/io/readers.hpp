// The readers and writers of formats, one pair per format.
#pragma once

#include "io/source.hpp"
#include "plated/data_file.hpp"
#include "plated/model.hpp"
#include "plated/model_file.hpp"

namespace plated::io {

[[nodiscard]] Model read_uai(const Source& source);
[[nodiscard]] Model read_bif(const Source& source, const ReadOptions& options);
[[nodiscard]] Model read_plated(const Source& source, const ReadOptions& options);

[[nodiscard]] ModelText write_uai(const Model& model);
[[nodiscard]] ModelText write_bif(const Model& model);
/// `array_file` names the file of a factor whose numbers are to stand elsewhere; empty for one that is written inline.
[[nodiscard]] ModelText write_plated(const Model& model, const std::vector<std::string>& array_files);

[[nodiscard]] Evidence read_uai_evidence(const Model& model, const Source& source);
[[nodiscard]] Observations read_json_evidence(const Model& model, const Source& source);

}  // namespace plated::io
