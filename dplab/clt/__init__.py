"""The central limit route: delta(eps) as if the sum of losses were normal. An approximation, **never a bound**.

The truth lies on either side: sigma=1, q=0.01, k=1000, delta=1e-5 has eps = 1.828, and the limit says 1.618.

    gdp      (default) mu-GDP, mu from the loss's mean and variance (Dong, Roth, Su 2022, Theorem 3.4), and from the
             subsampling limit mu = q sqrt(k chi^2(P, Q)) for Poisson-subsampled parts
    limit    mu-GDP from limit theorems alone: sum of eps_i^2 for randomised response (Theorem 3.6), sum of mu_i^2 for
             Gaussians, the subsampling limit
    moments  mu-GDP with mu = 2 mean/sd of each direction, Theorem 3.4 used also where the pair is not symmetric
    normal   the loss itself as N(mean, variance), which is GDP only if variance = 2 mean
"""

from .route import curve, delta, epsilon, log_delta

__all__ = ["curve", "delta", "epsilon", "log_delta"]
