// All of Plated in one include.
#pragma once

#include "plated/cost.hpp"
#include "plated/draw.hpp"
#include "plated/einsum.hpp"
#include "plated/error.hpp"
#include "plated/evidence.hpp"
#include "plated/factor_graph.hpp"
#include "plated/gradient.hpp"
#include "plated/integers.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "plated/plan.hpp"
#include "plated/sample.hpp"
#include "plated/semiring.hpp"
#include "plated/tensor.hpp"
