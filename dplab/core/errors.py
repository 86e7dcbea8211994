"""The error tree: everything dplab raises on purpose is a `DplabError`.

An error names the parameter, the value it got, what is allowed, and the usual cause, and it comes before any
work starts. Classes also derive from the built-in exception that a caller would expect.
"""


class DplabError(Exception):
    """Base of every error that dplab raises on purpose."""


class ParameterError(DplabError, ValueError):
    """A value outside its range, or not a number at all; `found` says which part of it is wrong, before the rest."""

    def __init__(self, name: str, value: object, allowed: str, cause: str = "", found: str = ""):
        self.name, self.value, self.allowed = name, value, allowed
        shown = repr(value)
        shown = shown if len(shown) <= 80 else shown[:77] + "..."
        rule = f"{found} It must be {allowed}." if found else f"must be {allowed}."
        super().__init__(f"{name} = {shown}: {rule}" + (f" {cause}" if cause else ""))


class ParameterTypeError(ParameterError, TypeError):
    """A value of a kind that cannot be read as the parameter asked for."""


class UnboundSymbolError(DplabError, ValueError):
    """A route that computes numbers was given parameters that are still symbols."""

    def __init__(self, names, route: str = "a numeric route"):
        self.names = tuple(sorted(names))
        listed = ", ".join(self.names)
        super().__init__(
            f"{route} needs numbers, but these parameters are symbols without a value: {listed}. "
            f"Bind them, e.g. composition.bind({self.names[0]}=...), or use dplab.symbolic."
        )


class NoClosedFormError(DplabError, NotImplementedError):
    """The symbolic route knows no closed form for this question; the message says which stage stopped."""


class NoEnclosureError(DplabError, NotImplementedError):
    """A strict bound was asked for where no strict enclosure is known; the message says of what."""


class PrecisionError(DplabError, ArithmeticError):
    """The reference route could not reach the digits asked for within its limits."""


class BudgetError(DplabError, TimeoutError):
    """Work that was given up because it took longer than its budget; `what` names it, `seconds` is the budget."""

    def __init__(self, what: str, seconds: float):
        self.what, self.seconds = what, seconds
        super().__init__(f"{what}: the budget of {seconds:g} s of CPU time ran out")


class MemoryLimitError(DplabError, MemoryError):
    """A request that would need more memory than allowed, refused beforehand; the message says what fits."""


class SchemaError(DplabError, ValueError):
    """JSON that does not follow the composition schema."""


class StepFailedError(DplabError, ArithmeticError):
    """A step of a derivation and an independent computation of the same quantity disagree."""
