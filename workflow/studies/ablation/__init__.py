"""Ablation: what does each part of a model contribute (paper Tables 4, 5 and 13)?"""

from workflow.studies.study_kind import StudyKind

KIND = StudyKind(
    name="ablation",
    title="What does each part of the model contribute?",
    order=5,
)
