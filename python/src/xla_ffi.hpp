// The part of XLA's foreign-function interface that a handler uses: the call frame, and how an error is made.
//
// XLA keeps this binary interface stable between releases of one major version (0), so the declarations are our own and
// building Plated needs no JAX. They name XLA's structures as their documentation does; fields that Plated does not
// read and that no field it reads follows are left out.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plated::python::xla {

struct Extension {
  std::size_t struct_size;
  std::int32_t type;
  Extension* next;
};
inline constexpr std::int32_t metadata_extension = 1;

struct ApiVersion {
  std::size_t struct_size;
  Extension* extensions;
  std::int32_t major;
  std::int32_t minor;
};

/// Asked of a handler when it is registered.
struct Metadata {
  std::size_t struct_size;
  ApiVersion version;
  std::uint32_t traits;
};

struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

struct Error;  // XLA's own

enum class ErrorCode : std::int32_t { cancelled = 1, invalid_argument = 3, resource_exhausted = 8 };

struct ErrorArguments {
  std::size_t struct_size;
  Extension* extensions;
  const char* message;
  ErrorCode code;
};

struct Api {
  std::size_t struct_size;
  Extension* extensions;
  ApiVersion version;
  const void* internal;
  Error* (*make_error)(ErrorArguments* arguments);
};

enum class DataType : std::int32_t { int32 = 4, int64 = 5, float32 = 11, float64 = 12 };

/// A dense row-major array.
struct Buffer {
  std::size_t struct_size;
  Extension* extensions;
  DataType dtype;
  void* data;
  std::int64_t rank;
  std::int64_t* dims;
};

struct Buffers {
  std::size_t struct_size;
  Extension* extensions;
  std::int64_t size;
  std::int32_t* types;
  void** buffers;

  [[nodiscard]] const Buffer& operator[](std::int64_t k) const { return *static_cast<const Buffer*>(buffers[k]); }
};

struct Bytes {
  const char* data;
  std::size_t size;
};

struct Scalar {
  DataType dtype;
  void* value;
};

enum class AttributeType : std::int32_t { scalar = 3, string = 4 };

/// Values that are fixed when a function is traced, by name.
struct Attributes {
  std::size_t struct_size;
  Extension* extensions;
  std::int64_t size;
  AttributeType* types;
  Bytes** names;
  void** values;
};

struct CallFrame {
  std::size_t struct_size;
  Extension* extensions;
  const Api* api;
  void* context;
  std::int32_t stage;
  Buffers arguments;
  Buffers results;
  Attributes attributes;
};

}  // namespace plated::python::xla
