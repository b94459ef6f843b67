// Maps semirings to selective ones.
#include "semiring/selective.hpp"

#include "plated/error.hpp"

namespace plated::semiring {

Semiring selective(Semiring semiring) {
  switch (semiring) {
    case Semiring::log:
      return Semiring::max_plus;
    case Semiring::real:
      return Semiring::max_product;
    case Semiring::boolean:
      throw OptionError("the boolean semiring has no best assignment");
    default:
      return semiring;
  }
}

}  // namespace plated::semiring
