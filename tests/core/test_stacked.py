"""The budget's own picture: a bar whose pieces are the shares, with alt text, and a table that is its legend."""

import math
import xml.etree.ElementTree as ET

import pytest

from dplab.core.budget import ErrorBudget, Part
from dplab.core.stacked import PART_LOOKS, part_looks, stacked_bar, swatch

SVG = "{http://www.w3.org/2000/svg}"


def bars(svg: str) -> list[float]:
    root = ET.fromstring(svg)
    return [float(rect.get("width")) for rect in root.findall(f"{SVG}rect")]


def test_the_pieces_are_the_shares():
    svg = stacked_bar([("grid", 3e-4), ("tail", 0.0), ("rounding", 1e-4)], "words")
    assert bars(svg) == pytest.approx([480, 160])
    root = ET.fromstring(svg)
    assert root.get("role") == "img"
    assert root.find(f"{SVG}desc").text == "words"
    ids = {element.get("id") for element in root.iter() if element.get("id")}
    assert set(root.get("aria-labelledby").split()) <= ids


def test_a_part_that_narrows_the_bracket_has_no_piece():
    assert bars(stacked_bar([("grid", 2.0), ("direction", -1.0)], "")) == pytest.approx([640])


@pytest.mark.parametrize("size", [0.0, math.inf, -1.0])
def test_nothing_to_show(size):
    assert stacked_bar([("exact", size)], "") == ""
    shown = ErrorBudget((Part("exact", size, "known"), Part("grid", 0.0, "")), {})._repr_html_()
    assert "<table>" in shown
    assert "nan" not in shown


def test_parts_look_the_same_everywhere_and_no_two_look_alike():
    assert len(set(PART_LOOKS.values())) == len(PART_LOOKS)
    names = ["grid", "dust", "tail", "mice"]
    looks = part_looks(names)
    assert len(set(looks.values())) == 4
    assert looks["tail"] == PART_LOOKS["tail"]
    for place, look in enumerate([*PART_LOOKS.values(), *looks.values()]):
        ET.fromstring(swatch(look, f"x{place}"))


def test_the_budget_shows_bar_and_table():
    parts = (Part("grid", 3e-4, "Lemma <5>"), Part("tail", 1e-4, "Chernoff"), Part("rounding", 1e-15, "u"))
    assert [row[2] for row in ErrorBudget((*parts, Part("dust", 2e-8, "")), {}).rows()][1:] == [
        "25.0 %",
        "2e-10 %",
        "0.005 %",
    ]
    budget = ErrorBudget(parts, {"L": 8.0})
    shown = budget._repr_html_()
    assert shown.startswith("<svg")
    assert "Error budget: width 0.0004, of which grid 75 %, tail 25 %." in shown
    for text in ("Lemma &lt;5&gt;", "upper − lower", "75.0 %", "2e-10 %", "L = 8"):
        assert text in shown
    assert budget.description == "Error budget: width 0.0004, of which grid 75 %, tail 25 %."


def test_two_budgets_on_one_page_share_no_identifiers():
    def ids(budget):
        return {part.split('"')[0] for part in budget._repr_html_().split(' id="')[1:]}

    one = ErrorBudget((Part("tail", 1.0, ""),), {})
    two = ErrorBudget((Part("tail", 1.0, ""), Part("grid", 2.0, "")), {})
    assert ids(one)
    assert not ids(one) & ids(two)
