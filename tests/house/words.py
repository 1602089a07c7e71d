"""Counts of the patterns of English that this project leaves behind: first lines, sentences and words."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

# Words that begin a relative clause or a question, in place of the noun that a first line names.
FIRST_LINE = re.compile(
    r"(What|Whatever|Whether|Where|Wherever|Those|How|Who|Whoever|Whom|Which|When|Whenever)\b"
)

# The same at the beginning of any sentence. "When it ends, the task ..." has a subject, so it is no match.
SENTENCE = re.compile(r"(What|Whether|Where|Those)\b")

NOT_ENGLISH = re.compile(r"\b(?:how|so)[-_]manieth\b", re.IGNORECASE)

LONG_SENTENCE = 30
"""The most words of a sentence in a docstring."""

LONG_SENTENCE_OF_DOCS = 25
"""The most words of a sentence in a page of the docs, rows of tables left out."""

CEILINGS = {
    "first lines of the code": 0,
    "first lines of the tests": 0,
    "sentences of docstrings": 0,
    "sentences of docs": 0,
    "long sentences of docstrings": 2,
    "long sentences of docs": 6,
    "words that are not English": 0,
}
"""The most matches of each pattern. Lower a ceiling when its count has fallen; never raise one."""

_END_OF_SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`*\"])")
_SECTION = re.compile(
    r"^\s*(?:Args|Arguments|Returns|Raises|Yields|Attributes|Example|Examples|Note|Notes):\s*$"
)
_BLOCK = re.compile(r"^\s*(?:[-*+|#>]|\d+[.)]|[\w*, ]+: )")
_ROW = re.compile(r"\S {2,}\S|^\s*[=│├└]|^\s*\|")


class Finding(NamedTuple):
    """One match of a pattern: its file, its line, and the text that matches."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


class Text(NamedTuple):
    """A docstring, or the prose of a page, with the file and the line of its beginning."""

    path: str
    line: int
    content: str


def tracked_files(*patterns: str) -> list[str]:
    """List the files that git tracks under these patterns, in order."""
    listed = subprocess.run(
        ["git", "ls-files", "--", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return sorted(name for name in listed.splitlines() if (ROOT / name).is_file())


def docstrings_of(path: str, source: str) -> Iterator[Text]:
    """Yield the docstrings of a module, its classes, functions and documented values."""
    nodes: list[ast.AST] = [ast.parse(source, path)]
    # Only these fields hold statements. To walk through all expressions takes several times as long.
    for node in nodes:
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            body = getattr(node, field, None)
            if not isinstance(body, list):
                continue
            nodes += body
            for statement in body:
                match statement:
                    case ast.Expr(value=ast.Constant(value=str(content))):
                        yield Text(path, statement.lineno, content)


def prose_of(page: str) -> str:
    """Blank the code blocks of a Markdown page, and keep its lines where they are."""
    lines, fenced = [], False
    for line in page.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
            lines.append("")
        else:
            lines.append("" if fenced or line.startswith("    ") else line)
    return "\n".join(lines)


def sentences_of(text: Text) -> Iterator[Finding]:
    """Yield the sentences of a text; a blank line, a bullet, a row or a section ends one too."""
    paragraph: list[str] = []
    begin = text.line
    for number, line in enumerate([*text.content.splitlines(), ""], text.line):
        if not line.strip() or any(each.search(line) for each in (_SECTION, _BLOCK, _ROW)):
            yield from _split(text.path, begin, paragraph)
            paragraph = []
        if line.strip() and not _SECTION.match(line):
            if not paragraph:
                begin = number
            paragraph.append(line)


def _split(path: str, begin: int, paragraph: list[str]) -> Iterator[Finding]:
    """Split a paragraph at the ends of its sentences, and give each the line of the paragraph's beginning."""
    for sentence in _END_OF_SENTENCE.split(" ".join(" ".join(paragraph).split())):
        if sentence:
            yield Finding(path, begin, sentence)


def first_lines(texts: Iterable[Text]) -> list[Finding]:
    """List the docstrings whose first line begins with a relative word."""
    firsts = (Finding(text.path, text.line, text.content.strip().split("\n")[0]) for text in texts)
    return [first for first in firsts if FIRST_LINE.match(first.text)]


def relative_sentences(texts: Iterable[Text]) -> list[Finding]:
    """List the sentences that begin with What, Whether, Where or Those."""
    return [
        sentence
        for text in texts
        for sentence in sentences_of(text)
        if SENTENCE.match(sentence.text.lstrip("-*+#>| ")) and not sentence.text.endswith("?")
    ]


def long_sentences(texts: Iterable[Text], most: int) -> list[Finding]:
    """List the sentences of more than so many words, rows of tables left out."""
    return [
        sentence
        for text in texts
        for sentence in sentences_of(text)
        if len(sentence.text.split()) > most and not sentence.text.startswith("|")
    ]


def not_english(texts: Iterable[Text]) -> list[Finding]:
    """List the lines that hold a word which is not English."""
    return [
        Finding(text.path, number, line.strip())
        for text in texts
        for number, line in enumerate(text.content.splitlines(), text.line)
        if NOT_ENGLISH.search(line)
    ]


def findings() -> dict[str, list[Finding]]:
    """Find every match of every pattern in the files that git tracks."""
    sources = [
        Text(path, 1, (ROOT / path).read_text(encoding="utf-8"))
        for path in tracked_files("*.py", "*.c", "*.h", "*.yaml", "*.md")
        if not path.startswith("tests/house/") and path != "CHANGELOG.md"
    ]
    code = [text for text in sources if text.path.endswith(".py") and not text.path.startswith("tests/")]
    tests = [text for text in sources if text.path.endswith(".py") and text.path.startswith("tests/")]
    docs = [
        Text(text.path, 1, prose_of(text.content))
        for text in sources
        if text.path.startswith("docs/") and text.path.endswith(".md")
    ]
    of_code = [docstring for text in code for docstring in docstrings_of(text.path, text.content)]
    of_tests = [docstring for text in tests for docstring in docstrings_of(text.path, text.content)]
    return {
        "first lines of the code": first_lines(of_code),
        "first lines of the tests": first_lines(of_tests),
        "sentences of docstrings": relative_sentences(of_code),
        "sentences of docs": relative_sentences(docs),
        "long sentences of docstrings": long_sentences(of_code, LONG_SENTENCE),
        "long sentences of docs": long_sentences(docs, LONG_SENTENCE_OF_DOCS),
        "words that are not English": not_english(sources),
    }


def above_ceilings(found: dict[str, list[Finding]], ceilings: dict[str, int]) -> list[str]:
    """List a message for each pattern that matches more often than its ceiling allows."""
    return [
        f"{len(matches)} {pattern}, at most {ceilings[pattern]};"
        f" python -m tests.house.words '{pattern}' lists them"
        for pattern, matches in found.items()
        if len(matches) > ceilings[pattern]
    ]


if __name__ == "__main__":
    for pattern, found in findings().items():
        print(f"{len(found):6} {pattern}")
        if len(sys.argv) > 1 and sys.argv[1] in pattern:
            print(*found, sep="\n")
