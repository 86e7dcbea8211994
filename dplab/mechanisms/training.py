"""Private training runs as compositions."""

import math

from ..core.composition import Composition
from ..core.errors import ParameterError, ParameterTypeError
from ..core.expression import Expression
from ..core.parameters import nonnegative, positive, whole
from .gaussian import Gaussian
from .subsampling import PoissonSubsampled


def dpsgd(noise_multiplier, batch_size, examples, epochs) -> Composition:
    """DP-SGD as it is usually accounted: epochs * examples/batch_size steps of a Poisson-subsampled Gaussian.

    noise_multiplier: the noise's standard deviation over the clipping norm, >= 0. batch_size: the *expected* batch,
    from 1 to `examples`, both whole. epochs > 0: passes over the data, on average; part of a step counts as one.

    **Assumption: every batch is a Poisson sample**, each example taking part with probability batch_size/examples,
    independently of the others and of other steps, and neighbours differ by one example added or removed. Shuffled or
    fixed-size batches are another mechanism, whose privacy this composition does not bound.

    Source: Abadi et al. (2016), "Deep learning with differential privacy".

    >>> dpsgd(noise_multiplier=4, batch_size=600, examples=60_000, epochs=100)
    10000 * PoissonSubsampled(Gaussian(sigma=4), q=0.01)

    Raises ParameterError for values out of range; its message names them.
    """
    size = whole(examples, "examples", 1, 10**12, "It is the number of training examples.")
    batch = whole(batch_size, "batch_size", 1, int(size), "It is the expected batch, at most all examples.")
    passes = positive(epochs, "epochs")
    if isinstance(passes, Expression):
        raise ParameterTypeError("epochs", epochs, "a rational number", "The steps are counted.")
    sigma = nonnegative(noise_multiplier, "noise_multiplier", "It is sigma over the clipping norm.")
    if passes * size / batch > 10**12:
        raise ParameterError("epochs", epochs, "at most 1e12 steps in all")
    steps = math.ceil(passes * size / batch)
    return steps * PoissonSubsampled(Gaussian(sigma), batch / size)
