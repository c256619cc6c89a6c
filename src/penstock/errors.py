"""What can go wrong outside a model's answer, as one tree.

What a model or a network does to one question is an Outcome (see `outcome.py`), never an
exception. An exception here means that the work as a whole cannot begin or go on. Each class
carries the exit code of the shell and the status of the HTTP door.

    PenstockError              1  500  the root; raised as itself only for a fault of ours
    ├── InputError             2  400  something given is wrong: remedy it and run again
    │   ├── SettingsError      2  400  a settings file, variable or flag
    │   ├── EndpointError      2  400  an endpoint that cannot be understood
    │   ├── RequestError       2  400  a question that cannot be asked as it stands
    │   └── NotFoundError      2  404  a name that is not there
    ├── ApiError               3  502  an endpoint will not serve us
    │   └── KeyMissingError    3  401  its key cannot be found
    ├── ProcessingError        4  422  the work was done but its result cannot be used
    └── HostError              5  503  this machine: disk, files, memory
        └── StoreError         5  503  the workspace
            ├── StorageFullError     5  507  no room, or not writable
            ├── DamagedError         5  500  a record does not match its checksum
            ├── NewerWorkspaceError  5  409  written by a newer version
            └── HeldError            5  409  another process holds it
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar

__all__ = [
    "ApiError",
    "DamagedError",
    "EndpointError",
    "Exit",
    "HeldError",
    "HostError",
    "InputError",
    "KeyMissingError",
    "NewerWorkspaceError",
    "NotFoundError",
    "PenstockError",
    "ProcessingError",
    "RequestError",
    "SettingsError",
    "StorageFullError",
    "StoreError",
]


class Exit(IntEnum):
    """The exit codes of the shell, all of them."""

    OK = 0
    FAULT = 1
    INPUT = 2
    API = 3
    PROCESSING = 4
    HOST = 5
    FAILURES = 6
    STOPPED = 7
    SUBMITTED = 8
    BELOW = 9
    CANCELLED = 130

    @property
    def meaning(self) -> str:
        """One line for the documentation and the help."""
        return _MEANINGS[self]


_MEANINGS = {
    Exit.OK: "everything was done",
    Exit.FAULT: "a fault of Penstock itself; please report it",
    Exit.INPUT: "something given is wrong: a flag, a file, a setting, an endpoint",
    Exit.API: "an endpoint will not serve: key, permission, quota, unknown model",
    Exit.PROCESSING: "the work was done but its result cannot be used",
    Exit.HOST: "this machine: disk full, read-only or damaged workspace, newer version",
    Exit.FAILURES: "finished, but some rows failed; they are listed and can be retried",
    Exit.STOPPED: "stopped at a budget or a limit; what was done is kept",
    Exit.SUBMITTED: "submitted; the answers are collected later",
    Exit.BELOW: "a score is below what was demanded",
    Exit.CANCELLED: "cancelled (Ctrl-C); what was done is kept, run again to go on",
}


class PenstockError(Exception):
    """The root of everything that Penstock raises on purpose.

    `message` says what happened and names the offending thing; `remedy` says what to do next.
    """

    exit_code: ClassVar[Exit] = Exit.FAULT
    http_status: ClassVar[int] = 500

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}\n{self.remedy}" if self.remedy else self.message


class InputError(PenstockError):
    """Something that was given is wrong; nothing was sent."""

    exit_code = Exit.INPUT
    http_status = 400


class SettingsError(InputError):
    """A settings file, an environment variable or a flag is wrong."""


class EndpointError(InputError):
    """An endpoint cannot be understood or may not be used."""


class RequestError(InputError):
    """A question cannot be asked as it stands."""


class NotFoundError(InputError):
    """A name that is not there."""

    http_status = 404


class ApiError(PenstockError):
    """An endpoint will not serve us, whatever we ask."""

    exit_code = Exit.API
    http_status = 502


class KeyMissingError(ApiError):
    """The key of an endpoint cannot be found."""

    http_status = 401


class ProcessingError(PenstockError):
    """The work was done, but its result cannot be used."""

    exit_code = Exit.PROCESSING
    http_status = 422


class HostError(PenstockError):
    """This machine cannot go on: disk, files, memory."""

    exit_code = Exit.HOST
    http_status = 503


class StoreError(HostError):
    """The workspace cannot be used."""


class StorageFullError(StoreError):
    """There is no room, or the workspace cannot be written."""

    http_status = 507


class DamagedError(StoreError):
    """A record does not match its checksum."""

    http_status = 500


class NewerWorkspaceError(StoreError):
    """The workspace was written by a newer version of Penstock."""

    http_status = 409


class HeldError(StoreError):
    """Another process holds what we want."""

    http_status = 409
