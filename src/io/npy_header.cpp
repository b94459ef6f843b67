// The headers of .npy files: a dictionary in Python's spelling behind a magic string and a length.
#include "io/npy_header.hpp"

#include <optional>

#include "base/whole_integer.hpp"
#include "io/source.hpp"
#include "plated/error.hpp"

namespace plated::io {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

/// Reads the dictionary: keys in any order, quotes of either kind, commas also behind the last.
class DictionaryReader {
 public:
  DictionaryReader(std::string_view text, const std::string& file, bool integers)
      : text_(text), file_(file), integers_(integers) {}

  NpyHeader read() {
    NpyHeader header;
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{');
    while (!take('}')) {
      const std::string_view key = quoted();
      expect(':');
      bool* known = nullptr;
      if (key == "descr") {
        read_dtype(header);
        known = &has_descr;
      } else if (key == "fortran_order") {
        header.fortran_order = boolean();
        known = &has_order;
      } else if (key == "shape") {
        header.shape = shape();
        known = &has_shape;
      }
      if (known == nullptr || *known) fail("its header has the key " + shown(key) + (known ? " twice" : ""));
      *known = true;
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (at_ < text_.size()) fail("its header continues after its end");
    if (!has_descr || !has_order || !has_shape) fail("its header lacks 'descr', 'fortran_order' or 'shape'");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const { throw FormatError(file_, 0, reason); }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c))
      fail("its header is no dictionary: '" + std::string(1, c) + "' is missing before " +
           shown(text_.substr(at_, 12)));
  }

  std::string_view quoted() {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) fail("its header has no string before " + shown(text_.substr(at_, 12)));
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return inside;
  }

  void read_dtype(NpyHeader& header) {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '[') fail("it holds records; arrays of float32 or float64 can be read");
    const std::string_view descr = quoted();
    header.dtype = descr == "<f4" ? Dtype::float32 : Dtype::float64;
    header.item_bytes = size_of(header.dtype);
    if (descr == "<f4" || descr == "<f8") return;
    if (integers_) return read_integer_type(header, descr);
    if (descr == ">f4" || descr == ">f8") fail("its numbers are big-endian; save it as '<f4' or '<f8'");
    fail("its dtype is " + shown(descr) + "; save it as float32 ('<f4') or float64 ('<f8')");
  }

  void read_integer_type(NpyHeader& header, std::string_view descr) const {
    for (const std::string_view known : {"|i1", "|u1", "|b1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8"}) {
      if (descr != known) continue;
      header.kind = descr[1] == 'i' ? 'i' : 'u';
      header.item_bytes = static_cast<std::size_t>(descr[2] - '0');
      return;
    }
    fail("its dtype is " + shown(descr) + "; save it as integers ('<i8') or float64 ('<f8')");
  }

  bool boolean() {
    skip_blanks();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return word == "True";
    }
    fail("its header has no True or False for 'fortran_order'");
  }

  Tensor::Shape shape() {
    Tensor::Shape extents;
    expect('(');
    while (!take(')')) {
      skip_blanks();
      const std::size_t end = std::min(text_.find_first_not_of("-0123456789", at_), text_.size());
      const std::string_view spelled = text_.substr(at_, end - at_);
      const std::optional<std::int64_t> extent = base::whole_integer(spelled);
      if (!extent || *extent < 0) fail("its shape has the extent " + shown(text_.substr(at_, 24)));
      extents.push_back(*extent);
      at_ = end;
      (void)take('L');  // Python 2's long integers
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return extents;
  }

  std::string_view text_;
  const std::string& file_;
  bool integers_;
  std::size_t at_ = 0;
};

}  // namespace

std::size_t npy_header_bytes(std::span<const std::byte> bytes, const std::string& file) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto byte = [&](std::size_t k) { return static_cast<std::size_t>(bytes[k]); };
  if (text.starts_with("PK")) throw FormatError(file, 0, "is a .npz archive; name one of its arrays");
  if (!text.starts_with(magic)) throw FormatError(file, 0, "is not an .npy file: it does not begin with \\x93NUMPY");
  if (bytes.size() < 10) throw FormatError(file, 0, "ends in the header");
  const std::size_t version = byte(6);
  if (version < 1 || version > 3) throw FormatError(file, 0, "has the unknown .npy version " + std::to_string(version));
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  if (bytes.size() < 8 + length_bytes) throw FormatError(file, 0, "ends in the header");
  std::size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  return 8 + length_bytes + length;
}

NpyHeader read_npy_header(std::span<const std::byte> bytes, const std::string& file, bool integers) {
  const std::size_t end = npy_header_bytes(bytes, file);
  if (end > bytes.size()) throw FormatError(file, 0, "ends in the header");
  const std::size_t begin = static_cast<std::size_t>(bytes[6]) == 1 ? 10 : 12;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), end);
  NpyHeader header = DictionaryReader(text.substr(begin), file, integers).read();
  header.data = end;
  return header;
}

std::string npy_header(Dtype dtype, const Tensor::Shape& shape) {
  std::string dictionary =
      "{'descr': '" + std::string(dtype == Dtype::float32 ? "<f4" : "<f8") + "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t extent : shape) dictionary += std::to_string(extent) + ", ";
  // Python writes (3,), (2, 3) and ().
  if (shape.size() == 1) dictionary.pop_back();
  if (shape.size() > 1) dictionary.resize(dictionary.size() - 2);
  dictionary += "), }";
  const bool is_long = dictionary.size() + 64 > 65535;
  const std::size_t prefix = is_long ? 12 : 10;
  dictionary.append(63 - (prefix + dictionary.size()) % 64, ' ');
  dictionary += '\n';
  std::string header(magic);
  header += static_cast<char>(is_long ? 2 : 1);
  header += '\0';
  for (std::size_t k = 0; k < (is_long ? 4U : 2U); ++k)
    header += static_cast<char>(dictionary.size() >> (8 * k) & 0xFFU);
  return header + dictionary;
}

}  // namespace plated::io
