import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { defineAction } from "../../src/role/action.ts";
import { openai } from "../../src/adapters/openai.ts";
import { sqlite } from "../../src/adapters/sqlite.ts";
import { usd } from "../../src/model/money.ts";
import { defineRole } from "../../src/role/role.ts";
import { exportRun } from "../../src/runtime/record/transfer.ts";
import { Team } from "../../src/team/team.ts";
import { saveCassette } from "../../src/testing/cassette.ts";
import { openaiStub } from "../../src/testing/openai-stub.ts";
import { scratchFolder } from "../cli/fake-host.ts";

const scratch = scratchFolder();
/** One that only its owner knows to be a secret, and one that looks like a key. */
const PASSWORD = "canary-password-7f3a";
const KEY = "sk-canary0123456789abcdefghijklmnop";
const secrets = [PASSWORD, KEY];

/** Says the secrets wherever something is written down. */
const Leak = defineAction({
  name: "Leak",
  run: async (ctx) => {
    await ctx.step("request", { password: PASSWORD, [KEY]: 1 }, () => Promise.resolve(`result ${PASSWORD}`));
    await ctx.step("fail", {}, () => Promise.reject(new Error(`failed with ${KEY} and ${PASSWORD}`))).catch(() => {});
    const reply = await ctx.ask(`The password is ${PASSWORD}, the key ${KEY}.`);
    await ctx.human.ask(`Is ${PASSWORD} right?`);
    ctx.state = { note: PASSWORD };
    ctx.memory.add(ctx.message(`remembered ${KEY}`));
    return ctx.message(`${reply} ${PASSWORD}`, { instructContent: { key: KEY }, metadata: { [PASSWORD]: KEY } });
  },
});

const Throw = defineAction({ name: "Throw", run: () => Promise.reject(new Error(`thrown: ${PASSWORD} ${KEY}`)) });

/** Returns the place of a secret, with the text around it. */
function around(text: string, secret: string): string {
  const place = text.indexOf(secret);
  return place === -1 ? "" : text.slice(Math.max(0, place - 200), place + 200);
}

function bytesBelow(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.length).toBeGreaterThan(1);
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1")).join("\n");
}

test("RunLog.W0 no secret is found in a store, its export or a cassette, whichever way it came in", async () => {
  const folder = mkdtempSync(join(scratch, "canary-"));
  await using stub = await openaiStub({ handler: () => `You told me ${PASSWORD} and ${KEY}.` });
  const model = openai({ model: "m", apiKey: KEY, baseURL: stub.url, price: { input: 1, output: 1 } });
  const journal = sqlite({ path: join(folder, "runs.db") });
  const roles = [
    defineRole({ name: "Leaker", goal: `keep ${PASSWORD}`, actions: [Leak], state: z.object({ note: z.string().default(KEY) }) }),
    defineRole({ name: "Thrower", watch: [Leak], actions: [Throw], onFailure: "skip" }),
  ];
  const human = (): string => `yes, it is ${PASSWORD}`;
  const team = new Team({ name: `team ${PASSWORD}`, journal, roles, model, budget: usd(1), human, secrets });
  const result = await team.run(`an idea with ${PASSWORD} and ${KEY}`, { id: "r", about: { key: KEY, password: PASSWORD } }).result;
  expect([result.status, result.error]).toEqual(["finished", undefined]);
  expect(stub.requests.length).toBe(1);

  const exported: string[] = [];
  for await (const line of exportRun(journal, "r")) exported.push(line);
  await saveCassette(journal, "r", join(folder, "cassette.json"));
  const open = bytesBelow(folder);
  await journal.close();
  for (const text of [open, bytesBelow(folder), exported.join("\n"), JSON.stringify(result)]) {
    expect(text).toContain("[secret]");
    for (const secret of secrets) expect(around(text, secret)).toBe("");
  }
});
