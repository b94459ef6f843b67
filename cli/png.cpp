// Renders SVG with librsvg and cairo, which are opened when a PNG is asked for and not before: building needs neither,
// and with their fifty libraries every start of the program would take four times as long.
#include "png.hpp"

#include <dlfcn.h>

#include <cmath>
#include <memory>

#include "errors.hpp"

namespace plated::cli {
namespace {

// What is used of librsvg-2.so.2 (since 2.52), libcairo.so.2 and GLib, whose interfaces are stable: the libraries'
// headers say the same.
struct Handle;   // RsvgHandle
struct Surface;  // cairo_surface_t
struct Context;  // cairo_t
struct Error {   // GError
  std::uint32_t domain;
  int code;
  char* message;
};
struct Rectangle {  // RsvgRectangle
  double x;
  double y;
  double width;
  double height;
};
using Status = int;         // cairo_status_t, gboolean
constexpr Status good = 0;  // CAIRO_STATUS_SUCCESS
constexpr int rgb24 = 1;    // CAIRO_FORMAT_RGB24
using Write = Status(void* out, const unsigned char* bytes, unsigned int count);

[[noreturn]] void fail(const std::string& why) {
  throw UsageError("the picture cannot be a PNG: " + why + "; draw an .svg");
}

/// librsvg, and through it the libraries that it needs.
void* library() {
  static void* const opened = dlopen("librsvg-2.so.2", RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr)
    fail("it takes librsvg (librsvg-2.so.2), which is not installed; the Debian package is librsvg2-2");
  return opened;
}

/// A function of the library, or of one that it needs, by its type.
template <class Function>
Function* found(const char* name) {
  void* const symbol = dlsym(library(), name);
  if (symbol == nullptr) fail(std::string("the librsvg that is installed is too old: it has no ") + name);
  return reinterpret_cast<Function*>(symbol);
}

/// Something that is released by a function of the library.
template <class T>
using Held = std::unique_ptr<T, void (*)(T*)>;

std::string taken(Error* error, const char* otherwise) {
  if (error == nullptr) return otherwise;
  std::string message = error->message;
  found<void(Error*)>("g_error_free")(error);
  return message;
}

Status append(void* out, const unsigned char* bytes, unsigned int count) {
  static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(bytes), count);
  return good;
}

}  // namespace

std::string png(const std::string& svg) {
  constexpr double scale = 2;
  constexpr double largest = 32767;  // pixels a side that cairo can do
  Error* error = nullptr;
  const auto read = found<Handle*(const std::uint8_t*, std::size_t, Error**)>("rsvg_handle_new_from_data");
  const Held<Handle> handle(read(reinterpret_cast<const std::uint8_t*>(svg.data()), svg.size(), &error),
                            found<void(Handle*)>("g_object_unref"));
  if (!handle) fail(taken(error, "librsvg cannot read it"));
  double width = 0;
  double height = 0;
  const auto size = found<Status(Handle*, double*, double*)>("rsvg_handle_get_intrinsic_size_in_pixels");
  if (size(handle.get(), &width, &height) == 0) fail("it has no size");
  width = std::ceil(width * scale);
  height = std::ceil(height * scale);
  if (width > largest || height > largest) fail("it is too large");

  const Held<Surface> surface(found<Surface*(int, int, int)>("cairo_image_surface_create")(
                                  rgb24, static_cast<int>(width), static_cast<int>(height)),
                              found<void(Surface*)>("cairo_surface_destroy"));
  const Held<Context> context(found<Context*(Surface*)>("cairo_create")(surface.get()),
                              found<void(Context*)>("cairo_destroy"));
  found<void(Context*, double, double, double)>("cairo_set_source_rgb")(context.get(), 1, 1, 1);
  found<void(Context*)>("cairo_paint")(context.get());
  const Rectangle whole = {.x = 0, .y = 0, .width = width, .height = height};
  const auto draw = found<Status(Handle*, Context*, const Rectangle*, Error**)>("rsvg_handle_render_document");
  if (draw(handle.get(), context.get(), &whole, &error) == 0) fail(taken(error, "librsvg cannot draw it"));
  std::string bytes;
  const auto write = found<Status(Surface*, Write*, void*)>("cairo_surface_write_to_png_stream");
  const Status status = write(surface.get(), append, &bytes);
  if (status != good) fail(found<const char*(Status)>("cairo_status_to_string")(status));
  return bytes;
}

}  // namespace plated::cli
