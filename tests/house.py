"""The rules of the house as functions: each reads source text and returns one sentence for each breach.

Floors: a module of dplab imports only from rooms on strictly lower floors and from its own room.
"""

import ast
import json
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]

# `plots` and `peers` are between the floors: one draws what the routes return, the other asks other accountants;
# comparison, verification, experiments and the faces use both.
FLOORS: dict[str, float] = {
    "core": 0,
    **dict.fromkeys(("mechanisms", "tradeoff"), 1),
    **dict.fromkeys(("symbolic", "reference", "fourier", "clt", "bounds"), 2),
    **dict.fromkeys(("plots", "peers"), 2.5),
    **dict.fromkeys(("calibration", "comparison", "verification", "sweep", "experiments"), 3),
    **dict.fromkeys(("widgets", "cli", "grading"), 4),
    "": 5,  # dplab/__init__.py, which hands out names of all rooms
    "__main__": 6,
}

# These run in a browser kernel too, which has only pure Python wheels.
WITHOUT_NUMPY = ("core", "mechanisms", "tradeoff", "symbolic", "reference")
COMPILED = ("numpy", "scipy", "matplotlib")

# Written in pieces, since the check reads this file too.
REGISTRY_HOSTS = tuple(
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("debian", "org"),
        ("anaconda", "org"),
        ("unpkg", "com"),
        ("jsdelivr", "net"),
    )
)


@dataclass(frozen=True)
class Module:
    """One source file; `name` is dotted and begins with dplab."""

    name: str
    is_package: bool
    tree: ast.Module

    @property
    def room(self) -> str:
        return room(self.name)

    def imports(self, known: set[str]) -> Iterator[tuple[int, str]]:
        """(line, dotted module) for every import, those in functions and import_module("...") included."""
        for node in ast.walk(self.tree):
            match node:
                case ast.Import(names):
                    yield from ((node.lineno, alias.name) for alias in names)
                case ast.ImportFrom(module, names, level):
                    base = self._absolute(module, level)
                    for alias in names:
                        full = f"{base}.{alias.name}"
                        yield node.lineno, full if full in known else base
                case ast.Call(func, [ast.Constant(str(target)), *_]) if _is_import_call(func):
                    level = len(target) - len(target.lstrip("."))
                    yield node.lineno, self._absolute(target[level:], level)

    def _absolute(self, module: str | None, level: int) -> str:
        if not level:
            return module or ""
        package = self.name.split(".") if self.is_package else self.name.split(".")[:-1]
        return ".".join([*package[: len(package) - level + 1], *([module] if module else [])])


def _is_import_call(func: ast.expr) -> bool:
    return isinstance(func, ast.Name | ast.Attribute) and getattr(func, "id", getattr(func, "attr", "")) in (
        "import_module",
        "__import__",
    )


def room(module: str) -> str:
    """The room of a dotted name: the part after dplab, or "" for dplab itself."""
    return module.partition(".")[2].partition(".")[0]


def read_modules(package: Path) -> list[Module]:
    """Every module of the package in a folder, parsed."""
    modules = []
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
        modules.append(Module(".".join(parts[:-1] if is_package else parts), is_package, tree))
    return modules


def floor_faults(modules: list[Module]) -> list[str]:
    """Imports that climb, or that enter another room on the same floor; rooms that have no floor."""
    known = {module.name for module in modules} | {f"dplab.{name}" for name in FLOORS}
    faults = [f"{m.name}: no floor for this room" for m in modules if m.room not in FLOORS]
    for module in modules:
        for line, target in module.imports(known):
            if target.split(".")[0] != "dplab" or room(target) == module.room:
                continue
            if not FLOORS.get(room(target), 9) < FLOORS.get(module.room, -1):
                faults.append(f"{module.name}:{line}: imports {target}, which is not on a lower floor")
    return faults


def compiled_import_faults(modules: list[Module]) -> list[str]:
    """Imports of numpy, scipy or matplotlib where a browser kernel must do without."""
    return [
        f"{module.name}:{line}: imports {target}"
        for module in modules
        if module.room in WITHOUT_NUMPY
        for line, target in module.imports(set())
        if target.split(".")[0] in COMPILED
    ]


def docstring_faults(modules: list[Module]) -> list[str]:
    """Modules, and public functions and classes at their top level, that say nothing."""
    definitions = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    faults = [f"{module.name}: no docstring" for module in modules if not ast.get_docstring(module.tree)]
    return faults + [
        f"{module.name}.{node.name}: no docstring"
        for module in modules
        for node in module.tree.body
        if isinstance(node, definitions) and not node.name.startswith("_") and not ast.get_docstring(node)
    ]


def name_faults(modules: Iterable[str], public: Iterable[str]) -> list[str]:
    """Modules called like a public name: importing the module would replace that name in its package.

    `public` holds dotted names ("dplab.compare"); what is called so in dplab itself is barred at any depth.
    """
    public = set(public)
    barred = {name.removeprefix("dplab.") for name in public if name.count(".") == 1}
    return [
        f"{module}: also the name of something public"
        for module in sorted(modules)
        if module in public or module.split(".")[-1] in barred
    ]


def notebook_faults(text: str) -> list[str]:
    """Outputs, counts, widget state; missing cell ids; no kernel named (JupyterLab would ask for one)."""
    notebook = json.loads(text)
    faults = ["widget state"] if "widgets" in notebook["metadata"] else []
    if notebook["metadata"].get("kernelspec", {}).get("name") != "python3":
        faults.append("no kernelspec named python3")
    for number, cell in enumerate(notebook["cells"]):
        if cell.get("outputs"):
            faults.append(f"cell {number}: outputs")
        if cell.get("execution_count") is not None:
            faults.append(f"cell {number}: an execution count")
        if not cell.get("id"):
            faults.append(f"cell {number}: no id")
    ids = [cell["id"] for cell in notebook["cells"] if cell.get("id")]
    return faults + [f"id {repeated} twice" for repeated in sorted({i for i in ids if ids.count(i) > 1})]


def length_fault(text: str, limit: int = 450) -> list[str]:
    """A file of about 400 lines can still be read in one sitting."""
    count = len(text.splitlines())
    return [f"{count} lines, more than {limit}"] if count > limit else []


def host_faults(text: str) -> list[str]:
    """A registry's host in a file would bind everybody to one mirror."""
    return [f"names {host}" for host in REGISTRY_HOSTS if host in text]


def tracked_files(root: Path = ROOT) -> list[Path]:
    """The files of the project: what git tracks or would; without git, all that are not hidden."""
    if (root / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=root, capture_output=True, check=True, text=True).stdout
        paths = [root / name for name in listed.split("\0") if name]
    else:
        paths = [p for p in root.rglob("*") if not any(s.startswith(".") for s in p.relative_to(root).parts)]
    return [path for path in paths if path.is_file()]


def text_of(path: Path) -> str | None:
    """The text of a file, or None if it is not text."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None
