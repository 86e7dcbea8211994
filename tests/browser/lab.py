"""JupyterLab in headless Chromium, used as a student would: open a notebook, run it, press a slider's key."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Locator, Page, sync_playwright

START_SECONDS = 90
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",  # else it looks for its maker's hosts at every start
    "--disable-component-update",
    "--disable-sync",
)

# No news popup, and all cells in the page: by default JupyterLab takes out those that are scrolled away.
SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "notebook-extension/tracker": {"windowingMode": "none"},
}

# The idle dot alone is not enough: it shows before the kernel's channels are connected.
KERNEL_IS_READY = """name => {
    const context = window.jupyterapp?.shell.currentWidget?.sessionContext;
    const kernel = context?.session?.kernel;
    return context?.path === name && context.isReady
        && kernel?.connectionStatus === 'connected' && kernel.status === 'idle';
}"""

ERRORS = """() => {
    const found = [];
    const cells = window.jupyterapp.shell.currentWidget.content.model.cells;
    for (let number = 0; number < cells.length; number++) {
        const outputs = cells.get(number).outputs?.toJSON() ?? [];
        for (const output of outputs.filter(output => output.output_type === 'error'))
            found.push(`cell ${number}: ${output.ename}: ${output.evalue}`);
    }
    return found;
}"""

CONTENTS = "found => found.map(picture => picture.tagName === 'IMG' ? picture.src : picture.outerHTML)"


@contextmanager
def jupyter_lab(notebooks: Path, work: Path) -> Iterator[str]:
    """The address of a JupyterLab that serves a copy of the notebooks, made in the empty folder `work`.

    It sees none of the user's settings.
    """
    shutil.copytree(notebooks, work / "notebooks", ignore=shutil.ignore_patterns(".*"))
    for name, setting in SETTINGS.items():
        path = work / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(setting))
    port = _free_port()
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", f"--port={port}"),
        *("--ServerApp.port_retries=0", "--IdentityProvider.token=", "--LabApp.expose_app_in_browser=True"),
        f"--ServerApp.root_dir={work / 'notebooks'}",
        *(["--allow-root"] if _is_root() else []),
    ]
    own = {
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "IPYTHONDIR": "ipython",
    }
    environment = os.environ | {name: str(work / folder) for name, folder in own.items()}
    log = work / "server.log"
    with log.open("w") as output:
        server = subprocess.Popen(command, env=environment, stdout=output, stderr=output, start_new_session=True)
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_until_answering(server, f"{url}/api", log)
            yield url
        finally:
            _stop(server)


@contextmanager
def chromium_page() -> Iterator[Page]:
    """One page of the system's Chromium."""
    executable = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if executable is None:
        raise RuntimeError(f"the browser tests need one of {', '.join(CHROMIUM)} on the PATH")
    flags = [*CHROMIUM_FLAGS, *(["--no-sandbox"] if _is_root() else [])]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=flags)
        try:
            yield browser.new_page(viewport={"width": 1280, "height": 1000})
        finally:
            browser.close()


def open_notebook(page: Page, url: str, name: str) -> None:
    """Open a notebook and wait until its kernel can be used."""
    page.goto(f"{url}/lab/tree/{name}?reset")  # without the notebooks of earlier visits
    page.wait_for_function(KERNEL_IS_READY, arg=name, timeout=START_SECONDS * 1000)


def run_all(page: Page, seconds: float = 120) -> None:
    """Run all cells of the open notebook to their end; AssertionError names the cells that failed."""
    page.evaluate("""() => {
        window.ranAll = false;
        window.jupyterapp.commands.execute('notebook:run-all-cells').finally(() => { window.ranAll = true; });
    }""")
    page.wait_for_function("window.ranAll", timeout=seconds * 1000)
    errors = page.evaluate(ERRORS)
    assert not errors, "\n".join(errors)


def widget_with(page: Page, label: str, place: int = 0) -> Locator:
    """The output of the notebook that has a slider with this label; `place`: which of them (-1 is the last)."""
    slider = page.locator(".widget-slider").filter(has=page.get_by_text(label, exact=True))
    return page.locator(".jp-OutputArea-output").filter(has=slider).nth(place)


def press_slider(widget: Locator, label: str, key: str = "ArrowRight") -> None:
    """Focus the widget's slider with this label and press a key."""
    slider = widget.locator(".widget-slider").filter(has=widget.page.get_by_text(label, exact=True)).first
    slider.get_by_role("slider").first.press(key)  # of a range slider, the lower handle


def picture(widget: Locator, seconds: float = 10) -> str:
    """What the widget shows, once it has shown the same for half a second."""
    shown = widget.locator("svg, img")
    shown.first.wait_for(timeout=seconds * 1000)
    end = time.monotonic() + seconds
    content, since = "", time.monotonic()
    while time.monotonic() - since < 0.5:
        now = "".join(shown.evaluate_all(CONTENTS))
        if now != content:
            content, since = now, time.monotonic()
        if since > end:
            raise TimeoutError(f"the picture did not come to rest within {seconds} s")
        widget.page.wait_for_timeout(20)
    return content


def new_picture(widget: Locator, before: str, seconds: float = 10) -> str:
    """Wait until the widget shows something else than before."""
    end = time.monotonic() + seconds
    while (now := picture(widget, seconds)) == before:
        if time.monotonic() > end:
            raise TimeoutError(f"the picture did not change within {seconds} s")
    return now


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_until_answering(server: subprocess.Popen, url: str, log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < end:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()[-2000:]}")


def _stop(server: subprocess.Popen) -> None:
    """Ask the server to end, so that it ends its kernels, and insist if it does not."""
    server.terminate()
    try:
        server.wait(timeout=15)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
