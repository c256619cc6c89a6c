"""The names of the built-in metrics, and where their entry points point."""

from __future__ import annotations

BUILT_IN = {
    "bleu": "penstock.metrics.overlap:Bleu",
    "chrf": "penstock.metrics.overlap:Chrf",
    "contains": "penstock.metrics.text:Contains",
    "edit_distance": "penstock.metrics.text:EditDistance",
    "edit_similarity": "penstock.metrics.text:EditSimilarity",
    "exact_match": "penstock.metrics.text:ExactMatch",
    "llm_judge": "penstock.metrics.judge:LlmJudge",
    "rouge1": "penstock.metrics.rouge:Rouge1",
    "rouge2": "penstock.metrics.rouge:Rouge2",
    "rougeL": "penstock.metrics.rouge:RougeL",
    "rougeLsum": "penstock.metrics.rouge:RougeLsum",
    "semantic_similarity": "penstock.metrics.semantic:SemanticSimilarity",
}
