// @module-tag kill
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sqlite } from "../../../src/adapters/sqlite.ts";
import { textHash } from "../../../src/kernel/json.ts";
import { readExperiment } from "../../../src/research/index.ts";
import { figure } from "../../long.ts";
import { scratchFolder } from "../../workspace/scratch.ts";
import { killSweeps, startedSweep, tablesIn } from "./killed-sweep.ts";

/** How often each question was answered. The answer follows from the question, and takes its time. */
const answered = new Map<string, number>();
let [now, mostAtOnce] = [0, 0];
const server = createServer((request, response) => {
  void (async () => {
    let body = "";
    for await (const part of request) body += String(part);
    const { model, messages } = JSON.parse(body) as { readonly model: string; readonly messages: readonly { readonly content: string }[] };
    const question = messages.at(-1)?.content ?? "";
    answered.set(question, (answered.get(question) ?? 0) + 1);
    const hash = Number.parseInt(textHash(question).slice(0, 8), 16);
    now += 1;
    mostAtOnce = Math.max(mostAtOnce, now);
    await pause(20 + (hash % 40));
    now -= 1;
    const usage = { prompt_tokens: 8, completion_tokens: 2, total_tokens: 10 };
    const delta = { role: "assistant", content: hash % 3 === 0 ? "no" : "yes" };
    response.writeHead(200, { "content-type": "text/event-stream" });
    const chunks = [
      { id: "c", model, choices: [{ index: 0, delta, finish_reason: "stop" }] },
      { id: "c", model, choices: [], usage },
    ];
    response.end(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`);
  })();
});
let env: NodeJS.ProcessEnv = {};
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  env = { PAID_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
});
beforeEach(() => {
  answered.clear();
  mostAtOnce = 0;
});
afterAll(() => void server.close());

const seen = (): number => [...answered.values()].reduce((sum, n) => sum + n, 0);

/** The starts and the answers of each question in all records of a folder. */
async function recordedIn(out: string): Promise<ReadonlyMap<string, { starts: number; answers: number }>> {
  const questions = new Map<string, { starts: number; answers: number }>();
  for (const file of readdirSync(join(out, "records")).filter((name) => name.endsWith(".db"))) {
    const journal = sqlite({ path: join(out, "records", file) });
    const keys = new Map<string, { starts: number; answers: number }>();
    for await (const event of journal.read(`paid-${file.slice(0, -".db".length)}`, 0)) {
      if (event.type === "step.started") {
        const { messages } = event.request as unknown as { readonly messages: readonly { readonly content: string }[] };
        const question = messages.at(-1)?.content ?? "";
        const counts = questions.get(question) ?? { starts: 0, answers: 0 };
        questions.set(question, counts);
        keys.set(`${event.act} ${event.key}`, counts);
        counts.starts += 1;
      } else if (event.type === "step.ended") {
        const counts = keys.get(`${event.act} ${event.key}`);
        if (counts !== undefined) counts.answers += 1;
      }
    }
    await journal.close();
  }
  return questions;
}

describe("a paid sweep in several processes", () => {
  it("SweepHost.H1 SweepHost.H2 keeps limits and a budget for all of them together", async () => {
    const out = scratchFolder();
    const bounds = { workers: 3, env, limits: { concurrency: 2 } };
    const failed = startedSweep("paid.mjs", "paid", out, { ...bounds, budget: 100_000 });
    expect((await once(failed, "exit"))[0]).toBe(1);
    // A call costs 2800 micro-dollars.
    expect([seen() > 0, seen() * 2_800 <= 100_000, mostAtOnce]).toEqual([true, true, 2]);
    expect(await once(startedSweep("paid.mjs", "paid", out, { ...bounds, budget: 10_000_000 }), "exit")).toEqual([0, null]);
    const { spent, uncertain } = await readExperiment(out);
    expect(spent.calls).toBe(240);
    expect([seen() >= spent.calls, seen() <= spent.calls + uncertain, mostAtOnce]).toEqual([true, true, 2]);
  });
});

/** Three processes, whose runs ask two questions in each round. */
const IN_FLIGHT = 6;

describe("a paid sweep that is killed", () => {
  it("RecordJournal.R1 CellRecord.C2 twenty times, ends in the table of one that was not, and asks no answer again", async () => {
    const whole = scratchFolder();
    expect(await once(startedSweep("paid.mjs", "paid", whole, { workers: 3, env }), "exit")).toEqual([0, null]);
    const all = seen();
    expect((await readExperiment(whole)).spent.calls).toBe(all);
    answered.clear();
    const out = scratchFolder();
    const seed = process.env["SEED"] ?? `${Date.now()}`;
    const start = () => startedSweep("paid.mjs", "paid", out, { workers: 3, tries: 50, env });
    const kills = await killSweeps({ times: 20, seed, position: seen, between: Math.floor(all / 12), start });
    expect(await once(start(), "exit")).toEqual([0, null]);
    const where = `SEED=${seed}, kills at ${kills.join(" ")} of ${all}`;
    expect(tablesIn(out), where).toEqual(tablesIn(whole));
    const { spent, uncertain } = await readExperiment(out);
    figure(`a paid sweep, killed 20 times: ${spent.calls} recorded, ${seen()} seen, ${uncertain} uncertain; ${where}`);
    expect(spent.calls, where).toBe(all);
    expect(seen(), where).toBeGreaterThanOrEqual(spent.calls);
    expect(seen(), where).toBeLessThanOrEqual(spent.calls + uncertain);
    expect(uncertain, where).toBeLessThanOrEqual(kills.length * IN_FLIGHT);
    const recorded = await recordedIn(out);
    expect(recorded.size).toBe(answered.size);
    for (const [question, { starts, answers }] of recorded) {
      expect(answers, question).toBe(1);
      expect(answered.get(question), question).toBeLessThanOrEqual(starts);
    }
    expect(kills.filter((at) => at > 0 && at < all).length, where).toBeGreaterThan(5);
  });
});
