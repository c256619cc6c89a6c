"""Servers that speak OpenAI's protocol under an address of their own.

A table: where they are, which variables name their address and key, and the few words they spell
differently. `groq/llama-3.3-70b-versatile` then just works. Nobody's key is sent to anybody else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from penstock.providers.openai import OpenAI
from penstock.providers.openai_batch import AzureBatches, GroqBatches, OpenAIBatches

__all__ = [
    "COMPATIBLE",
    "VLLM",
    "Azure",
    "Compatible",
    "DeepSeek",
    "Groq",
    "Mistral",
    "Ollama",
    "OpenRouter",
    "Together",
]


class Compatible(OpenAI):
    """Chat completions at somebody else's."""

    usual_model: ClassVar[str] = ""
    organisation: ClassVar[Mapping[str, str]] = {}
    renamed: ClassVar[Mapping[str, str]] = {}
    """Parameters that are called otherwise there."""
    differs: ClassVar[str] = ""
    """For people: what is particular there."""
    batch_lane: ClassVar[type[OpenAIBatches] | None] = None

    def _wire_params(self, params: Mapping[str, Any]) -> dict[str, Any]:
        made = super()._wire_params(params)
        return {self.renamed.get(name, name): value for name, value in made.items()}


class Azure(Compatible):
    """The model is the name of the deployment."""

    usual_url: ClassVar[str] = ""
    url_variables: ClassVar[tuple[str, ...]] = ("AZURE_OPENAI_ENDPOINT",)
    key_variables: ClassVar[tuple[str, ...]] = ("AZURE_OPENAI_AD_TOKEN", "AZURE_OPENAI_API_KEY")
    differs: ClassVar[str] = (
        "the model is the deployment's name; `OPENAI_API_VERSION`, or an address ending in "
        "`/openai/v1`; prices must be given"
    )
    batch_lane: ClassVar[type[OpenAIBatches] | None] = AzureBatches


class DeepSeek(Compatible):
    usual_url: ClassVar[str] = "https://api.deepseek.com/v1"
    url_variables: ClassVar[tuple[str, ...]] = ("DEEPSEEK_BASE_URL",)
    key_variables: ClassVar[tuple[str, ...]] = ("DEEPSEEK_API_KEY",)
    differs: ClassVar[str] = "no `json_schema`: plain JSON is asked for, and validated here"


class Groq(Compatible):
    usual_url: ClassVar[str] = "https://api.groq.com/openai/v1"
    url_variables: ClassVar[tuple[str, ...]] = ("GROQ_BASE_URL",)
    key_variables: ClassVar[tuple[str, ...]] = ("GROQ_API_KEY",)
    differs: ClassVar[str] = "the limit of requests is by the day, that of tokens by the minute"
    batch_lane: ClassVar[type[OpenAIBatches] | None] = GroqBatches


class Mistral(Compatible):
    usual_url: ClassVar[str] = "https://api.mistral.ai/v1"
    url_variables: ClassVar[tuple[str, ...]] = ("MISTRAL_BASE_URL",)
    key_variables: ClassVar[tuple[str, ...]] = ("MISTRAL_API_KEY",)
    renamed: ClassVar[Mapping[str, str]] = {
        "seed": "random_seed",
        "max_completion_tokens": "max_tokens",
    }
    differs: ClassVar[str] = "`seed` is sent as `random_seed`, `tool_choice='required'` as `any`"

    def _wire_params(self, params: Mapping[str, Any]) -> dict[str, Any]:
        made = super()._wire_params(params)
        if made.get("tool_choice") == "required":
            made["tool_choice"] = "any"
        return made


class Ollama(Compatible):
    usual_url: ClassVar[str] = "http://localhost:11434/v1"
    url_variables: ClassVar[tuple[str, ...]] = ("OLLAMA_BASE_URL",)
    key_variables: ClassVar[tuple[str, ...]] = ("OLLAMA_API_KEY",)
    needs_key: ClassVar[bool] = False
    renamed: ClassVar[Mapping[str, str]] = {"max_completion_tokens": "max_tokens"}
    differs: ClassVar[str] = "no key; prompts that are too long are cut by the server silently"


class OpenRouter(Compatible):
    usual_url: ClassVar[str] = "https://openrouter.ai/api/v1"
    url_variables: ClassVar[tuple[str, ...]] = ("OPENROUTER_BASE_URL",)
    key_variables: ClassVar[tuple[str, ...]] = ("OPENROUTER_API_KEY",)
    differs: ClassVar[str] = "the model has a maker before it: `openrouter/meta-llama/llama-...`"


class Together(Compatible):
    usual_url: ClassVar[str] = "https://api.together.ai/v1"
    url_variables: ClassVar[tuple[str, ...]] = ("TOGETHER_BASE_URL",)
    key_variables: ClassVar[tuple[str, ...]] = ("TOGETHER_API_KEY",)
    differs: ClassVar[str] = "an answer may end with `eos`, which is read as `stop`"


class VLLM(Compatible):
    usual_url: ClassVar[str] = "http://localhost:8000/v1"
    url_variables: ClassVar[tuple[str, ...]] = ("VLLM_BASE_URL",)
    key_variables: ClassVar[tuple[str, ...]] = ("VLLM_API_KEY",)
    needs_key: ClassVar[bool] = False
    differs: ClassVar[str] = "a key only where the server was started with one"


COMPATIBLE: Mapping[str, type[Compatible]] = {
    "azure": Azure,
    "deepseek": DeepSeek,
    "groq": Groq,
    "mistral": Mistral,
    "ollama": Ollama,
    "openrouter": OpenRouter,
    "together": Together,
    "vllm": VLLM,
}
