"""Puts README.md and the READMEs of committed runs on the site, and mends links to them."""

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
BESIDE_THE_DOCUMENTS = (
    *ROOT.glob("results/reference/*.md"),
    *ROOT.glob("results/reference/*/*.md"),
    *ROOT.glob("results/reference/*/*.csv"),
    *ROOT.glob("performance/results/*.json"),
    *ROOT.glob("workflow/configs/*.yaml"),
    *(ROOT / name for name in ("config.yaml", "CHANGELOG.md", "CITATION.cff", "LICENSE")),
)


def on_files(files: Files, config: Any) -> Files:
    """Add the README as the first page, and what documents link to."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "index.md", content=readme.replace("(docs/", "(")))
    for path in BESIDE_THE_DOCUMENTS:
        address = path.relative_to(ROOT).as_posix()
        files.append(File.generated(config, address, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links from documents to files of the repository."""
    if page.file.src_uri.count("/"):
        return markdown.replace("(../../docs/", "(../../")
    return markdown.replace("(../", "(")
