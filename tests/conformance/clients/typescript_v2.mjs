// The TypeScript client, release 2.x, with its client of the skills extension.
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { attempt, digests, report, same, skills as paths, task, tryServer } from "./common.mjs";

const AGREED = { legacy: "2025-11-25", auto: "2026-07-28", "2026-07-28": "2026-07-28" };
const [command, ...args] = task.command;
const transport =
  task.transport === "http"
    ? new StreamableHTTPClientTransport(new URL(task.url))
    : new StdioClientTransport({ command, args, stderr: "ignore" });
const mode = task.era === "2026-07-28" ? { pin: task.era } : task.era;
const client = new Client({ name: "conformance", version: "0" }, { versionNegotiation: { mode } });
await client.connect(transport);
const agreed = client.getNegotiatedProtocolVersion();
report("connect", agreed === AGREED[task.era] ? undefined : `agreed on ${agreed}`);
if (task.era === "legacy") await attempt("ping", () => client.ping());
await tryServer(client);

const skills = new SkillsClient(client);
let listed = [];
await attempt("skills/list", async () => {
  assert.ok(skills.supported && skills.directoryRead);
  listed = (await skills.list()).skills;
  const found = listed.flatMap((skill) => skill.resources.map((file) => [file.uri, file.digest]));
  const expected = [...digests].map(([uri, digest]) => [uri, `sha256:${digest}`]);
  assert.deepEqual(found.sort(), expected.sort());
});
await attempt("skills/get", async () => {
  for (const path of paths) {
    const { skill } = await skills.get(`skill://${path}/SKILL.md`);
    assert.equal(skill.frontmatter.name, path.split("/").at(-1));
  }
});
await attempt("every file, verified against its entry", async () => {
  assert.equal(listed.length, paths.length);
  for (const skill of listed) {
    for (const { uri } of skill.resources) {
      const file = await skills.read(skill, uri);
      assert.ok(file.verified, uri);
      same(file.bytes, uri);
    }
  }
});
await attempt("resources/directory/read", async () => {
  const walked = [];
  const walk = async (uri) => {
    for (const child of (await skills.readDirectory(uri)).resources) {
      if (child.mimeType === "inode/directory") await walk(child.uri);
      else walked.push(child.uri);
    }
  };
  for (const path of paths) await walk(`skill://${path}`);
  assert.deepEqual(walked.sort(), [...digests.keys()].sort());
});
await client.close();
