"""plated.jax under jit, grad and vmap, against the same elimination written in JAX."""

import numpy
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed: plated.jax was not tested")
jax.config.update("jax_enable_x64", True)
jnp = jax.numpy

import plated  # noqa: E402
import plated.jax  # noqa: E402

RANDOM = numpy.random.default_rng(5)


def normal(*shape):
    return jnp.asarray(RANDOM.normal(size=shape))


def by_hand(f, g):
    return jax.nn.logsumexp(f + jax.nn.logsumexp(g, 2).sum(0))


def log_z(f, g):
    return plated.jax.einsum("x,ixy->", f, g, plates="i")


def forward(prior, transition, emissions):
    message = prior
    for emission in emissions:
        message = jax.nn.logsumexp(message[:, None] + transition, 0) + emission
    return jax.nn.logsumexp(message)


def chains(prior, transition, emissions, lengths):
    return plated.jax.einsum("n a, (n t) a b, n t b -> n", jnp.stack([prior] * len(lengths)), transition, emissions,
                             batch="n", chains={"t": "a->b"}, lengths={"t": lengths})  # fmt: skip


def assert_close(found, expected, tolerance=1e-12):
    jax.tree.map(lambda f, e: numpy.testing.assert_allclose(f, e, rtol=tolerance, atol=tolerance), found, expected)


@pytest.mark.parametrize("transform", [lambda f: f, jax.jit])
def test_values_and_gradients(transform):
    f, g = normal(3), normal(4, 3, 2)
    assert_close(transform(log_z)(f, g), by_hand(f, g))
    assert_close(transform(jax.grad(log_z, (0, 1)))(f, g), jax.grad(by_hand, (0, 1))(f, g))


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_dtypes_are_kept(dtype):
    f, g = normal(3).astype(dtype), normal(4, 3, 2).astype(dtype)
    assert log_z(f, g).dtype == dtype
    assert jax.grad(log_z)(f, g).dtype == dtype


@pytest.mark.parametrize("axes", [(0, 0), (0, None), (None, 0)])
def test_vmap(axes):
    f = normal(5, 3) if axes[0] == 0 else normal(3)
    g = normal(5, 4, 3, 2) if axes[1] == 0 else normal(4, 3, 2)
    assert_close(jax.jit(jax.vmap(log_z, axes))(f, g), jax.vmap(by_hand, axes)(f, g))
    gradients = [jax.vmap(jax.grad(function, (0, 1)), axes)(f, g) for function in (log_z, by_hand)]
    assert_close(*gradients)
    summed = [jax.grad(lambda f, g, h=h: jax.vmap(h, axes)(f, g).sum(), (0, 1))(f, g) for h in (log_z, by_hand)]
    assert_close(*summed)


def test_vmap_in_vmap_and_of_nothing():
    f, g = normal(2, 5, 3), normal(4, 3, 2)
    twice = [jax.vmap(jax.vmap(h, (0, None)), (0, None))(f, g) for h in (log_z, by_hand)]
    assert_close(*twice)
    assert jax.vmap(log_z, (0, None))(normal(0, 3), g).shape == (0,)


def test_second_derivatives():
    f, g = normal(3), normal(4, 3, 2)
    assert_close(jax.jit(jax.jacrev(jax.grad(log_z)))(f, g), jax.hessian(by_hand)(f, g))
    direction = normal(3)

    def along(h):
        return jax.grad(lambda g: jax.grad(h)(f, g) @ direction)(g)

    assert_close(along(log_z), along(by_hand))


def test_plated_outputs_have_vector_jacobian_products():
    f, g, cotangent = normal(3), normal(4, 3, 2), normal(4, 2)

    def ours(f, g):
        return plated.jax.einsum("x,ixy->iy", f, g, plates="i")

    def hand(f, g):
        others = f + jax.nn.logsumexp(g, 2).sum(0) - jax.nn.logsumexp(g, 2)
        return jax.nn.logsumexp(others[:, :, None] + g, 1)

    assert_close(ours(f, g), hand(f, g))
    assert_close(jax.vjp(ours, f, g)[1](cotangent), jax.vjp(hand, f, g)[1](cotangent))


def test_several_outputs():
    left, right = plated.jax.einsum("ab,bc->a,c", jnp.ones((2, 3)), jnp.ones((3, 4)), semiring="real")
    assert_close((left, right), (jnp.full(2, 12.0), jnp.full(4, 6.0)))


