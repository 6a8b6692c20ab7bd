// What the programs on Node share: the argument, the lock, and one line of JSON a scenario.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

export const TOOLS = ["skill_catalog_overview", "skill_catalog_search", "skill_resource_read"];
const PAGE = 3000; // bytes asked for at once: little, so that reading takes several pages

export const task = JSON.parse(process.argv[2]);
const lock = JSON.parse(readFileSync(task.lock, "utf-8"));
export const skills = lock.skills.map((skill) => skill.path);
export const digests = new Map(
  lock.skills.flatMap((skill) =>
    skill.files.map((file) => [`skill://${skill.path}/${file.path}`, file.sha256]),
  ),
);

export function report(scenario, error) {
  console.log(JSON.stringify(error === undefined ? { scenario } : { scenario, error }));
}

export async function attempt(scenario, action) {
  try {
    await action();
    report(scenario);
  } catch (error) {
    report(scenario, String(error));
  }
}

export function same(bytes, uri) {
  assert.equal(createHash("sha256").update(bytes).digest("hex"), digests.get(uri), uri);
}

export function bytesOf(content) {
  return "blob" in content ? Buffer.from(content.blob, "base64") : Buffer.from(content.text, "utf-8");
}

export function sameUris(found) {
  assert.deepEqual(found.map((each) => each.uri).sort(), [...digests.keys()].sort());
}

async function readInPages(client, skill) {
  let text = "";
  for (let offset = 0; offset !== null; ) {
    const call = { name: "skill_resource_read", arguments: { skill, offset, limit: PAGE } };
    const { isError, structuredContent: answer } = await client.callTool(call);
    assert.ok(!isError, JSON.stringify(answer));
    text += answer.content;
    offset = answer.next_offset;
  }
  return Buffer.from(text, "utf-8");
}

// Both generations of the client call tools, list and read in the same way.
export async function tryServer(client) {
  await attempt("tools/list", async () => {
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map((tool) => tool.name).sort(), TOOLS);
  });
  await attempt("tools/call: search", async () => {
    const { structuredContent } = await client.callTool({ name: "skill_catalog_search", arguments: {} });
    assert.equal(structuredContent.total, skills.length);
  });
  await attempt("tools/call: read every SKILL.md in pages", async () => {
    for (const skill of skills) same(await readInPages(client, skill), `skill://${skill}/SKILL.md`);
  });
  await attempt("tools/call: refused with a code", async () => {
    const call = { name: "skill_resource_read", arguments: { skill: "no-such-skill" } };
    const { isError, structuredContent } = await client.callTool(call);
    assert.equal(isError, true);
    assert.equal(structuredContent.error.code, "resource_unavailable");
  });
  await attempt("resources/list", async () => {
    const found = [];
    let cursor;
    do {
      const page = await client.listResources(cursor === undefined ? undefined : { cursor });
      found.push(...page.resources);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    sameUris(found);
  });
  await attempt("resources/templates/list", async () => {
    assert.deepEqual((await client.listResourceTemplates()).resourceTemplates, []);
  });
  await attempt("resources/read: every file", async () => {
    for (const uri of digests.keys()) {
      const { contents } = await client.readResource({ uri });
      same(bytesOf(contents[0]), uri);
    }
  });
}
