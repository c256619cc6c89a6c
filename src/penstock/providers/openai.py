"""The `openai` provider: chat completions, and every server that speaks them.

OpenAI, Azure (known by its address), vLLM, Ollama, llama.cpp, Groq, Together and the rest differ
in small ways, all of them here: how the key travels, what the output cap is called, and whether
structured answers are understood. A server that refuses `json_schema` is asked for plain JSON, and
one that refuses that too gets the schema in the prompt; the answer is validated in any case.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, ClassVar, Literal
from urllib.parse import quote, urlsplit

import orjson

from penstock.errors import EndpointError
from penstock.messages import Message
from penstock.outcome import Answer, FailureKind
from penstock.providers.openai_batch import AzureBatches, OpenAIBatches
from penstock.providers.openai_errors import read_refusal
from penstock.providers.openai_read import ChatStream, read_answer
from penstock.providers.openai_schema import strict_schema
from penstock.providers.provider import HttpProvider, OnText, Refusal, Sent
from penstock.providers.ratelimits import RateLimits, openai_limits
from penstock.providers.transport import Reply
from penstock.request import Request
from penstock.schema import AnswerSchema
from penstock.secret import Secret

__all__ = ["OpenAI"]

# By name, also fine-tuned or behind a router; gpt-35 is Azure's spelling of gpt-3.5.
_REASONING = re.compile(r"^(?:.*/)?(?:ft:)?(o\d(?![\w.])|gpt-[5-9]|gpt-(?!35)\d\d)")
_AZURE = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")
_REFUSES_SCHEMA = re.compile(
    r"(?i)response_format|json[_ ]schema|json_object|structured|guided|grammar"
)


class OpenAI(HttpProvider):
    """Chat completions over HTTP."""

    usual_url: ClassVar[str] = "https://api.openai.com/v1"
    usual_model: ClassVar[str] = "gpt-4o-mini"
    url_variables: ClassVar[tuple[str, ...]] = ("OPENAI_BASE_URL",)
    key_variables: ClassVar[tuple[str, ...]] = ("OPENAI_API_KEY",)
    needs_key: ClassVar[bool] = True
    organisation: ClassVar[Mapping[str, str]] = {
        "openai-organization": "OPENAI_ORG_ID",
        "openai-project": "OPENAI_PROJECT_ID",
    }

    batch_lane: ClassVar[type[OpenAIBatches] | None] = OpenAIBatches
    """None where OpenAI's batches are not served."""

    _structured: Literal["json_schema", "json_object", "prompt"] = "json_schema"

    # Where ------------------------------------------------------------------------------------

    @property
    def _host(self) -> str:
        return urlsplit(self.endpoint.url).hostname or ""

    @property
    def _is_azure(self) -> bool:
        return self._host.endswith(_AZURE)

    def address(self, request: Request, *, stream: bool) -> str:
        return self._address

    def open(self) -> None:
        super().open()
        self._address = self._make_address()
        # A simulator is known by the model's name; no other server ever sees the header.
        self._tells_sample = self.endpoint.model.startswith("simulated")

    def beside(self, path: str) -> str:
        """The address of another part of the API, such as `/batches`."""
        base, _, query = self._address.partition("?")
        base = base.removesuffix("/chat/completions")
        base, _, _ = base.partition("/deployments/")  # of Azure: they lie beside the deployments
        return f"{base}{path}" + (f"?{query}" if query else "")

    def _make_address(self) -> str:
        base, question, query = self.endpoint.url.partition("?")
        base = base.rstrip("/")
        path = urlsplit(base).path
        if base.endswith("/chat/completions"):
            return self.endpoint.url
        if self._is_azure and not path.endswith("/v1"):
            if path in ("", "/openai"):
                deployment = quote(self.endpoint.model, safe="!$&'()*+,;=:@")
                base = f"{base.removesuffix('/openai')}/openai/deployments/{deployment}"
            if "api-version=" not in query:
                query = f"{query}&api-version={self._azure_version()}".lstrip("&")
            question = "?"
        return f"{base}/chat/completions{question}{query}"

    def _azure_version(self) -> str:
        version = os.environ.get("OPENAI_API_VERSION", "").strip()
        if not version:
            raise EndpointError(
                f"Azure wants an api-version for {self.endpoint.label}",
                remedy=(
                    "Run: export OPENAI_API_VERSION=..., write ?api-version=... behind the "
                    "address, or give the address that ends in /openai/v1."
                ),
            )
        return version

    # With what --------------------------------------------------------------------------------

    def _find_key(self) -> Secret | None:
        if self.endpoint.key is None and self._is_own_azure():
            for name in ("AZURE_OPENAI_AD_TOKEN", "AZURE_OPENAI_API_KEY"):
                if os.environ.get(name, "").strip():
                    self._azure_bearer = name.endswith("_AD_TOKEN")
                    return Secret(os.environ[name].strip())
        return super()._find_key()

    def _is_own_azure(self) -> bool:
        """Whether the usual Azure credentials may go there: to the resource that the user's own
        variable names, or, without one, to where the user's own settings say."""
        named = os.environ.get("AZURE_OPENAI_ENDPOINT", "").strip()
        if not named:
            return self._is_azure and self.endpoint.trusted
        return self._is_azure and urlsplit(named).hostname == self._host

    _azure_bearer: bool = False

    def headers(self, key: Secret | None) -> dict[str, str]:
        made = {
            "content-type": "application/json",
            "accept": "application/json",
            "user-agent": "penstock",
        }
        bearer = self._azure_bearer or not self._is_azure
        if key is not None and not bearer and not _is_token(key):
            made["api-key"] = key.reveal()
        elif key is not None:
            made["authorization"] = f"Bearer {key.reveal()}"
        if self.at_home():
            for header, name in self.organisation.items():
                if os.environ.get(name):
                    made[header] = os.environ[name]
        return made

    def sample_header(self, request: Request) -> dict[str, str]:
        return {"x-penstock-sample": str(request.sample)} if self._tells_sample else {}

    # What -------------------------------------------------------------------------------------

    def body(self, request: Request, *, stream: bool) -> dict[str, Any]:
        messages = [_wire_message(message) for message in request.messages]
        body: dict[str, Any] = {"model": self.endpoint.model, "messages": messages}
        body.update(self._wire_params(request.params))
        if request.tools:
            body["tools"] = list(request.tools)
        if request.schema is not None:
            self._ask_for(request.schema, body)
        if stream:
            body["stream"] = True
            body["stream_options"] = {"include_usage": True}
        return body

    def _wire_params(self, params: Mapping[str, Any]) -> dict[str, Any]:
        made = dict(params)
        if "max_tokens" in made and _REASONING.match(self.endpoint.model):
            made["max_completion_tokens"] = made.pop("max_tokens")
        return made

    def _ask_for(self, schema: AnswerSchema, body: dict[str, Any]) -> None:
        if self._structured == "json_schema":
            wire, strict = strict_schema(schema)
            made = {"name": schema.name, "schema": wire, "strict": strict}
            body["response_format"] = {"type": "json_schema", "json_schema": made}
            return
        if self._structured == "json_object":
            body["response_format"] = {"type": "json_object"}
        body["messages"] = [_schema_prompt(schema), *body["messages"]]

    # What came of it --------------------------------------------------------------------------

    async def send(self, request: Request, on_text: OnText | None = None) -> Sent:
        asked = self._structured
        sent = await super().send(request, on_text)
        if request.schema is None or asked == "prompt" or not self._refused_schema(sent):
            return sent
        if self._structured == asked:  # the first to see it decides for all
            self._structured = "json_object" if asked == "json_schema" else "prompt"
        return await self.send(request, on_text)

    def _refused_schema(self, sent: Sent) -> bool:
        if self._is_azure or self._host.endswith("api.openai.com"):
            return False
        outcome = sent.outcome
        return (
            not isinstance(outcome, Answer)
            and outcome.kind is FailureKind.INVALID_REQUEST
            and _REFUSES_SCHEMA.search(outcome.message) is not None
        )

    @classmethod
    def read(cls, body: bytes) -> Answer:
        return read_answer(body)

    def stream(self, on_text: OnText) -> ChatStream:
        return ChatStream(on_text)

    def limits(self, headers: Mapping[str, str]) -> RateLimits | None:
        return openai_limits(headers)

    def refusal(self, reply: Reply) -> Refusal:
        return read_refusal(reply)

    def batches(self) -> OpenAIBatches | None:
        lane = AzureBatches if self._is_azure else self.batch_lane
        return None if lane is None else lane(self)