def test_chains_with_traced_lengths():
    prior, transition, emissions, lengths = normal(3), normal(3, 3), normal(2, 6, 3), jnp.array([6, 3])
    expected = [forward(prior, transition, emissions[n, : lengths[n]]) for n in range(2)]
    assert_close(jax.jit(chains)(prior, transition, emissions, lengths), jnp.stack(expected))

    def total(transition):
        return sum(forward(prior, transition, emissions[n, : int(lengths[n])]) for n in range(2))

    gradient = jax.jit(jax.grad(lambda t: chains(prior, t, emissions, lengths).sum()))(transition)
    assert_close(gradient, jax.grad(total)(transition))


def test_a_training_loop_learns():
    emissions = normal(4, 8, 3)
    step = jax.jit(jax.value_and_grad(lambda t: -chains(jnp.zeros(3), jax.nn.log_softmax(t), emissions,
                                                        jnp.full(4, 8)).sum()))  # fmt: skip
    table, losses = jnp.zeros((3, 3)), []
    for _ in range(20):
        loss, gradient = step(table)
        table = table - 0.1 * gradient
        losses.append(float(loss))
    assert losses[-1] < losses[0] - 0.2
    assert all(later <= earlier + 1e-9 for earlier, later in zip(losses, losses[1:]))


def test_errors_name_what_is_wrong():
    with pytest.raises(plated.ShapeError, match="dim 'b' has two sizes"):
        plated.jax.einsum("ab,bc->a", jnp.ones((2, 3)), jnp.ones((4, 4)))
    with pytest.raises(plated.DtypeError, match="operand 1"):
        plated.jax.einsum("a,a->", jnp.ones(2), jnp.ones(2, dtype=jnp.int32))
    with pytest.raises(plated.IntractableError):
        plated.jax.einsum("ix,jy,ijxy->", jnp.ones((9, 2)), jnp.ones((9, 2)), jnp.ones((9, 9, 2, 2)), plates="ij")
    with pytest.raises(plated.OptionError, match="max_plus"):
        jax.grad(lambda f: plated.jax.einsum("x->", f, semiring="max_plus"))(jnp.ones(3))
    with pytest.raises(Exception, match="operand 0.*nan"):
        jax.block_until_ready(jax.jit(log_z)(jnp.full(3, jnp.nan), normal(4, 3, 2)))


def test_what_would_be_read_wrongly_is_refused():
    with pytest.raises(plated.DtypeError, match=r"operand 0 is a masked array.*\.filled\(\)"):
        plated.jax.einsum("x->", numpy.ma.zeros(2))
    for size in [2.7, True, "2"]:
        with pytest.raises(TypeError, match="the size of 'i' must be an int"):
            plated.jax.einsum("(i)x->", jnp.ones(2), plates="i", sizes={"i": size})
        with pytest.raises(TypeError, match="threads must be an int"):
            plated.jax.einsum("x->", jnp.ones(2), threads=size)
    with pytest.raises(plated.OptionError, match="threads is 4294967296"):
        plated.jax.einsum("x->", jnp.ones(2), threads=2**32)


def test_lengths_are_integers_in_range():
    operands = normal(3), normal(3, 3), normal(2, 4, 3)
    expected = chains(*operands, jnp.array([4, 2]))
    for dtype in ["int8", "uint8", "int32", "uint32", "int64", "uint64"]:
        for library in [numpy, jnp]:
            numpy.testing.assert_array_equal(chains(*operands, library.array([4, 2], dtype=dtype)), expected)
    for lengths in [numpy.array([4.0, 2.5]), jnp.array([4.0, 2.5]), [True, False], numpy.ma.array([4, 2])]:
        with pytest.raises(plated.DtypeError, match="lengths of 't'"):
            chains(*operands, lengths)
    # What an int32 would wrap to is no length.
    for library in [numpy, jnp]:
        for beyond in [2**32 + 2, -(2**32) + 2]:
            with pytest.raises(Exception, match=r"chain 't' has the length .* at index \(1\)"):
                jax.block_until_ready(chains(*operands, library.array([4, beyond])))


def test_no_callback_into_python():
    assert "callback" not in jax.jit(log_z).lower(normal(3), normal(4, 3, 2)).as_text()
    assert "plated_value" in jax.jit(log_z).lower(normal(3), normal(4, 3, 2)).as_text()
