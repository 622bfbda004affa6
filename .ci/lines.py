"""Tokens per code line of each package; fails where a package or a file is too dense."""

import ast
import io
import sys
import tokenize
from pathlib import Path

PACKAGE_LIMIT, FILE_LIMIT = 8.3, 10.0
SKIPPED = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def measure(path: Path) -> tuple[int, int]:
    """Tokens and lines of the code in a file, without docstrings, comments and blank lines."""
    source = path.read_text(encoding="utf-8")
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            docstrings.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines: list[int] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in SKIPPED or token.start[0] in docstrings or not token.string.strip():
            continue
        lines.append(token.start[0])
    return len(lines), len(set(lines))


failed = False
for package in ("npt", "baselines", "workflow", "performance", "tests"):
    sizes = {path: measure(path) for path in sorted(Path(package).rglob("*.py"))}
    tokens, lines = (sum(size[i] for size in sizes.values()) for i in (0, 1))
    print(f"{package:12} {len(sizes):4} files {lines:6} lines {tokens / lines:5.2f} tokens a line")
    dense = {path: t / n for path, (t, n) in sizes.items() if n >= 20 and t / n > FILE_LIMIT}
    if package == "tests":
        continue
    failed |= tokens / lines > PACKAGE_LIMIT or bool(dense)
    for path, density in dense.items():
        print(f"    {path}: {density:.1f}")
sys.exit(failed)
