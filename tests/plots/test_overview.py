"""README's picture can be drawn anew."""

import xml.etree.ElementTree as ET

from dplab import RandomizedResponse
from dplab.plots import overview


def test_the_overview_has_every_numeric_route():
    svg = overview.overview(10 * RandomizedResponse("0.6"), highest=3, digits=20)
    assert ET.fromstring(svg).get("role") == "img"
    for label in ("FFT bracket", "reference", "CLT (no bound)", "float64 ends here"):
        assert f"{label}</text>" in svg


def test_the_command_writes_the_file(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(overview, "overview", lambda composition: "<svg/>")
    overview.main([str(tmp_path / "deep" / "x.svg")])
    assert (tmp_path / "deep" / "x.svg").read_text() == "<svg/>"
    assert "wrote" in capsys.readouterr().out
