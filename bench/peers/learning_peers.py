"""EM of other libraries from a given start: each function returns ln L, how many M-steps it is after, and
the processor's seconds, which other work on the machine does not change.

Functions are found as `library_workload`. What a library does not do as the others do is in its note; where it cannot be
told to maximise the same objective, `other_objective` says what it maximises.
"""

import time

import numpy

# dynamax always has priors, and its M-step of a count of zero under a flat one is NaN.
SLIGHT = 1.000001


def timed(call):
    begin = time.process_time()
    answer = call()
    return answer, time.process_time() - begin


def result(log_likelihood, steps, seconds, note="", other_objective=""):
    return {"log_likelihood": float(log_likelihood), "steps": steps, "seconds": seconds, "note": note, "other_objective": other_objective}


def crowdkit_dawid_skene(model, iterations):
    import pandas
    from crowdkit.aggregation import DawidSkene

    votes = pandas.DataFrame({"task": model["item"], "worker": model["annotator"], "label": model["vote"]})
    learner = DawidSkene(n_iter=iterations, tol=0)
    _, seconds = timed(lambda: learner.fit(votes))
    annotators, classes = model["confusion"].shape[:2]
    kinds = numpy.arange(classes)
    errors = numpy.zeros((annotators, classes, classes))  # [worker, truth, label]
    for (worker, label), row in learner.errors_[kinds].iterrows():
        errors[worker, :, label] = row
    joint = numpy.tile(numpy.log(learner.priors_[kinds].to_numpy()), (model["item"].max() + 1, 1))
    with numpy.errstate(divide="ignore"):
        numpy.add.at(joint, model["item"], numpy.log(errors[model["annotator"], :, model["vote"]]))
    most = joint.max(1)
    return result((most + numpy.log(numpy.exp(joint - most[:, None]).sum(1))).sum(), iterations, seconds)


def hmmlearn_categorical(model, iterations, implementation):
    from hmmlearn.hmm import CategoricalHMM

    states, symbols = model["emit"].shape
    learner = CategoricalHMM(n_components=states, n_features=symbols, n_iter=iterations, tol=-numpy.inf, init_params="",
                             implementation=implementation)  # fmt: skip
    learner.startprob_, learner.transmat_, learner.emissionprob_ = model["start"], model["move"], model["emit"]
    sequences, length = model["seen"].shape
    _, seconds = timed(lambda: learner.fit(model["seen"].reshape(-1, 1), [length] * sequences))
    return result(learner.monitor_.history[-1], iterations - 1, seconds)


def hmmlearn_scaled_hmm_long(model, iterations):
    return hmmlearn_categorical(model, iterations, "scaling")


def hmmlearn_log_hmm_long(model, iterations):
    return hmmlearn_categorical(model, iterations, "log")


hmmlearn_scaled_hmm_short = hmmlearn_scaled_hmm_long


def forward(start, move, weights):
    """ln L by a forward recursion in double; weights are [sequence, step, state]."""
    message, total = start * weights[:, 0], 0.0
    for step in range(weights.shape[1]):
        if step > 0:
            message = message @ move * weights[:, step]
        scale = message.sum(1, keepdims=True)
        message, total = message / scale, total + numpy.log(scale).sum()
    return total


def dynamax_em(learner, parameters, properties, seen, iterations, weights):
    import jax
    import jax.numpy as jnp

    seen = jnp.asarray(seen)

    # fit_em by itself compiles its steps anew in each call.
    fit = jax.jit(lambda start, seen: learner.fit_em(start, properties, seen, num_iters=iterations, verbose=False))
    compiled = fit.lower(parameters, seen).compile()
    (parameters, _), seconds = timed(lambda: jax.block_until_ready(compiled(parameters, seen)))
    start, move = (numpy.asarray(table, float) for table in (parameters.initial.probs, parameters.transitions.transition_matrix))
    batches = numpy.asarray(seen if seen.ndim == 3 else seen[None])[..., 0]
    return result(forward(start, move, weights(parameters.emissions, batches)), iterations, seconds, "float32, compiled before")


def dynamax_hmm_long(model, iterations):
    from dynamax.hidden_markov_model import CategoricalHMM

    states, symbols = model["emit"].shape
    learner = CategoricalHMM(states, 1, symbols, initial_probs_concentration=SLIGHT, transition_matrix_concentration=SLIGHT,
                             emission_prior_concentration=SLIGHT)  # fmt: skip
    parameters, properties = learner.initialize(initial_probs=model["start"], transition_matrix=model["move"],
                                                emission_probs=model["emit"][:, None, :])  # fmt: skip
    return dynamax_em(learner, parameters, properties, model["seen"][..., None], iterations,
                      lambda found, seen: numpy.asarray(found.probs, float)[:, 0].T[seen])  # fmt: skip


dynamax_hmm_short = dynamax_hmm_long


