// Measures how long requests of one tenant take while another sends 150 ideas of 1 MB at once. Build first (`npm run build`), then
// `node bench/fairness.mjs [ideas] [bytes]`. The server has a process of its own; the figures are of one run on one machine.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const [ANN, BOB] = ["ann-token-0123456789", "bob-token-0123456789"];

async function serve() {
  const { defineAction, defineRole, Team } = await import("../dist/src/index.js");
  const { createServer } = await import("../dist/src/server/index.js");
  const { sqlite } = await import("../dist/src/adapters/sqlite.js");
  const folder = mkdtempSync(join(tmpdir(), "troupe-bench-"));
  const Count = defineAction({ name: "Count", run: (ctx) => `${ctx.text.length} characters` });
  const team = new Team({ roles: [defineRole({ name: "Cora", actions: [Count] })], journal: sqlite({ path: join(folder, "runs.db") }) });
  const tenants = [
    { name: "ann", token: ANN },
    { name: "bob", token: BOB },
  ];
  const server = createServer({ team, tenants, bodyLimit: 1_100_000 });
  process.send((await server.listen()).url);
  await once(process, "message");
  await server.close({ grace: 0 });
  rmSync(folder, { recursive: true });
  process.exit(0);
}

function call(url, token, method, body) {
  const headers = { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json", "content-length": body.length }) };
  const began = performance.now();
  return new Promise((resolve) => {
    const asked = http.request(`${url}/api/runs`, { method, headers, agent: false }, (response) => {
      response.resume().on("end", () => resolve({ status: response.statusCode, ms: performance.now() - began }));
    });
    asked.on("error", ({ code }) => resolve({ status: code, ms: performance.now() - began }));
    asked.end(body);
  });
}

async function measure(count, size) {
  const child = fork(fileURLToPath(import.meta.url), ["serve"]);
  const url = await new Promise((resolve) => child.once("message", resolve));
  const [small, big] = ["hi", "x".repeat(size)].map((idea) => Buffer.from(JSON.stringify({ idea })));
  for (let n = 0; n < 10; n += 1) await call(url, BOB, "POST", small);
  let isOver = false;
  const ideas = Promise.all(Array.from({ length: count }, () => call(url, ANN, "POST", big))).finally(() => (isOver = true));
  const waits = [];
  for (let left = 20; left > 0; left -= isOver ? 1 : 0) {
    for (const [method, body] of [["GET"], ["POST", small]]) waits.push((await call(url, BOB, method, body)).ms);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const statuses = {};
  for (const { status } of await ideas) statuses[status] = (statuses[status] ?? 0) + 1;
  waits.sort((a, b) => a - b);
  console.log(`${count} ideas of ${size} bytes:`, statuses);
  console.log(`the other tenant: median ${waits[waits.length >> 1].toFixed(0)} ms, longest ${waits.at(-1).toFixed(0)} ms`);
  child.send("end");
}

const [first = "150", second = "1000000"] = process.argv.slice(2);
await (first === "serve" ? serve() : measure(Number(first), Number(second)));
