"""A small Hugging Face hub on this machine: what its own library needs to push and to load.

Repositories are dicts of bytes. Parquet goes the way of large files, the rest inside the commit, as
on the real one. Everything asks for a token; everything that came is kept for the test to look at.
"""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

TOKEN = "hf_canaryCanaryCanary1234567890"


@dataclass
class Repo:
    """A repository: its branches, each with its files."""

    private: bool = False
    branches: dict[str, dict[str, bytes]] = field(default_factory=lambda: {"main": {}})
    commits: int = 1

    @property
    def files(self) -> dict[str, bytes]:
        return self.branches["main"]

    @property
    def sha(self) -> str:
        return sha256(str(self.commits).encode()).hexdigest()[:40]


class Seen(NamedTuple):
    """One request as it came."""

    method: str
    path: str
    body: bytes
    query: str = ""


class Refusal(Exception):  # noqa: N818
    def __init__(self, status: int, code: str = "", said: str = "") -> None:
        super().__init__(said)
        self.status, self.code, self.said = status, code, said


class Hub:
    """What the server holds."""

    def __init__(self) -> None:
        self.url = ""
        self.repos: dict[str, Repo] = {}
        self.large: dict[str, bytes] = {}
        self.seen: list[Seen] = []
        self.refuse: dict[str, Refusal] = {}
        """By a word in the path: what is answered instead."""

    def answer(self, seen: Seen) -> tuple[int, Any, dict[str, str]]:
        self.seen.append(seen)
        for word, refusal in self.refuse.items():
            if word in seen.path:
                raise refusal
        for method, pattern, work in _ROUTES:
            found = re.fullmatch(pattern, seen.path)
            if found and seen.method in method:
                made = work(self, *map(unquote, found.groups("")), seen)
                return made if isinstance(made, tuple) else (200, made, {})
        raise Refusal(404, "EntryNotFound", f"nothing is at {seen.path}")

    def repo(self, name: str) -> Repo:
        if name not in self.repos:
            raise Refusal(404, "RepoNotFound", "Repository not found")
        return self.repos[name]

    def files(self, name: str, revision: str) -> dict[str, bytes]:
        repo = self.repo(name)
        if revision == repo.sha:
            return repo.files
        if revision not in repo.branches:
            raise Refusal(404, "RevisionNotFound", "Revision not found")
        return repo.branches[revision]

    # What is asked ---------------------------------------------------------------------------

    def whoami(self, _: Seen) -> Any:
        return {"type": "user", "name": "me", "auth": {"accessToken": {"role": "write"}}}

    def create(self, seen: Seen) -> Any:
        wanted = json.loads(seen.body)
        name = f"{wanted['organization'] or 'me'}/{wanted['name']}"
        if name in self.repos:
            raise Refusal(409, "", "You already created this dataset repo")
        self.repos[name] = Repo(private=wanted.get("visibility") == "private")
        self.repos[name].files[".gitattributes"] = b"*.parquet filter=lfs"
        return {"url": f"{self.url}/datasets/{name}", "name": name}

    def info(self, name: str, revision: str, _: Seen) -> Any:
        files = self.files(name, revision or "main")
        repo = self.repo(name)
        return {
            "id": name,
            "author": name.split("/")[0],
            "sha": repo.sha,
            "private": repo.private,
            "siblings": [{"rfilename": path} for path in sorted(files)],
            "tags": [],
            "downloads": 0,
            "likes": 0,
            "gated": False,
            "disabled": False,
        }

    def branch(self, name: str, branch: str, _: Seen) -> Any:
        repo = self.repo(name)
        if branch in repo.branches:
            raise Refusal(409, "", "Reference already exists")
        repo.branches[branch] = dict(repo.files)
        return {}

    def checked(self, _: Seen) -> Any:
        return {"errors": [], "warnings": []}

    def preupload(self, name: str, revision: str, seen: Seen) -> Any:
        self.files(name, revision)
        return {
            "files": [
                {
                    "path": each["path"],
                    "uploadMode": "lfs" if each["path"].endswith(".parquet") else "regular",
                    "shouldIgnore": False,
                }
                for each in json.loads(seen.body)["files"]
            ]
        }

    def batch(self, _name: str, seen: Seen) -> Any:
        objects = [
            {
                **each,
                "actions": {"upload": {"href": f"{self.url}/large/{each['oid']}", "header": {}}},
            }
            for each in json.loads(seen.body)["objects"]
        ]
        head = {"Content-Type": "application/vnd.git-lfs+json"}
        return 200, {"transfer": "basic", "objects": objects}, head

    def put(self, oid: str, seen: Seen) -> Any:
        assert sha256(seen.body).hexdigest() == oid
        self.large[oid] = seen.body
        return {}

    def commit(self, name: str, revision: str, seen: Seen) -> Any:
        repo, files = self.repo(name), self.files(name, revision)
        lines = [json.loads(line) for line in seen.body.splitlines()]
        if lines[0]["value"].get("parentCommit") not in (None, repo.sha):
            raise Refusal(412, "", "A commit has happened since")
        for line in lines[1:]:
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                files[value["path"]] = self.large[value["oid"]]
            else:
                del files[value["path"]]
        repo.commits += 1
        url = f"{self.url}/datasets/{name}/commit/{repo.sha}"
        return {"success": True, "commitOid": repo.sha, "commitUrl": url, "hookOutput": ""}

    def resolve(self, name: str, revision: str, path: str, _: Seen) -> Any:
        files = self.files(name, revision)
        if path not in files:
            raise Refusal(404, "EntryNotFound", "Entry not found")
        head = {"X-Repo-Commit": self.repo(name).sha, "ETag": f'"{_etag(files[path])}"'}
        return 200, files[path], head

    def paths(self, name: str, revision: str, seen: Seen) -> Any:
        files = self.files(name, revision)
        wanted = json.loads(seen.body)["paths"]
        found = [_file(path, files[path]) for path in wanted if path in files]
        folders = [path for path in wanted if any(each.startswith(path + "/") for each in files)]
        return found + [_folder(path) for path in folders]

    def tree(self, name: str, revision: str, folder: str, seen: Seen) -> Any:
        files = self.files(name, revision)
        start = f"{folder.strip('/')}/" if folder.strip("/") else ""
        under = [path for path in files if path.startswith(start)]
        if "recursive=true" in seen.query.lower():
            return [_file(path, files[path]) for path in under]
        deeper = {start + path[len(start) :].split("/")[0] for path in under}
        return [_file(path, files[path]) if path in files else _folder(path) for path in deeper]


