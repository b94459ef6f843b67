// Reads, writes and reads again every public model file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "plated/model_file.hpp"
#include "same_model.hpp"

namespace plated {
namespace {

using test::expect_same_model;

/// The files of a folder of $PLATED_DATA that end so.
std::vector<std::filesystem::path> data_files(const std::string& folder, const std::string& ending) {
  std::vector<std::filesystem::path> files;
  const char* const data = std::getenv("PLATED_DATA");
  if (data == nullptr || !std::filesystem::is_directory(std::filesystem::path(data) / folder)) return files;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(data) / folder)) {
    if (entry.path().extension() == ending) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

#define SKIP_WITHOUT(files) \
  if ((files).empty()) GTEST_SKIP() << "no public models: PLATED_DATA does not name a folder that has them"

TEST(PublicModels, UaiRoundTrips) {
  const auto files = data_files("uai", ".uai");
  SKIP_WITHOUT(files);
  EXPECT_GE(files.size(), 54U);
  for (const auto& file : files) {
    SCOPED_TRACE(file.filename().string());
    Model model = read_model(file);
    EXPECT_EQ(model.format, Format::uai);
    ASSERT_EQ(model.graph.factors().size(), model.factors.size());
    read_evidence(model, file.string() + ".evid");
    const ModelText written = model_text(model, Format::uai);
    const bool lossless = model.directed || std::all_of(model.children.begin(), model.children.end(),
                                                        [](const std::string& child) { return child.empty(); });
    EXPECT_EQ(written.losses.empty(), lossless);
    Model again = parse_model(written.text, "again.uai");
    parse_evidence(again, uai_evidence_text(model), "again.uai.evid");
    if (lossless) expect_same_model(model, again);
    const ModelText plated = model_text(model, Format::plated);
    EXPECT_TRUE(plated.losses.empty());
    expect_same_model(model, parse_model(plated.text, "again.json"));
  }
}

TEST(PublicModels, BifRoundTrips) {
  const auto files = data_files("bif", ".bif");
  SKIP_WITHOUT(files);
  EXPECT_GE(files.size(), 19U);
  for (const auto& file : files) {
    SCOPED_TRACE(file.filename().string());
    const Model model = read_model(file);
    EXPECT_TRUE(model.directed);
    EXPECT_TRUE(model.notes.empty()) << model.notes[0];
    const ModelText written = model_text(model, Format::bif);
    EXPECT_TRUE(written.losses.empty());
    expect_same_model(model, parse_model(written.text, "again.bif"));
    expect_same_model(model, parse_model(model_text(model, Format::plated).text, "again.json"));
    const Model uai = parse_model(model_text(model, Format::uai).text, "again.uai");
    EXPECT_TRUE(uai.directed);
    for (std::size_t f = 0; f < model.factors.size(); ++f) test::expect_same_numbers(model.factors[f], uai.factors[f]);
  }
}

TEST(PublicModels, KnownAnswersOfOneBif) {
  const auto files = data_files("bif", ".bif");
  SKIP_WITHOUT(files);
  const Model asia = read_model(files[0].parent_path() / "asia.bif");
  EXPECT_EQ(variables(asia),
            (std::vector<std::string>{"asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp"}));
  EXPECT_EQ(asia.states.at("asia"), (std::vector<std::string>{"yes", "no"}));
  EXPECT_EQ(asia.factors[1].values(), (std::vector<double>{0.05, 0.95, 0.01, 0.99}));
  EXPECT_EQ(asia.children[1], "tub");
}

}  // namespace
}  // namespace plated
