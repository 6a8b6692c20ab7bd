// The TypeScript SDK, release 1.x.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { attempt, report, task, tryServer } from "./common.mjs";

const [command, ...args] = task.command;
const transport =
  task.transport === "http"
    ? new StreamableHTTPClientTransport(new URL(task.url))
    : new StdioClientTransport({ command, args, stderr: "ignore" });
const client = new Client({ name: "conformance", version: "0" });
await client.connect(transport);
report("connect");
await attempt("ping", () => client.ping());
await tryServer(client);
await client.close();