def _etag(body: bytes) -> str:
    return sha256(body).hexdigest()[:40]


def _file(path: str, body: bytes) -> dict[str, Any]:
    return {"type": "file", "oid": _etag(body), "size": len(body), "path": path}


def _folder(path: str) -> dict[str, Any]:
    return {"type": "directory", "oid": "0" * 40, "size": 0, "path": path}


_NAME = r"/api/datasets/([^/]+/[^/]+)"
_ROUTES: list[tuple[str, str, Callable[..., Any]]] = [
    ("GET", "/api/whoami-v2", Hub.whoami),
    ("POST", "/api/repos/create", Hub.create),
    ("POST", "/api/validate-yaml", Hub.checked),
    ("GET", f"{_NAME}(?:/revision/(.+))?", Hub.info),
    ("POST", f"{_NAME}/branch/(.+)", Hub.branch),
    ("POST", f"{_NAME}/preupload/(.+)", Hub.preupload),
    ("POST", f"{_NAME}/commit/(.+)", Hub.commit),
    ("POST", f"{_NAME}/paths-info/([^/]+)", Hub.paths),
    ("GET", f"{_NAME}/tree/([^/]+)(/.*)?", Hub.tree),
    ("POST", r"/datasets/([^/]+/[^/]+)\.git/info/lfs/objects/batch", Hub.batch),
    ("PUT", "/large/([0-9a-f]+)", Hub.put),
    ("GET HEAD", "/datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", Hub.resolve),
]


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do(self) -> None:
        body = self._body()
        path, query = urlsplit(self.path)[2:4]
        try:
            if not path.startswith("/large/"):
                self._check()
            status, made, head = self.hub.answer(Seen(self.command, path, body, query))
        except Refusal as refusal:
            status, head = refusal.status, {"X-Error-Code": refusal.code}
            head["X-Error-Message"] = refusal.said
            made = {"error": refusal.said}
        self._reply(status, made, head)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _check(self) -> None:
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            said = f"Invalid token {self.headers.get('Authorization')}"
            raise Refusal(401, "", said)

    def _reply(self, status: int, made: Any, head: dict[str, str]) -> None:
        body = made if isinstance(made, bytes) else json.dumps(made).encode()
        start = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if start and status == 200:
            first, last = int(start[1]), int(start[2] or len(body) - 1)
            head = {**head, "Content-Range": f"bytes {first}-{last}/{len(body)}"}
            body, status = body[first : last + 1], 206
        self.send_response(status)
        for name, value in head.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do  # noqa: N815


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """The hub on a port of its own."""

    handler = type("Handler", (_Handler,), {"hub": hub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
