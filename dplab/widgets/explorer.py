"""The one helper behind every widget: some controls, one picture, its values in words.

The rules it keeps for everybody: a burst of key presses draws once; an error is shown where the user looks, and the
last good picture stays; every picture has its alt text and its numbers as text; nothing needs a mouse. It uses no
Output widget and no `interact`: headless runs stall on them, and errors in their callbacks vanish.
"""

import html
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping

import ipywidgets

from ..core.errors import DplabError
from ..plots.svg import Picture
from .debounce import Debounce

Shown = tuple[Picture, str]
"""What a drawing function returns: the picture, and HTML text with the values (or "")."""


class Explorer(ipywidgets.VBox):
    """`Explorer(draw, {"sigma": slider, ...})` shows `draw(sigma=..., ...)` and redraws when a control changes.

    draw: a plain function of the controls' values that returns (Picture, text); what it raises is shown in place.
    refine: a plain generator function of the same values that yields better pictures, one slow step at a time; it runs
    once the hand has rested for `pause` seconds and is dropped at the next change.
    visible: a plain function of the same values that names the controls which matter now; the others are hidden.
    delay, longest: seconds, see `Debounce`; take a delay of 0.4 for typed input. progress: text shown while waiting.

    Without a running event loop (tests) a change draws at once, and `finish()` runs the refinement.
    """

    def __init__(
        self,
        draw: Callable[..., Shown],
        controls: Mapping[str, ipywidgets.Widget],
        *,
        refine: Callable[..., Iterator[Shown]] | None = None,
        visible: Callable[..., Iterable[str]] | None = None,
        delay: float = 0.02,
        longest: float = 0.12,
        pause: float = 0.5,
        progress: str = "",
    ):
        self._draw, self._refine, self._visible, self._progress = draw, refine, visible, progress
        self.controls = dict(controls)
        self.picture = ipywidgets.HTML()
        self.error = ipywidgets.HTML()
        self.text = ipywidgets.HTML()
        self._alt = ""
        self._steps: Iterator[Shown] | None = None
        self._redraw = Debounce(self.refresh, delay, longest)
        self._later = Debounce(self._step, pause, pause)
        self._soon = Debounce(self._step, 0.01, 0.01)
        box = ipywidgets.Box(list(self.controls.values()), layout={"flex_flow": "row wrap"})
        super().__init__([box, self.error, self.picture, self.text])
        self.refresh(then_refine=False)
        self.finish()
        for control in self.controls.values():
            control.observe(self._changed, names="value")

    @property
    def values(self) -> dict[str, object]:
        """The controls' values, by name."""
        return {name: control.value for name, control in self.controls.items()}

    def refresh(self, then_refine: bool = True) -> None:
        """Draw now, from the controls' values; then improve the picture when there is time."""
        self._drop_refinement()
        values = self.values
        try:
            if self._visible is not None:
                self._show_only(set(self._visible(**values)))
            self._show(self._draw(**values))
        except Exception as error:  # whatever it is, the user must see it
            self._show_error(error)
            return
        self.error.value = ""
        if self._refine is not None:
            self._steps = self._refine(**values)
            if then_refine and _in_loop():
                self._later()

    def finish(self) -> None:
        """Run the refinement of the current picture to its end."""
        while self._steps is not None:
            self._one_step()

    def _changed(self, change) -> None:
        self._drop_refinement()
        if self._progress and _in_loop():
            self.text.value = f'<p role="status" aria-live="polite">{html.escape(self._progress)}</p>'
        self._redraw()

    def _drop_refinement(self) -> None:
        self._steps = None
        self._later.cancel()
        self._soon.cancel()

    def _step(self) -> None:
        self._one_step()
        if self._steps is not None:
            self._soon()

    def _one_step(self) -> None:
        if self._steps is None:
            return
        try:
            self._show(next(self._steps))
        except StopIteration:
            self._steps = None
        except Exception as error:  # as above
            self._steps = None
            self._show_error(error)

    def _show_only(self, names: set[str]) -> None:
        for name, control in self.controls.items():
            wanted = None if name in names else "none"
            if control.layout.display != wanted:
                control.layout.display = wanted

    def _show(self, shown: Shown) -> None:
        picture, text = shown
        with self.hold_sync():
            self._alt = picture.description
            self.picture.value = picture.svg
            words = text or html.escape(picture.description)
            self.text.value = f'<div role="status" aria-live="polite" style="line-height:1.4">{words}</div>'

    def _show_error(self, error: Exception) -> None:
        known = isinstance(error, DplabError)
        message = str(error) if known else f"{type(error).__name__}: {error}"
        trace = "" if known else "".join(traceback.format_exception(error))
        details = f"<details><summary>details</summary><pre>{html.escape(trace)}</pre></details>" if trace else ""
        self.error.value = (
            f'<div role="alert" style="color:#b00020;border-left:4px solid #b00020;padding:4px 10px;line-height:1.4">'
            f"{html.escape(message)} <em>The picture still shows the last setting that worked.</em>{details}</div>"
        )

    def _repr_mimebundle_(self, **keywords):
        """As any widget, with the picture itself for pages that run no widgets (exports, slides)."""
        bundle = super()._repr_mimebundle_(**keywords)
        if bundle is None:
            return None
        static = {"text/html": f"{self.picture.value}{self.text.value}", "text/plain": self._alt}
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        return {**data, **static}, metadata


def _in_loop() -> bool:
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
