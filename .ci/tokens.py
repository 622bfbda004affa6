"""Tokens of code of each package, without docstrings and comments; fails where one has grown.

Growth beyond 3 % is a decision: raise the number here in the same commit.
"""

import ast
import io
import sys
import tokenize
from pathlib import Path

COMMITTED = {"npt": 95_400, "baselines": 21_300, "workflow": 69_200, "performance": 7_000}
GROWTH = 1.03
SKIPPED = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def tokens(path: Path) -> int:
    """Tokens of the code in a file."""
    source = path.read_text(encoding="utf-8")
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            docstrings.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    count = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        is_code = token.type not in SKIPPED and token.start[0] not in docstrings
        count += is_code and bool(token.string.strip())
    return count


grown = []
for package, committed in COMMITTED.items():
    now = sum(map(tokens, sorted(Path(package).rglob("*.py"))))
    print(f"{package:12} {now:8,} tokens, {committed:,} committed")
    if now > GROWTH * committed:
        grown.append(package)
if grown:
    sys.exit(f"grown by more than 3 %: {', '.join(grown)} (.ci/tokens.py)")
