"""Moonshot's function names over Penstock: for programs and habits that come from there.

    from penstock import moonshot

    moonshot.api_create_endpoint("My GPT", "openai-connector", "", "env:OPENAI_API_KEY", "gpt-4o")
    runner = moonshot.api_create_runner("First look", ["my-gpt"])
    print(runner.run_cookbooks(["quick-look"], prompt_selection_percentage=10))

Only names and shapes, one file a noun: the work is done by `penstock.bench` and the engine.
"""

from __future__ import annotations

from penstock.moonshot.cookbooks import (
    api_create_cookbook,
    api_delete_cookbook,
    api_get_all_cookbook,
    api_get_all_cookbook_name,
    api_read_cookbook,
    api_update_cookbook,
)
from penstock.moonshot.datasets import (
    DatasetInfo,
    api_convert_dataset,
    api_create_dataset,
    api_delete_dataset,
    api_download_dataset,
    api_get_all_datasets,
    api_get_all_datasets_name,
    api_get_dataset,
)
from penstock.moonshot.endpoints import (
    api_create_endpoint,
    api_delete_endpoint,
    api_get_all_endpoint,
    api_get_all_endpoint_name,
    api_read_endpoint,
    api_update_endpoint,
)
from penstock.moonshot.predictions import Prediction, PredictionHandle, get_prediction
from penstock.moonshot.progress import RunnerProgress
from penstock.moonshot.prompt_templates import (
    api_change_prompt_template,
    api_create_prompt_template,
    api_delete_prompt_template,
    api_get_all_prompt_template,
    api_get_all_prompt_template_detail,
    api_get_all_prompt_template_name,
    api_read_prompt_template,
)
from penstock.moonshot.recipes import (
    api_create_recipe,
    api_delete_recipe,
    api_get_all_recipe,
    api_get_all_recipe_name,
    api_read_recipe,
    api_update_recipe,
)
from penstock.moonshot.results import (
    api_get_all_result,
    api_get_all_result_name,
    api_read_result,
    api_read_results,
)
from penstock.moonshot.runners import (
    Runner,
    api_create_runner,
    api_delete_runner,
    api_get_all_runner,
    api_get_all_runner_name,
    api_load_runner,
    api_read_runner,
    run_cookbooks,
    run_recipes,
)
from penstock.moonshot.sessions import (
    ChatHandle,
    api_create_session,
    api_delete_bookmark,
    api_delete_session,
    api_export_bookmarks,
    api_get_all_bookmarks,
    api_get_all_chats_from_session,
    api_get_all_session_metadata,
    api_get_all_session_names,
    api_get_bookmark,
    api_insert_bookmark,
    api_load_session,
    api_update_attack_module,
    api_update_context_strategy,
    api_update_cs_num_of_prev_prompts,
    api_update_metric,
    api_update_prompt_template,
    api_update_system_prompt,
    send_chat_message,
)

__all__ = [
    "ChatHandle",
    "DatasetInfo",
    "Prediction",
    "PredictionHandle",
    "Runner",
    "RunnerProgress",
    "api_change_prompt_template",
    "api_convert_dataset",
    "api_create_cookbook",
    "api_create_dataset",
    "api_create_endpoint",
    "api_create_prompt_template",
    "api_create_recipe",
    "api_create_runner",
    "api_create_session",
    "api_delete_bookmark",
    "api_delete_cookbook",
    "api_delete_dataset",
    "api_delete_endpoint",
    "api_delete_prompt_template",
    "api_delete_recipe",
    "api_delete_runner",
    "api_delete_session",
    "api_download_dataset",
    "api_export_bookmarks",
    "api_get_all_bookmarks",
    "api_get_all_chats_from_session",
    "api_get_all_cookbook",
    "api_get_all_cookbook_name",
    "api_get_all_datasets",
    "api_get_all_datasets_name",
    "api_get_all_endpoint",
    "api_get_all_endpoint_name",
    "api_get_all_prompt_template",
    "api_get_all_prompt_template_detail",
    "api_get_all_prompt_template_name",
    "api_get_all_recipe",
    "api_get_all_recipe_name",
    "api_get_all_result",
    "api_get_all_result_name",
    "api_get_all_runner",
    "api_get_all_runner_name",
    "api_get_all_session_metadata",
    "api_get_all_session_names",
    "api_get_bookmark",
    "api_get_dataset",
    "api_insert_bookmark",
    "api_load_runner",
    "api_load_session",
    "api_read_cookbook",
    "api_read_endpoint",
    "api_read_prompt_template",
    "api_read_recipe",
    "api_read_result",
    "api_read_results",
    "api_read_runner",
    "api_update_attack_module",
    "api_update_context_strategy",
    "api_update_cookbook",
    "api_update_cs_num_of_prev_prompts",
    "api_update_endpoint",
    "api_update_metric",
    "api_update_prompt_template",
    "api_update_recipe",
    "api_update_system_prompt",
    "get_prediction",
    "run_cookbooks",
    "run_recipes",
    "send_chat_message",
]
