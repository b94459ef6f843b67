"""Times a full-batch epoch of the hidden Markov model of bench/programs in Pyro, enumerated and summed by Pyro.

PLATED_DATA=... pyro_program.py [states]   prints the loss and the best of three epochs, loss and gradients, in seconds.
"""

import one_thread  # noqa: F401, I001
import os
import pathlib
import sys
import time

import numpy as np
import pyro
import pyro.distributions as dist
import torch
from pyro.infer import TraceEnum_ELBO


def wave(shape, seed):
    count = torch.Size(shape).numel()
    return torch.sin(torch.arange(count, dtype=torch.float64) * 1.7 + seed).reshape(shape)


def music():
    """Notes [sequence, step, key], and lengths."""
    folder = pathlib.Path(os.environ["PLATED_DATA"]) / "music"
    flat, lengths = np.load(folder / "jsb_train_notes.npy"), np.load(folder / "jsb_train_lengths.npy")
    notes = torch.zeros(len(lengths), max(lengths), 88)
    for row, (end, length) in enumerate(zip(np.cumsum(lengths), lengths)):
        notes[row, :length] = torch.from_numpy(flat.reshape(-1, 88)[end - length : end].astype(np.float64))
    return notes, torch.from_numpy(lengths.astype(np.int64))


def model(p, notes, lengths):
    enumerate_it = {"infer": {"enumerate": "parallel"}}
    with pyro.plate("n", len(lengths), dim=-2):
        x = pyro.sample("start", dist.Categorical(logits=p[0]), **enumerate_it)
        for t in pyro.markov(range(notes.shape[1])):
            with pyro.poutine.mask(mask=(t < lengths).unsqueeze(-1)):
                x = pyro.sample(f"x_{t}", dist.Categorical(logits=p[1][x]), **enumerate_it)
                with pyro.plate(f"key_{t}", 88, dim=-1):
                    pyro.sample(f"note_{t}", dist.Bernoulli(logits=p[2][x.squeeze(-1)]), obs=notes[:, t])


def main(states):
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    notes, lengths = music()
    p = [wave((states,), 1), wave((states, states), 2), wave((states, 88), 3) - 2]
    for parameter in p:
        parameter.requires_grad_()
    elbo = TraceEnum_ELBO(max_plate_nesting=2)
    best = float("inf")
    for _ in range(3):
        begin = time.perf_counter()
        loss = elbo.differentiable_loss(lambda: model(p, notes, lengths), lambda: None)
        torch.autograd.grad(loss, p)
        best = min(best, time.perf_counter() - begin)
    print(f"loss {loss.item():.6f}, best of three epochs {best:.3f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 16)
