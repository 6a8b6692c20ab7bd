// Reads SKILL.md files as a host written in JavaScript does: with the npm package `yaml`.
// In: one base64 file a line. Out: one JSON line each: {"value": …} or {"error": "…"}.
import { createInterface } from "node:readline";
import { parse } from "yaml";

const SPLIT = /^---\r?\n([\s\S]*?\r?\n)---(?:\r?\n|$)/;
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    const found = SPLIT.exec(decoder.decode(Buffer.from(line, "base64")));
    if (found === null) throw new Error("no frontmatter");
    answer = { value: parse(found[1]) };
  } catch (error) {
    answer = { error: error.name };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
