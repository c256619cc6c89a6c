"""llama.cpp's own server with the model that is named, until standard input closes."""

from __future__ import annotations

import sys


def main() -> None:
    import xllamacpp  # type: ignore[import-not-found,unused-ignore]

    params = xllamacpp.CommonParams()
    params.model.path = sys.argv[1]
    params.n_ctx = 2048
    params.n_parallel = 2
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    server = xllamacpp.Server(params)
    sys.stdout.write(f"\nat {server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


main()
