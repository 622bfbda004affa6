"""Writes tables and figures of README.md and docs/ from measurements and reference studies.

A table stands between the comments `<!-- NAME -->` and `<!-- end of NAME -->`.
"""

from __future__ import annotations

from pathlib import Path

from performance.measured import MEASURED, measured_table
from performance.reproduction.page import REPRODUCTION
from performance.study_tables import PAPER, figure_of, study_table

ROOT = Path(__file__).parents[1]
DOCUMENTS = {
    "README.md": ["quick/dose_response effects"],
    "docs/results.md": [
        "quick/main scores",
        "quick/main published",
        "quick/corruption corruption",
        "mechanisms/labels_or_features corruption",
        "quick/benefit benefit",
        "quick/instrument instrument",
        "quick/dose_response dose_response",
        "mechanisms/lookup lookup",
        "mechanisms/deletion_lookup deletion",
        "mechanisms/attention_lookup attention",
        "mechanisms/ablation ablation",
        "compact/main scores",
        "compact/main fold_tests",
        "compact_ablation/ablation ablation",
    ],
    "docs/row_models.md": [
        "row_models/main scores",
        "row_models/protein scores",
        "row_models/benefit benefit",
        "row_models/benefit by_fold",
        "row_models/control ablation",
        "row_models/context context",
        "row_models/saint ablation",
        "row_models/corruption corruption",
        "row_models/dose_response dose_response",
        "row_models/deletion deletion",
        "row_models/lookup lookup",
        "row_models/lookup_add_one lookup",
        "row_models/attention attention",
        "row_models/instrument instrument",
    ],
    "docs/neural_processes.md": [
        "neural_processes/curves likelihoods",
        "process_step.cpu",
        "neural_processes/curves company",
        "neural_processes/completion completions",
        "neural_processes/one_table scores",
        "neural_processes/one_table_benefit benefit",
    ],
    "docs/performance.md": [
        "npt_step.cpu",
        "npt_step_one_thread.cpu",
        "npt_step_avx2.cpu",
        "npt_step.cuda",
        "npt_training.cpu",
        "npt_profile.cpu",
        "products.cpu",
        "attention.cpu",
        "npt_memory.cpu",
        "many_results.cpu",
    ],
    "docs/baselines.md": [
        "grid_search.cpu",
        "baselines/main published",
        "baselines/legacy published",
        "baselines/legacy_mlp published",
        "baselines/main cost",
    ],
    "docs/estimators.md": ["estimator.cpu", "estimator.cpu summary", "estimator_large.cpu"],
    "docs/solved.md": [
        "solved/main scores",
        "solved/parts ablation",
        "solved.cpu",
        "solved.cuda",
    ],
    "docs/studies.md": ["probes.cpu"],
    "docs/kernels.md": [
        "kernels/kernels ablation",
        "kernels/corruption corruption",
        "kernels/attention attention",
        "kernels/influence influence",
        "kernels/lipschitz lipschitz",
        "kernels/depth ablation",
        "kernels.cpu",
        "kernels.cpu spans",
    ],
    "docs/images.md": [
        "images/mnist ablation",
        "images/cifar10 ablation",
        "images/corruption_mnist corruption",
        "images/corruption_cifar10 corruption",
        "images/positions treatments",
        "images/attention attention",
        "images.cpu",
        "images.cpu bytes",
    ],
    "docs/tables.md": ["paper ranks", "paper tests"],
    "docs/data.md": ["prepare.cpu", "prepare.cpu forms"],
    "docs/reproduction.md": [*REPRODUCTION, "paper_tenth/labels_or_features corruption"],
}
FIGURES = {
    "docs/curves_training.png": "neural_processes/curves training",
    "docs/completions.png": "neural_processes/completion completions",
    "docs/influence.png": "kernels/influence influence",
    "docs/images.png": "images/attention attention",
}
DOTS_PER_INCH = 110


def main() -> None:
    """Write all tables and figures."""
    for document in DOCUMENTS:
        (ROOT / document).write_text(filled(document), encoding="utf-8")
    for picture, name in FIGURES.items():
        figure_of(name).savefig(ROOT / picture, dpi=DOTS_PER_INCH)


def filled(document: str) -> str:
    """Text of a document with its tables as they are now.

    Raises:
        ValueError: the markers of a table are missing, or occur twice.
    """
    text = (ROOT / document).read_text(encoding="utf-8")
    for name in DOCUMENTS[document]:
        begin = f"<!-- {name} -->\n"
        end = f"<!-- end of {name} -->"
        if text.count(begin) != 1 or text.count(end) != 1:
            raise ValueError(f"{document}: needs the markers of the table {name!r} once")
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}\n{table(name)}\n\n{end}{after}"
    return text


def table(name: str) -> str:
    """One table as Markdown."""
    if name in MEASURED:
        return measured_table(name)
    if name in PAPER:
        return PAPER[name]()
    if name in REPRODUCTION:
        return REPRODUCTION[name]()
    return study_table(name)


if __name__ == "__main__":
    main()
