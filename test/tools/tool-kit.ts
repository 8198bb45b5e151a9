import { spawnSync } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll } from "vitest";
import { type Clock, systemClock } from "../../src/kernel/clock.ts";
import type { Json } from "../../src/kernel/json.ts";
import { directSteps, type StepPort } from "../../src/kernel/step.ts";
import type { CallToolOptions } from "../../src/tool/call-options.ts";
import { callTool } from "../../src/tool/call-tools.ts";
import { type CalledTool, resultText } from "../../src/tool/tool-result.ts";
import type { Tool } from "../../src/tool/tool.ts";
import { ToolCollection } from "../../src/tool/tool-collection.ts";
import { fileWorkspace } from "../../src/workspace/file-workspace.ts";
import type { Workspace } from "../../src/workspace/workspace.ts";
import { scratchFolder } from "../workspace/scratch.ts";

/** The context in which a test calls a tool. */
export interface CallerParts {
  readonly steps?: StepPort;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
  readonly session?: object;
  readonly ask?: CallToolOptions["ask"];
  /** Default: everything is allowed. */
  readonly policy?: CallToolOptions["policy"];
}

/** A call as an agent makes it: arguments are checked, what asks is permitted, the result is bounded. */
export async function call(tool: Tool, args: Json, parts: CallerParts = {}): Promise<CalledTool> {
  const signal = parts.signal ?? new AbortController().signal;
  return callTool(
    { id: "call", type: "function", function: { name: tool.name, arguments: JSON.stringify(args) } },
    {
      tools: new ToolCollection([tool]),
      steps: parts.steps ?? directSteps(signal),
      clock: parts.clock ?? systemClock,
      signal,
      policy: parts.policy ?? { rules: [{ tool: "*", decide: "allow" }] },
      session: parts.session,
      ask: parts.ask,
    },
  );
}

interface Project {
  readonly root: string;
  readonly workspace: Workspace;
  readonly now: (path: string) => string;
}

/** A project on disk with these files. */
export function projectOf(files: Readonly<Record<string, string | Buffer>> = {}): Project {
  const root = scratchFolder();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return { root, workspace: fileWorkspace({ root, git: false }), now: (path) => readFileSync(join(root, path), "utf8") };
}

/** Returns the text of a call that a model reads. */
export async function read(tool: Tool, args: Json, parts?: CallerParts): Promise<string> {
  return resultText((await call(tool, args, parts)).result);
}

/** A real server on the loopback, closed after the tests of the file. */
export async function serve(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ readonly url: string; readonly host: string; readonly port: number }> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, host: `127.0.0.1:${port}`, port };
}

/** A named pipe, which keeps whoever opens it waiting. */
export function makePipe(path: string): void {
  const { status } = spawnSync("sh", ["-c", 'mkfifo "$1"', "sh", path]);
  if (status !== 0) throw new Error(`mkfifo ended with ${status}`);
}
