// .npz files: zip archives whose members are .npy files.
#include "io/disk.hpp"
#include "io/source.hpp"
#include "io/stored_array.hpp"
#include "io/zip.hpp"
#include "plated/error.hpp"
#include "plated/npy.hpp"

namespace plated {
namespace io {
namespace {

std::string_view without_suffix(std::string_view name) {
  return name.ends_with(".npy") ? name.substr(0, name.size() - 4) : name;
}

}  // namespace

std::vector<std::string> npz_names(std::span<const std::byte> bytes, const std::string& file) {
  std::vector<std::string> names;
  for (const ZipMember& member : read_zip(bytes, file)) names.emplace_back(without_suffix(member.name));
  return names;
}

StoredArray npz_array(std::span<const std::byte> bytes, std::string_view array, const std::shared_ptr<void>& owner,
                      const std::string& file) {
  std::string known;
  for (const ZipMember& member : read_zip(bytes, file)) {
    const std::string_view name = without_suffix(member.name);
    if (name == array) return {member, owner, file + "[" + shown(name) + "]"};
    known += (known.empty() ? "" : ", ") + shown(name);
  }
  throw UnknownNameError(file + ": has no array " + shown(array) + ", only " + (known.empty() ? "none at all" : known));
}

}  // namespace io

std::vector<std::string> npz_names(const std::filesystem::path& path) {
  const io::MappedFile file(path);
  return io::npz_names(file.bytes(), io::one_line(path.string()));
}

Tensor read_npz(const std::filesystem::path& path, std::string_view array) { return ArrayFile(path, array).read(); }

}  // namespace plated
