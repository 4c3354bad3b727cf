# SPDX-License-Identifier: MIT OR Apache-2.0
"""Files that people and programs leave here. What is wrong in one is told with its place, the value and what was
expected."""

import difflib
import os
from dataclasses import fields
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KINDS = {str: "a string", int: "a number", bool: "true or false", dict: "a table", tuple: "an array of strings", list: "an array"}


class BadInput(Exception):
    """Something that the caller can mend."""


def called(path):
    """The name of a file, from the root of the project where it is below that."""
    path = Path(os.path.abspath(path))
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def text_of(path):
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        byte = error.object[error.start]
        raise BadInput(f"{called(path)}:{line}: found the byte 0x{byte:02x}, expected UTF-8") from None
    except OSError as error:
        raise BadInput(f"{called(path)}: {error.strerror}") from None


def toml_of(path):
    # Only Python 3.11 and newer has it, and what generates registers runs on older ones.
    import tomllib

    try:
        return tomllib.loads(text_of(path))
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{called(path)}: {error}") from None


def of_kinds(kind, entry, place, more=()):
    """An object of a dataclass with these entries, if they are of the kinds that they should be. `more` are those that
    are known besides."""
    known = [one.name for one in fields(kind)]
    unknown = sorted(set(entry) - set(known))
    if unknown:
        there = ", ".join([*known, *more])
        raise BadInput(f"{place}: there is no entry {guesses(unknown, known)}; expected one of {there}")
    for one in fields(kind):
        value = entry.get(one.name)
        is_list = one.type is tuple and isinstance(value, list | tuple)
        is_right = all(isinstance(part, str) for part in value) if is_list else type(value) is one.type
        if one.name in entry and not is_right:
            raise BadInput(f"{place}: {one.name} is {value!r}, expected {KINDS[one.type]}")
    return kind(**entry)


def near(name, known):
    """What somebody may have meant."""
    found = difflib.get_close_matches(name, list(known), n=3)
    return f" (is it {' or '.join(found)}?)" if found else ""


def guesses(names, known):
    """Names that are not known, each with what somebody may have meant."""
    return ", ".join(f"{name or repr(name)}{near(name, known)}" for name in names)


def write(path, data, mode="wb"):
    """Text or bytes. An error of the file system names the file, also where only the end of writing meets it."""
    try:
        with open(path, mode) as file:
            file.write(data.encode() if isinstance(data, str) else data)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def store(path, text):
    """Whole or not at all."""
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        write(new, text)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