def pomegranate_hmm_short(model, iterations):
    import torch
    from pomegranate.distributions import Categorical
    from pomegranate.hmm import DenseHMM

    torch.set_num_threads(1)
    states = len(model["start"])
    learner = DenseHMM([Categorical([row]) for row in model["emit"].astype("float32")], edges=model["move"].astype("float32"),
                       starts=model["start"].astype("float32"), ends=numpy.full(states, 1e-9, "float32"),
                       max_iter=iterations, tol=1e-12)  # fmt: skip
    seen = torch.tensor(model["seen"])[..., None]
    _, seconds = timed(lambda: learner.fit(seen))
    return result(learner.log_probability(seen).sum(), iterations, seconds, "float32",
                  other_objective="it learns in which states sequences end, too")  # fmt: skip


def hmmlearn_gaussian_hmm(model, iterations):
    from hmmlearn.hmm import GaussianHMM

    learner = GaussianHMM(n_components=len(model["start"]), covariance_type="diag", n_iter=iterations, tol=-numpy.inf, init_params="",
                          implementation="scaling", means_weight=0, covars_prior=0, covars_weight=0, min_covar=0)  # fmt: skip
    learner.startprob_, learner.transmat_ = model["start"], model["move"]
    learner.means_, learner.covars_ = model["mean"][:, None], model["deviation"][:, None] ** 2
    _, seconds = timed(lambda: learner.fit(model["seen"][:, None]))
    return result(learner.monitor_.history[-1], iterations - 1, seconds)


def dynamax_gaussian_hmm(model, iterations):
    from dynamax.hidden_markov_model import DiagonalGaussianHMM

    states = len(model["start"])
    learner = DiagonalGaussianHMM(states, 1, initial_probs_concentration=SLIGHT, transition_matrix_concentration=SLIGHT,
                                  emission_prior_mean_concentration=1e-6, emission_prior_concentration=1e-6,
                                  emission_prior_scale=1e-6)  # fmt: skip
    parameters, properties = learner.initialize(initial_probs=model["start"], transition_matrix=model["move"],
                                                emission_means=model["mean"][:, None],
                                                emission_scale_diags=model["deviation"][:, None])  # fmt: skip
    return dynamax_em(learner, parameters, properties, model["seen"][:, None], iterations, normal_weights)


def normal_weights(found, seen):
    mean, deviation = (numpy.asarray(numbers, float)[:, 0] for numbers in (found.means, found.scale_diags))
    return numpy.exp(-(((seen[..., None] - mean) / deviation) ** 2) / 2) / (deviation * numpy.sqrt(2 * numpy.pi))


def poisson_weights(found, seen):
    from scipy.stats import poisson

    return poisson.pmf(seen[..., None], numpy.asarray(found.rates, float)[:, 0])


def hmmlearn_poisson_hmm(model, iterations):
    from hmmlearn.hmm import PoissonHMM

    learner = PoissonHMM(n_components=len(model["start"]), n_iter=iterations, tol=-numpy.inf, init_params="",
                         implementation="scaling", lambdas_prior=0, lambdas_weight=0)  # fmt: skip
    learner.startprob_, learner.transmat_, learner.lambdas_ = model["start"], model["move"], model["rate"][:, None]
    _, seconds = timed(lambda: learner.fit(model["seen"][:, None]))
    return result(learner.monitor_.history[-1], iterations - 1, seconds)


def dynamax_poisson_hmm(model, iterations):
    from dynamax.hidden_markov_model import PoissonHMM

    learner = PoissonHMM(len(model["start"]), 1, initial_probs_concentration=SLIGHT, transition_matrix_concentration=SLIGHT,
                         emission_prior_concentration=SLIGHT, emission_prior_rate=1e-9)  # fmt: skip
    parameters, properties = learner.initialize(initial_probs=model["start"], transition_matrix=model["move"],
                                                emission_rates=model["rate"][:, None])  # fmt: skip
    return dynamax_em(learner, parameters, properties, model["seen"][:, None].astype("float32"), iterations, poisson_weights)


def sklearn_gaussian_mixture(model, iterations):
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    warnings.simplefilter("ignore", ConvergenceWarning)
    learner = GaussianMixture(len(model["weights"]), covariance_type="diag", max_iter=iterations, tol=0, reg_covar=0,
                              weights_init=model["weights"], means_init=model["mean"][:, None],
                              precisions_init=model["deviation"][:, None] ** -2)  # fmt: skip
    seen = model["seen"][:, None]
    _, seconds = timed(lambda: learner.fit(seen))
    return result(learner.score(seen) * len(seen), iterations, seconds)


def pomegranate_gaussian_mixture(model, iterations):
    import torch
    from pomegranate.distributions import Normal
    from pomegranate.gmm import GeneralMixtureModel

    torch.set_num_threads(1)
    parts = [Normal([mean], [deviation**2], covariance_type="diag") for mean, deviation in zip(model["mean"], model["deviation"])]
    learner = GeneralMixtureModel(parts, priors=model["weights"].astype("float32"), max_iter=iterations, tol=-numpy.inf)
    seen = torch.tensor(model["seen"][:, None], dtype=torch.float32)
    _, seconds = timed(lambda: learner.fit(seen))
    return result(learner.log_probability(seen).double().sum(), iterations, seconds, "float32")


