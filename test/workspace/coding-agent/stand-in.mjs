#!/usr/bin/env node
/*
 * A coding agent for tests. Its name says whose protocol it speaks; the variable STAND_IN says, as JSON, what it does: `files` that it writes,
 * `commands` that it runs, what it says, and how it fails. It appends its arguments and its order to the file that STAND_IN_LOG names.
 */
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { createInterface } from "node:readline";

const protocol = basename(process.argv[1] ?? "");
const args = process.argv.slice(2);
const acts = JSON.parse(process.env.STAND_IN ?? "{}");
const after = args[args.findIndex((word) => ["--resume", "--session", "resume"].includes(word)) + 1];
const session = args.some((word) => ["--resume", "--session", "resume"].includes(word)) ? after : "session-1";
const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

function log(order) {
  const { STAND_IN_LOG: file } = process.env;
  if (file !== undefined)
    appendFileSync(file, `${JSON.stringify({ args, order, pid: process.pid, variables: Object.keys(process.env), cwd: process.cwd() })}\n`);
}

/** The acts of this start: STAND_IN may hold a list, of which each start takes the next, or the first whose `when` is in its order. */
function nextActs(order) {
  if (!Array.isArray(acts)) return acts;
  if (acts[0]?.when !== undefined) return acts.find(({ when }) => new RegExp(when).test(order)) ?? {};
  const { STAND_IN_COUNT: file = "" } = process.env;
  appendFileSync(file, ".");
  return acts[Math.min(statSync(file).size, acts.length) - 1];
}

async function work(found) {
  const { files = {}, commands = [], removed = [], hang = false } = found;
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content === null ? "" : content);
  }
  for (const path of removed) rmSync(path, { force: true });
  for (const [file, ...words] of commands) spawnSync(file, words, { stdio: "ignore" });
  if (found.pause !== undefined) await new Promise((resolve) => setTimeout(resolve, found.pause));
  if (hang) await new Promise((resolve) => setTimeout(resolve, 600_000));
}

const BEGIN = {
  claude: () => ({ type: "system", subtype: "init", session_id: session }),
  codex: () => ({ type: "thread.started", thread_id: session }),
  gemini: () => ({ type: "init", session_id: session, model: "m" }),
  opencode: () => ({ type: "step_start", sessionID: session, part: {} }),
};
const END = {
  claude: ({ say, cost, error }) => [
    { type: "assistant", message: { content: [{ type: "text", text: "..." }] }, session_id: session },
    {
      ...{
        type: "result",
        subtype: error === undefined ? "success" : "error_during_execution",
        is_error: error !== undefined,
        session_id: session,
      },
      ...(error === undefined ? { result: say } : { errors: [error] }),
      ...(cost === undefined ? {} : { total_cost_usd: cost }),
    },
  ],
  codex: ({ say, error }) => [
    { type: "turn.started" },
    { type: "error", message: "Reconnecting... 1/5" },
    { type: "item.completed", item: { id: "item_1", type: "command_execution", command: "ls", exit_code: 0 } },
    ...(error === undefined ? [{ type: "item.completed", item: { id: "item_2", type: "agent_message", text: say } }] : []),
    error === undefined
      ? { type: "turn.completed", usage: { input_tokens: 10, output_tokens: 5 } }
      : { type: "turn.failed", error: { message: error } },
  ],
  gemini: ({ say, error }) => [
    { type: "message", role: "user", content: "the order" },
    { type: "message", role: "assistant", content: "I shall look.", delta: true },
    { type: "tool_use", tool_name: "write_file", tool_id: "1", parameters: {} },
    ...say.split(/(?<= )/).map((content) => ({ type: "message", role: "assistant", content, delta: true })),
    error === undefined
      ? { type: "result", status: "success", stats: {} }
      : { type: "result", status: "error", error: { type: "E", message: error } },
  ],
  opencode: ({ say, cost, error }) => [
    { type: "text", sessionID: session, part: { text: "I shall look." } },
    { type: "step_finish", sessionID: session, part: { reason: "tool-calls", ...(cost === undefined ? {} : { cost: cost / 2 }) } },
    ...(error === undefined ? [{ type: "text", sessionID: session, part: { text: say } }] : []),
    { type: "step_finish", sessionID: session, part: { reason: "stop", ...(cost === undefined ? {} : { cost: cost / 2 }) } },
    ...(error === undefined ? [] : [{ type: "error", sessionID: session, error: { name: "APIError", data: { message: error } } }]),
  ],
};

async function lines() {
  let order = "";
  for await (const chunk of process.stdin) order += chunk;
  log(order);
  const found = { say: "It is done.", ...nextActs(order) };
  const begin = BEGIN[protocol]?.();
  if (begin !== undefined && found.isSilent !== true) print(begin);
  process.stdout.write("a line that is no JSON\n");
  await work(found);
  if (found.exit !== undefined) {
    process.stderr.write(found.stderr ?? "");
    process.exit(found.exit);
  }
  if (begin === undefined) process.stdout.write(`${found.say}\n`);
  else for (const line of END[protocol](found)) print(line);
  if (found.error !== undefined) process.exitCode = 1;
}

async function acp() {
  const found = { say: "It is done.", ...nextActs("") };
  const waiting = new Map();
  let id = "new-session";
  const send = (message) => print({ jsonrpc: "2.0", ...message });
  const update = (body) => send({ method: "session/update", params: { sessionId: id, update: body } });
  const chunk = (text) => update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  const handlers = {
    initialize: () => ({ protocolVersion: 1, agentCapabilities: { loadSession: true }, authMethods: [] }),
    "session/new": () => ({ sessionId: id }),
    "session/load"({ sessionId }) {
      id = sessionId;
      chunk("words of the past");
      return {};
    },
    async "session/prompt"({ prompt }) {
      log(prompt[0].text);
      chunk("I shall look.");
      if (found.question !== undefined) {
        const options = [
          { optionId: "go", name: "Allow", kind: "allow_once" },
          { optionId: "stay", name: "Reject", kind: "reject_once" },
        ];
        const params = { sessionId: id, toolCall: { toolCallId: "c1", title: found.question, locations: [{ path: "a.txt" }] }, options };
        send({ id: 900, method: "session/request_permission", params });
        const { outcome } = await new Promise((resolve) => waiting.set(900, resolve));
        writeFileSync("answer.txt", String(outcome.optionId ?? outcome.outcome));
      }
      send({ id: 901, method: "fs/read_text_file", params: { sessionId: id, path: "/etc/passwd" } });
      const refused = await new Promise((resolve) => waiting.set(901, resolve));
      writeFileSync("refused.txt", String(refused.code));
      update({ sessionUpdate: "tool_call", toolCallId: "c2", title: "write", kind: "edit", status: "pending" });
      await work(found);
      if (found.exit !== undefined) process.exit(found.exit);
      if (found.error !== undefined) throw new Error(found.error);
      if (found.cost !== undefined)
        update({ sessionUpdate: "usage_update", used: 1, size: 2, cost: { amount: found.cost, currency: "USD" } });
      chunk(found.say);
      return { stopReason: found.stop ?? "end_turn" };
    },
  };
  for await (const line of createInterface({ input: process.stdin })) {
    const { id: asked, method, params, result, error } = JSON.parse(line);
    if (method === undefined) waiting.get(asked)?.(result ?? error);
    else
      Promise.resolve()
        .then(() => handlers[method](params))
        .then(
          (value) => send({ id: asked, result: value }),
          (failure) => send({ id: asked, error: { code: -32603, message: "Internal error", data: { details: failure.message } } }),
        );
  }
}

await (args.includes("--acp") ? acp() : lines());
