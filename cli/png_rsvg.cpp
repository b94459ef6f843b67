// Renders SVG with librsvg and cairo. They are opened only when a PNG is asked for: with their fifty libraries, every
// start of the program would take four times as long.
#include <cairo.h>
#include <dlfcn.h>
#include <librsvg/rsvg.h>

#include <cmath>
#include <memory>

#include "errors.hpp"
#include "png.hpp"

namespace plated::cli {
namespace {

[[noreturn]] void fail(const std::string& why) {
  throw UsageError("the picture cannot be a PNG: " + why + "; draw an .svg");
}

/// librsvg, and through it the libraries that it needs.
void* library() {
  static void* const opened = dlopen("librsvg-2.so.2", RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) fail("librsvg is not installed");
  return opened;
}

/// A function of the library, by the type that its header gives it.
template <class Function>
Function* found(const char* name) {
  void* const symbol = dlsym(library(), name);
  if (symbol == nullptr) fail(std::string("librsvg has no ") + name);
  return reinterpret_cast<Function*>(symbol);
}

#define PLATED_FOUND(name) found<decltype(::name)>(#name)

/// Something that is released by a function of the library.
template <class T>
using Held = std::unique_ptr<T, void (*)(T*)>;

void unref(RsvgHandle* handle) { PLATED_FOUND(g_object_unref)(handle); }

std::string taken(GError* error, const char* otherwise) {
  if (error == nullptr) return otherwise;
  std::string message = error->message;
  PLATED_FOUND(g_error_free)(error);
  return message;
}

cairo_status_t append(void* out, const unsigned char* bytes, unsigned int count) {
  static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(bytes), count);
  return CAIRO_STATUS_SUCCESS;
}

}  // namespace

std::string png(const std::string& svg) {
  constexpr double scale = 2;
  constexpr double largest = 32767;  // pixels a side that cairo can do
  GError* error = nullptr;
  const auto* const text = reinterpret_cast<const guint8*>(svg.data());
  const Held<RsvgHandle> handle(PLATED_FOUND(rsvg_handle_new_from_data)(text, svg.size(), &error), unref);
  if (!handle) fail(taken(error, "librsvg cannot read it"));
  double width = 0;
  double height = 0;
  if (PLATED_FOUND(rsvg_handle_get_intrinsic_size_in_pixels)(handle.get(), &width, &height) == FALSE)
    fail("it has no size");
  width = std::ceil(width * scale);
  height = std::ceil(height * scale);
  if (width > largest || height > largest) fail("it is too large");

  const Held<cairo_surface_t> surface(
      PLATED_FOUND(cairo_image_surface_create)(CAIRO_FORMAT_RGB24, static_cast<int>(width), static_cast<int>(height)),
      PLATED_FOUND(cairo_surface_destroy));
  const Held<cairo_t> context(PLATED_FOUND(cairo_create)(surface.get()), PLATED_FOUND(cairo_destroy));
  PLATED_FOUND(cairo_set_source_rgb)(context.get(), 1, 1, 1);
  PLATED_FOUND(cairo_paint)(context.get());
  const RsvgRectangle whole = {.x = 0, .y = 0, .width = width, .height = height};
  if (PLATED_FOUND(rsvg_handle_render_document)(handle.get(), context.get(), &whole, &error) == FALSE) {
    fail(taken(error, "librsvg cannot draw it"));
  }
  std::string bytes;
  const cairo_status_t status = PLATED_FOUND(cairo_surface_write_to_png_stream)(surface.get(), append, &bytes);
  if (status != CAIRO_STATUS_SUCCESS) fail(PLATED_FOUND(cairo_status_to_string)(status));
  return bytes;
}

}  // namespace plated::cli