def stepmix_latent_classes(model, iterations):
    from stepmix.stepmix import StepMix

    class Started(StepMix):
        def _initialize_parameters_measurement(self, X, random_state=None, **more):
            super()._initialize_parameters_measurement(X, random_state=random_state, **more)
            self.log_resp_ = numpy.log(model["shares"])
            self.weights_ = model["weights"]
            self._mm.m_step(X, model["shares"])

    learner = Started(n_components=model["shares"].shape[1], measurement="binary", max_iter=iterations, abs_tol=0, rel_tol=0,
                      progress_bar=0)  # fmt: skip
    _, seconds = timed(lambda: learner.fit(model["seen"]))
    return result(learner.score(model["seen"]) * len(model["seen"]), iterations, seconds)


def pomegranate_latent_classes(model, iterations):
    import torch
    from pomegranate.distributions import Bernoulli
    from pomegranate.gmm import GeneralMixtureModel

    torch.set_num_threads(1)
    learner = GeneralMixtureModel([Bernoulli(row) for row in model["chance"].astype("float32")],
                                  priors=model["weights"].astype("float32"), max_iter=iterations, tol=-numpy.inf)  # fmt: skip
    seen = torch.tensor(model["seen"], dtype=torch.float32)
    _, seconds = timed(lambda: learner.fit(seen))
    return result(learner.log_probability(seen).double().sum(), iterations, seconds, "float32")


def asia_log_likelihood(model, tables):
    """By hand: ln L of all rows, the two unseen variables summed; tables are [parents' states, state]."""
    from learning_models import ASIA

    total = 0
    for either in (0, 1):
        for bronc in (0, 1):
            seen = {**model["seen"], "either": either, "bronc": bronc}
            product = 1
            for name, (parents, _) in ASIA.items():
                row = sum(seen[parent] * 2 ** (len(parents) - 1 - k) for k, parent in enumerate(parents))
                product = product * tables[name][row, seen[name]]
            total = total + product
    return numpy.log(total).sum()


def pgmpy_asia(model, iterations):
    import pandas
    from learning_models import ASIA, UNSEEN
    from pgmpy.estimators import ExpectationMaximization
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    network = DiscreteBayesianNetwork([(parent, name) for name, (parents, _) in ASIA.items() for parent in parents],
                                      latents=set(UNSEEN))  # fmt: skip
    start = {name: TabularCPD(name, 2, model["start"][name].T, list(parents) or None, [2] * len(parents) or None)
             for name, (parents, _) in ASIA.items()}  # fmt: skip
    learner = ExpectationMaximization(network, pandas.DataFrame(model["seen"]))
    found, seconds = timed(lambda: learner.get_parameters(latent_card={name: 2 for name in UNSEEN}, max_iter=iterations, atol=0,
                                                          n_jobs=1, init_cpds=start, show_progress=False))  # fmt: skip
    tables = {}
    for table in found:
        parents = ASIA[table.variable][0]
        order = [table.variables.index(name) for name in (*parents, table.variable)]
        tables[table.variable] = table.values.transpose(order).reshape(-1, 2)
    return result(asia_log_likelihood(model, tables), iterations, seconds)


def pyagrum_asia(model, iterations):
    import pandas
    import pyagrum
    from learning_models import ASIA, UNSEEN

    network = pyagrum.BayesNet()
    for name in ASIA:
        network.add(pyagrum.LabelizedVariable(name, name, 2))
    for name, (parents, _) in ASIA.items():
        for parent in parents:
            network.addArc(parent, name)
    for name, (parents, _) in ASIA.items():
        network.cpt(name)[:] = 0.5
        for row, chances in enumerate(model["start"][name]):
            states = {parent: row // 2 ** (len(parents) - 1 - k) % 2 for k, parent in enumerate(parents)}
            network.cpt(name)[states if parents else slice(None)] = list(chances)
    table = pandas.DataFrame({**{name: map(str, states) for name, states in model["seen"].items()}, **{name: "?" for name in UNSEEN}})
    learner = pyagrum.BNLearner(table, network, ["?"])
    learner.useEMWithRateCriterion(1e-30, 0)
    learner.setMaxIter(iterations)
    found = pyagrum.BayesNet(network)
    _, seconds = timed(lambda: learner.fitParameters(found))
    tables = {}
    for name, (parents, _) in ASIA.items():
        values = found.cpt(name)
        tables[name] = numpy.array([[values[{**{parent: row // 2 ** (len(parents) - 1 - k) % 2 for k, parent in enumerate(parents)},
                                             name: state}] for state in (0, 1)] for row in range(2 ** len(parents))])  # fmt: skip
    return result(asia_log_likelihood(model, tables), iterations, seconds)


def peers_of(workload):
    """The functions that learn a workload, by library."""
    return {name[: -len(workload) - 1]: call for name, call in globals().items()
            if name.endswith("_" + workload) and callable(call)}  # fmt: skip
