#!/usr/bin/env python3
"""See which skill wins for a request, judged by names and descriptions alone.

Needs Python 3.10 or later and nothing else; no network, no model. The ranking is by words
(BM25 over name and description). That is how search tools rank, and a cheap stand-in for
a model reading a list: what words cannot tell apart is usually hard for a model as well. It
is not a prediction of what a certain model will do.

REQUESTS is a text file: one request a line, a tab, the name of the right skill (several with
commas; - for "no skill should answer"). Empty lines and lines starting with # are left out.

Examples:
    rank_descriptions.py skills --ask "why does my build give another hash every time"
    rank_descriptions.py skills --requests requests.tsv
    rank_descriptions.py skills --overlap

Exit codes: 0 done; 1 a request was not won by its skill; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

K1, B = 1.2, 0.5
NAME_WEIGHT = 2
"""How often a word of the name counts, compared with one of the description."""
STOP = frozenset(
    "a an and are as at be by can do does for from has have how i if in into is it its me my "
    "not of on or so that the their them then there these this to use used user using want "
    "was we what when where which who why will with you your".split()
)
NEGATIVE = re.compile(r"\b(not for|do not use|don't use|not when|never use)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Skill:
    """What a host shows of a skill before it is loaded."""

    name: str
    description: str

    @property
    def positive(self) -> str:
        """Give the description without its sentences about what the skill is not for."""
        sentences = re.split(r"(?<=[.!?])\s+", self.description)
        return " ".join(text for text in sentences if not NEGATIVE.search(text))


def stem(word: str) -> str:
    """Cut the commonest English endings, so that `publishing` meets `publish`."""
    for ending in ("ings", "ing", "edly", "ed", "ies", "es", "s", "ly"):
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) >= 3:
            cut = word[: -len(ending)] + ("y" if ending == "ies" else "")
            doubled = (
                ending in {"ing", "ings", "ed"} and cut[-1] == cut[-2] and cut[-1] not in "lsz"
            )
            return cut[:-1] if doubled else cut.removesuffix("e")
    return word.removesuffix("e") if len(word) > 3 else word


def words(text: str) -> list[str]:
    """Split text into stems; letters of other scripts stand alone."""
    text = re.sub(r"['\u2019](s|t|re|ve|ll|d|m)\b", "", text.lower())
    found = re.findall(r"[a-z0-9]+|[^\W\d_]", text)
    return [stem(word) for word in found if word not in STOP]


class Ranker:
    """BM25 over the skills of one collection."""

    def __init__(self, skills: list[Skill]) -> None:
        """Count words once."""
        self.skills = skills
        self.bags = [
            Counter(words(skill.name.replace("-", " ")) * NAME_WEIGHT + words(skill.positive))
            for skill in skills
        ]
        sizes = [sum(bag.values()) for bag in self.bags]
        self.average = sum(sizes) / len(sizes)
        self.holders = Counter(word for bag in self.bags for word in bag)

    def weight(self, word: str) -> float:
        """Give a word's weight: rare words tell more."""
        held = self.holders[word]
        return math.log(1 + (len(self.skills) - held + 0.5) / (held + 0.5))

    def parts(self, request: str, index: int) -> dict[str, float]:
        """Give what each word of the request adds to one skill's score."""
        bag = self.bags[index]
        size = 1 - B + B * sum(bag.values()) / self.average
        return {
            word: self.weight(word) * bag[word] * (K1 + 1) / (bag[word] + K1 * size)
            for word in set(words(request))
            if word in bag
        }

    def rank(self, request: str) -> list[tuple[float, Skill, dict[str, float]]]:
        """Give all skills with a score above zero, best first."""
        rows = []
        for index, skill in enumerate(self.skills):
            parts = self.parts(request, index)
            if parts:
                rows.append((sum(parts.values()), skill, parts))
        return sorted(rows, key=lambda row: (-row[0], row[1].name))

    def overlaps(self, limit: int) -> list[tuple[float, Skill, Skill, list[str]]]:
        """Give the pairs of skills whose words are most alike (cosine), with shared words."""
        vectors = []
        for bag in self.bags:
            vector = {word: self.weight(word) for word in bag}
            length = math.sqrt(sum(value * value for value in vector.values())) or 1
            vectors.append({word: value / length for word, value in vector.items()})
        rows = []
        for i, first in enumerate(vectors):
            for j in range(i):
                shared = first.keys() & vectors[j].keys()
                score = sum(first[word] * vectors[j][word] for word in shared)
                top = sorted(shared, key=lambda word: -self.weight(word))[:6]
                rows.append((score, self.skills[j], self.skills[i], top))
        return sorted(rows, key=lambda row: -row[0])[:limit]