def _is_token(key: Secret) -> bool:
    """Whether this is a token of Entra (a JWT), which travels as a bearer, and no key of Azure."""
    return key.reveal().startswith("eyJ") and key.reveal().count(".") == 2


def _wire_message(message: Message) -> Message:
    content = message["content"]
    if not isinstance(content, list):
        return message
    return {**message, "content": [_wire_part(part) for part in content]}


def _wire_part(part: Mapping[str, Any]) -> Mapping[str, Any]:
    kind = part["type"]
    if kind == "text":
        return part
    if kind == "audio":
        return {"type": "input_audio", "input_audio": {k: part[k] for k in ("data", "format")}}
    if kind == "image":
        image = {"url": part.get("url") or _data_url(part)}
        if "detail" in part:
            image["detail"] = part["detail"]
        return {"type": "image_url", "image_url": image}
    if "id" in part:
        return {"type": "file", "file": {"file_id": part["id"]}}
    file = {"file_data": part.get("url") or _data_url(part)}
    if part.get("name"):
        file["filename"] = part["name"]
    return {"type": "file", "file": file}


def _data_url(part: Mapping[str, Any]) -> str:
    return f"data:{part.get('media_type', 'application/octet-stream')};base64,{part['data']}"


def _schema_prompt(schema: AnswerSchema) -> Message:
    text = orjson.dumps(schema.schema).decode()
    return {
        "role": "system",
        "content": "Answer with JSON only, no other text, that fits this JSON schema:\n" + text,
    }
