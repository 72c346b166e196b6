"""Compares the dataclasses of python/belljar/_result.py with the tables that their objects are
built from (engine/host/outcome_fields.h).

    python3 tools/result_fields.py build/release/python           # exits with 1 if they differ
    python3 tools/result_fields.py build/release/python --write   # adds missing fields

Fields are added at the end, so that positional access to results keeps working. Run it with the
interpreter that the extension was built for.
"""

import ast
import importlib.util
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "python/belljar/_result.py"
Tables = dict[str, dict[str, tuple[str, str]]]  # class: field: annotation and meaning


def tables(package: Path) -> Tables:
    """From the extension alone: the package cannot be imported while they differ."""
    (path,) = package.glob("belljar/_host.*.so")
    spec = importlib.util.spec_from_file_location("belljar._host", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    fields: Tables = module.result_fields()
    return fields


def classes(page: str) -> dict[str, list[ast.AnnAssign]]:
    return {
        node.name: [item for item in node.body if isinstance(item, ast.AnnAssign)]
        for node in ast.parse(page).body
        if isinstance(node, ast.ClassDef)
    }


def annotations(page: str) -> dict[str, dict[str, str]]:
    return {
        name: {ast.unparse(field.target): ast.unparse(field.annotation) for field in fields}
        for name, fields in classes(page).items()
    }


def differences(page: str, wanted: Tables) -> list[str]:
    found = annotations(page)
    return [
        f"{name}.{field}: {has or 'missing'}; the table has {wants or 'none'}"
        for name, fields in wanted.items()
        for field in fields | found.get(name, {})
        if (has := found.get(name, {}).get(field)) != (wants := fields.get(field, ("",))[0])
    ]


def with_fields(page: str, wanted: Tables) -> str:
    """The page with the missing fields added."""
    lines = page.splitlines(keepends=True)
    for name, fields in reversed(classes(page).items()):
        last = fields[-1].end_lineno if fields else None
        if last is None or name not in wanted:
            continue
        if lines[last].startswith('    """'):  # its meaning
            last = next(i for i in range(last, len(lines)) if lines[i].endswith('"""\n')) + 1
        missing = wanted[name].keys() - annotations(page)[name].keys()
        for field in [field for field in reversed(wanted[name]) if field in missing]:
            annotation, meaning = wanted[name][field]
            text = f'    """{meaning}{"" if meaning.endswith(".") else "."}"""\n' if meaning else ""
            lines[last:last] = [f"    {field}: {annotation}\n", text]
    return "".join(lines)


def main(arguments: list[str]) -> int:
    wanted = tables(Path(arguments[0]))
    if "--write" in arguments:
        PAGE.write_text(with_fields(PAGE.read_text(), wanted))
    found = differences(PAGE.read_text(), wanted)
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