def read_skills(folder: Path) -> list[Skill]:
    """Read name and description of every SKILL.md below a folder."""
    skills = []
    for path in sorted(folder.rglob("SKILL.md")):
        text = path.read_text(encoding="utf-8-sig", errors="replace")
        match = re.match(r"---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(\r?\n|$)", text, re.DOTALL)
        head = match[1] if match else ""
        name = field(head, "name") or path.parent.name
        skills.append(Skill(name, field(head, "description")))
    return skills


def field(head: str, key: str) -> str:
    """Take one text field out of frontmatter: plain, quoted, folded or literal."""
    match = re.search(rf"^{key}:[ \t]*(.*(?:\n(?:[ \t]+.*|[ \t]*$))*)", head, re.MULTILINE)
    if match is None:
        return ""
    value = re.sub(r"^[|>][+-]?\d?[ \t]*\n", "", match[1])
    value = " ".join(line.strip() for line in value.splitlines()).strip()
    if value[:1] == value[-1:] == '"':
        return value[1:-1].replace('\\"', '"')
    if value[:1] == value[-1:] == "'":
        return value[1:-1].replace("''", "'")
    return value


def explain(row: tuple[float, Skill, dict[str, float]]) -> str:
    """Render one row with the words that earned its score."""
    score, skill, parts = row
    best = sorted(parts.items(), key=lambda item: -item[1])[:6]
    return f"{score:6.2f}  {skill.name}  ({', '.join(f'{w} {v:.1f}' for w, v in best)})"


def ask(ranker: Ranker, request: str, shown: int) -> None:
    """Print the first skills for one request."""
    rows = ranker.rank(request)
    print("\n".join(explain(row) for row in rows[:shown]) or "no skill shares a word with it")


def read_requests(path: Path) -> list[tuple[str, set[str]]]:
    """Read the request file; raises ValueError with the line that is wrong."""
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        request, tab, names = line.rpartition("\t")
        if not tab:
            raise ValueError(f"{path}:{number}: no tab between request and skill name")
        rows.append((request, {name.strip() for name in names.split(",")}))
    return rows


def evaluate(ranker: Ranker, requests: list[tuple[str, set[str]]]) -> int:
    """Print every request that was not won, then the totals; give their number."""
    known = {skill.name for skill in ranker.skills}
    first = third = covered = 0
    for request, right in requests:
        rows = ranker.rank(request)
        if right == {"-"}:
            top = f"nearest: {explain(rows[0])}" if rows else "nothing near"
            print(f"none wanted: {request}\n    {top}")
            continue
        covered += 1
        for name in sorted(right - known):
            print(f"there is no skill {name}")
        place = next((n for n, row in enumerate(rows, 1) if row[1].name in right), None)
        first += place == 1
        third += place is not None and place <= 3
        if place != 1:
            print(f"rank {place or '-'}: {request}\n    wanted {', '.join(sorted(right))}")
            for row in rows[: min(place or 2, 3)]:
                print(f"    {explain(row)}")
    print(f"{covered} requests: {first} first, {third} in the first three")
    return covered - first


def main(arguments: list[str] | None = None) -> int:
    """Run as a command."""
    parser = argparse.ArgumentParser(
        description="See which skill wins for a request, by names and descriptions alone.",
        epilog="Exit codes: 0 done; 1 a request was not won by its skill; 2 wrong usage.",
    )
    parser.add_argument("folder", type=Path, help="a folder with skills anywhere below it")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--ask", metavar="TEXT", help="rank the skills for one request")
    what.add_argument("--requests", type=Path, metavar="FILE", help="rank for a file of requests")
    what.add_argument("--overlap", action="store_true", help="the most alike pairs of skills")
    parser.add_argument("--show", type=int, default=5, help="rows to print (default: 5)")
    options = parser.parse_args(arguments)
    skills = read_skills(options.folder)
    if not skills:
        parser.error(f"no SKILL.md below {options.folder}")
    ranker = Ranker(skills)
    if options.ask is not None:
        ask(ranker, options.ask, options.show)
    elif options.overlap:
        for score, first, second, shared in ranker.overlaps(options.show):
            print(f"{score:5.2f}  {first.name}  {second.name}  ({', '.join(shared)})")
    else:
        try:
            requests = read_requests(options.requests)
        except (OSError, ValueError) as error:
            parser.error(str(error))
        return 1 if evaluate(ranker, requests) else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
