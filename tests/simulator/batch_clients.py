"""The three batch APIs behind one small face, on bare sockets, for tests that hold for all."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from penstock.simulator import Simulator
from tests.simulator.raw import Response, post

__all__ = ["CLIENTS", "AnthropicClient", "Client", "GeminiClient", "Line", "OpenAIClient", "upload"]

VERSION = {"anthropic-version": "2026-10-21"}
GOOGLE = {"x-goog-api-key": "any", "authorization": ""}


class Line(NamedTuple):
    """One line of the results: whose, and done, error, expired or cancelled."""

    id: str
    kind: str
    text: str = ""


def upload(
    simulator: Simulator, data: bytes, purpose: str = "batch", name: str = "in.jsonl"
) -> Any:
    """Send a file as a form."""
    head = f'--X\r\nContent-Disposition: form-data; name="purpose"\r\n\r\n{purpose}\r\n--X\r\n'
    head += f'Content-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    kind = {"content-type": "multipart/form-data; boundary=X"}
    return post(simulator, head.encode() + data + b"\r\n--X--\r\n", "/v1/files", headers=kind)


class Client:
    """A client of one API. `names` become the custom ids, `Tell me about NAME` the questions."""

    def __init__(self, simulator: Simulator) -> None:
        self.simulator = simulator

    def create(self, names: list[str], model: str = "any", **more: Any) -> Response:
        raise NotImplementedError

    def make(self, names: list[str], model: str = "any", **more: Any) -> str:
        """A batch that was made, by its name."""
        response = self.create(names, model, **more)
        assert response.status == 200, response.body
        return str(response.json.get("id") or response.json["name"])

    def look(self, name: str) -> Response:
        raise NotImplementedError

    def state(self, name: str) -> str:
        raise NotImplementedError

    def results_open(self, name: str) -> bool:
        """Whether the results are still to come."""
        return self.state(name).lower() not in ("completed", "ended", "succeeded")

    def cancel(self, name: str) -> Response:
        raise NotImplementedError

    def listing(self) -> list[str]:
        raise NotImplementedError

    def results(self, name: str) -> list[Line]:
        raise NotImplementedError


class OpenAIClient(Client):
    """OpenAI's."""

    def create(self, names: list[str], model: str = "any", **more: Any) -> Response:
        lines = [
            {
                "custom_id": name,
                "method": "POST",
                "url": "/v1/chat/completions",
                "body": {
                    "model": model,
                    "messages": [{"role": "user", "content": f"Tell me about {name}"}],
                    **more,
                },
            }
            for name in names
        ]
        data = "".join(json.dumps(line) + "\n" for line in lines).encode()
        file = upload(self.simulator, data).json["id"]
        body = {
            "input_file_id": file,
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
        }
        return post(self.simulator, body, "/v1/batches")

    def look(self, name: str) -> Response:
        return post(self.simulator, None, f"/v1/batches/{name}", "GET")

    def state(self, name: str) -> str:
        return str(self.look(name).json["status"])

    def cancel(self, name: str) -> Response:
        return post(self.simulator, None, f"/v1/batches/{name}/cancel")

    def listing(self) -> list[str]:
        return [
            each["id"] for each in post(self.simulator, None, "/v1/batches", "GET").json["data"]
        ]

    def results(self, name: str) -> list[Line]:
        batch = self.look(name).json
        files = [batch["output_file_id"], batch["error_file_id"]]
        return [line for file in files if file for line in self._lines(file)]

    def _lines(self, file: str) -> list[Line]:
        content = post(self.simulator, None, f"/v1/files/{file}/content", "GET").body
        return [self._line(json.loads(line)) for line in content.splitlines()]

    @staticmethod
    def _line(told: dict[str, Any]) -> Line:
        if told["error"] is not None:
            return Line(told["custom_id"], told["error"]["code"].removeprefix("batch_"))
        response = told["response"]
        if response["status_code"] != 200:
            return Line(told["custom_id"], "error", response["body"]["error"]["message"])
        return Line(told["custom_id"], "done", response["body"]["choices"][0]["message"]["content"])


class AnthropicClient(Client):
    """Anthropic's."""

    PATH = "/v1/messages/batches"

    def create(self, names: list[str], model: str = "any", **more: Any) -> Response:
        requests = [
            {
                "custom_id": name,
                "params": {
                    "model": model,
                    "max_tokens": 1000,
                    "messages": [{"role": "user", "content": f"Tell me about {name}"}],
                    **more,
                },
            }
            for name in names
        ]
        return post(self.simulator, {"requests": requests}, self.PATH, headers=VERSION)

    def look(self, name: str) -> Response:
        return post(self.simulator, None, f"{self.PATH}/{name}", "GET", VERSION)

    def state(self, name: str) -> str:
        return str(self.look(name).json["processing_status"])

    def cancel(self, name: str) -> Response:
        return post(self.simulator, None, f"{self.PATH}/{name}/cancel", headers=VERSION)

    def listing(self) -> list[str]:
        found = post(self.simulator, None, self.PATH, "GET", VERSION).json["data"]
        return [each["id"] for each in found]

    def results(self, name: str) -> list[Line]:
        content = post(self.simulator, None, f"{self.PATH}/{name}/results", "GET", VERSION).body
        return [self._line(json.loads(line)) for line in content.splitlines()]

    @staticmethod
    def _line(told: dict[str, Any]) -> Line:
        result = told["result"]
        if result["type"] == "succeeded":
            return Line(told["custom_id"], "done", result["message"]["content"][0]["text"])
        kind = {"errored": "error", "canceled": "cancelled"}.get(result["type"], result["type"])
        text = result["error"]["error"]["message"] if kind == "error" else ""
        return Line(told["custom_id"], kind, text)


class GeminiClient(Client):
    """Gemini's, with the requests in the body."""

    def create(self, names: list[str], model: str = "any", **more: Any) -> Response:
        requests = [
            {
                "request": {"contents": [{"parts": [{"text": f"Tell me about {name}"}]}], **more},
                "metadata": {"key": name},
            }
            for name in names
        ]
        body = {"batch": {"displayName": "b", "inputConfig": {"requests": {"requests": requests}}}}
        path = f"/v1/models/{model}:batchGenerateContent"
        return post(self.simulator, body, path, headers=GOOGLE)

    def look(self, name: str) -> Response:
        return post(self.simulator, None, f"/v1/{name}", "GET", GOOGLE)

    def state(self, name: str) -> str:
        return str(self.look(name).json["metadata"]["state"]).removeprefix("BATCH_STATE_")

    def cancel(self, name: str) -> Response:
        return post(self.simulator, None, f"/v1/{name}:cancel", headers=GOOGLE)

    def listing(self) -> list[str]:
        found = post(self.simulator, None, "/v1/batches", "GET", GOOGLE).json["operations"]
        return [each["name"] for each in found]

    def results(self, name: str) -> list[Line]:
        output = self.look(name).json["metadata"].get("output", {}).get("inlinedResponses", {})
        return [self._line(told) for told in output.get("inlinedResponses", [])]

    @staticmethod
    def _line(told: dict[str, Any]) -> Line:
        key = told["metadata"]["key"]
        if "error" in told:
            return Line(key, "error", told["error"]["message"])
        return Line(key, "done", told["response"]["candidates"][0]["content"]["parts"][0]["text"])


CLIENTS: tuple[type[Client], ...] = (OpenAIClient, AnthropicClient, GeminiClient)
