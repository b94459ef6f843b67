"""plated.jax under jit, grad and vmap, against the same elimination written in JAX."""

import doctest

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


def crf_graph():
    """A chain in a batch, with factors by name."""
    graph = plated.FactorGraph()
    graph.batch("n", 2)
    graph.chain("t", 4)
    graph.variable("a", 3)
    graph.variable("b", 3)
    graph.link("t", "a", "b")
    graph.factor("start", [plated.first("a")], tied=["n"])
    graph.factor("move", ["a", "b"], tied=["n", "t"])
    graph.factor("score", ["n", "t", "b"])
    return graph


def crf_by_hand(start, move, score):
    return jnp.stack([forward(start, move, row) for row in score])


@pytest.mark.parametrize("subject", [lambda: crf_graph(), lambda: plated.compile(crf_graph())], ids=["graph", "plan"])
@pytest.mark.parametrize("transform", [lambda f: f, jax.jit])
def test_graphs_and_plans(subject, transform):
    about, (start, move, score) = subject(), (normal(3), normal(3, 3), normal(2, 4, 3))

    def log_z(start, move, score):
        return plated.jax.log_partition(about, {"score": score, "move": move}, start=start)

    assert_close(transform(log_z)(start, move, score), crf_by_hand(start, move, score))
    assert_close(transform(lambda *operands: plated.jax.einsum(about, *operands))(start, move, score), log_z(start, move, score))
    gradients = [transform(jax.grad(lambda *f, h=h: h(*f).sum(), (0, 1, 2)))(start, move, score) for h in (log_z, crf_by_hand)]
    assert_close(*gradients)
    many = normal(5, 3)
    assert_close(*(transform(jax.vmap(h, (0, None, None)))(many, move, score) for h in (log_z, crf_by_hand)))


def test_plans_bring_their_options():
    plan = plated.compile("x,xy->y", (2,), (2, 3), semiring="real")
    f, g = jnp.array([0.5, 2.0]), jnp.arange(6.0).reshape(2, 3)
    assert_close(plated.jax.einsum(plan, f, g), f @ g)
    assert_close(plated.jax.einsum(plan, f0=f, f1=g, semiring="max_product"), (f[:, None] * g).max(0))
    with pytest.raises(ValueError, match="log_partition keeps batch dims only"):
        plated.jax.log_partition(plan, f, g)


def test_traced_evidence():
    prior, table = normal(3), normal(3, 4)

    def observed(prior, table, seen):
        return plated.jax.log_partition("x,(i)xy", prior, table, plates="i", evidence={"y": seen})

    def hand(prior, table, seen):
        return jax.nn.logsumexp(prior + table[:, seen].sum(1))

    seen = jnp.array([0, 3, 3, 1, 2])
    assert_close(jax.jit(observed)(prior, table, seen), hand(prior, table, seen))  # the size of i is that of evidence
    gradients = [jax.jit(jax.grad(h, (0, 1)))(prior, table, seen) for h in (observed, hand)]
    assert_close(*gradients)
    rows = jnp.array([[0, 1], [3, 2], [1, 1]])
    assert_close(*(jax.vmap(h, (None, None, 0))(prior, table, rows) for h in (observed, hand)))
    assert_close(observed(prior, table, [0, -1]), jax.nn.logsumexp(prior + table[:, 0] + jax.nn.logsumexp(table, 1)))
    with pytest.raises(plated.DtypeError, match="evidence of 'y' has dtype float"):
        observed(prior, table, jnp.array([0.0]))
    with pytest.raises(Exception, match="evidence for 'y' has the value 4"):
        jax.block_until_ready(observed(prior, table, jnp.array([0, 4])))


def sprinkler():
    graph = plated.FactorGraph.from_equation("rain, rain wet ->", (2,), (2, 2), spaced=True)
    numbers = {"f0": [0.8, 0.2], "f1": [[0.9, 0.1], [0.2, 0.8]]}
    return plated.Model(graph, numbers, space="real", states={"wet": ["no", "yes"]}, evidence={"wet": "no"})


def test_models():
    model = sprinkler()
    for evidence in [{}, {"wet": "yes"}, {"wet": jnp.array(1)}, {"wet": None}]:
        plain = {"wet": 1} if evidence.get("wet") is not None else evidence
        assert_close(jax.jit(lambda e=evidence: plated.jax.log_partition(model, evidence=e))(), model.log_partition(evidence=plain))
    posterior = jax.grad(lambda prior: plated.jax.log_partition(model, f0=prior, evidence={"wet": "yes"}))(jnp.log(jnp.array([0.8, 0.2])))
    assert_close(posterior, model.marginals(evidence={"wet": "yes"})["rain"])


def test_limits_checks_and_weights():
    f, g = normal(3), normal(4, 3, 2)
    with pytest.raises(Exception, match="limit"):
        jax.block_until_ready(plated.jax.einsum("xy,yz->xz", normal(50, 60), normal(60, 70), memory_limit=100))
    bad = f.at[0].set(jnp.nan)
    assert jnp.isnan(jax.jit(lambda f: plated.jax.einsum("x->", f, check="none"))(bad))
    assert_close(plated.jax.einsum("ixy->", g, plates="i", weights={"i": 2.0}), 2 * plated.jax.einsum("ixy->", g, plates="i"))
    weights = jnp.array([1.0, 0.0, 2.0, 1.0])
    found = jax.jit(lambda w: plated.jax.einsum("ixy->", g, plates="i", weights={"i": w}))(weights)
    assert_close(found, (weights * jax.nn.logsumexp(g, (1, 2))).sum())


@pytest.mark.parametrize("semiring", ["log", "real", "max_plus"])
def test_plates_that_no_equation_says(semiring):
    graph = plated.FactorGraph()
    graph.plate("i", 3)
    graph.variable("x", 2, plates=[])  # its only factor would put it into the plate
    graph.variable("loose", 4, plates=["i"])  # nothing holds it
    graph.factor("f", ["i", "x"])
    f = jnp.abs(normal(3, 2))
    expected = plated.einsum(graph.equation(), numpy.asarray(f), plates="i", semiring=semiring)
    found = plated.compile(graph, semiring=semiring)(numpy.asarray(f))
    assert not numpy.allclose(found, expected)
    assert_close(plated.jax.einsum(graph, f, semiring=semiring), found)
    assert_close(plated.jax.einsum(graph, f=f, semiring=semiring), found)
    with pytest.raises(plated.OperandCountError):
        plated.jax.einsum(graph, f, f, semiring=semiring)


def test_what_jit_forbids():
    start, move = normal(3), normal(3, 3)

    def ragged(lengths):
        return plated.jax.log_partition("(n)a,(nt)ab", start, move, batch="n", chains={"t": "a->b"}, lengths={"t": lengths})

    assert ragged([4, 2]).shape == (2,)
    with pytest.raises(plated.OptionError, match="only its lengths tell the size of 't', and they are traced"):
        jax.jit(ragged)(jnp.array([4, 2]))
    with pytest.raises(TypeError, match="plates is for equations"):
        plated.jax.einsum(crf_graph(), normal(3), normal(3, 3), normal(2, 4, 3), plates="i")
    with pytest.raises(TypeError, match="an equation's operands have no names"):
        plated.jax.einsum("x->", f0=normal(3))


def test_documentation():
    assert doctest.testmod(plated.jax).failed == 0
