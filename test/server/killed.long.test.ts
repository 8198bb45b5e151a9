// @module-tag kill
import { EventEmitter, once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createClient } from "../../src/client/index.ts";
import type { RunEvent } from "../../src/index.ts";
import { openaiStub } from "../../src/testing/index.ts";
import { type Child, start } from "../cli/child.ts";
import { freshFolder } from "../cli/kept-run.ts";
import { all } from "./served-team.ts";

const CREW = `
name: writers
rounds: 9
roles:
  - name: Ann
    actions: [{ name: Draft, prompt: "Draft: {{text}}" }]
  - name: Ben
    actions: [{ name: Polish, on: Draft, prompt: "Polish: {{text}}" }]
  - name: Cid
    actions: [{ name: Print, on: Polish, prompt: "Print: {{text}}" }]
reserve:
  - name: Dan
    watch: [UserFeedback]
    actions: [{ name: Reply, prompt: "Reply: {{text}}" }]
`;
const TOKEN = "kill-token-0123456789";
const RUNS = 30;
const WATCHERS = 3;
/** The calls after which the server is killed: under way, and while it goes on after a kill. */
const KILLS = [30, 50, 70];

async function serving(cwd: string, url: string, port: string): Promise<{ readonly child: Child; readonly url: string }> {
  const words = ["serve", "--crew", "crew.yaml", "--base-url", url, "--model", "stub-1", "--price", "1,4", "--sandbox", "none", "--json"];
  const child = start([...words, "--port", port], { cwd, env: { TROUPE_TOKEN: TOKEN, OPENAI_API_KEY: "sk-test-0123456789abcdefghij" } });
  await child.until("stdout", /"serving"/);
  const told = JSON.parse(child.said.stdout.trim().split("\n")[0] ?? "") as { readonly url: string };
  return { child, url: told.url };
}

/** The calls that the records of runs say were begun. */
function startsIn(watched: readonly (readonly RunEvent[])[]): number {
  const records = new Map(watched.map((events) => [events[0]?.runId, events]));
  return [...records.values()].flat().filter(({ type }) => type === "step.started").length;
}

describe("troupe serve", () => {
  it("is killed under load again and again: runs go on, watchers have each event once, a run hires in reserve", async () => {
    const cwd = freshFolder();
    writeFileSync(join(cwd, "crew.yaml"), CREW);
    const calls = new EventEmitter();
    let asked = 0;
    await using stub = await openaiStub({
      handler: () => {
        asked += 1;
        calls.emit("call");
        return { text: `text ${asked}` };
      },
    });
    let server = await serving(cwd, stub.url, "0");
    const { port } = new URL(server.url);
    const client = createClient({ url: server.url, token: TOKEN });
    const runs = await Promise.all(Array.from({ length: RUNS }, (_, n) => client.start({ idea: `story ${n}` }, { key: `k${n}` })));
    const watchers = runs.flatMap(({ id }) => Array.from({ length: WATCHERS }, () => all(client.events(id, { follow: false }))));
    const watching = Promise.all(watchers);
    for (const kill of KILLS) {
      while (asked < kill) await once(calls, "call");
      server.child.process.kill("SIGKILL");
      await server.child.ended;
      server = await serving(cwd, stub.url, port);
    }
    const watched = await watching;
    for (const events of watched) {
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, place) => place));
      expect(events.at(-1)).toMatchObject({ type: "run.ended", status: "finished" });
      expect(events.filter(({ type }) => type === "act.ended")).toHaveLength(3);
    }
    const resumes = watched.map((events) => events.filter(({ type }) => type === "run.resumed").length);
    expect(Math.max(...resumes)).toBeGreaterThan(0);
    expect(asked).toBeLessThanOrEqual(startsIn(watched));
    const again = await client.start({ idea: "story 0" }, { key: "k0" });
    expect([again.id, again.status]).toEqual([runs[0]?.id, "finished"]);
    const { id } = again;
    expect((await client.team()).reserve).toEqual(["Dan"]);
    await client.hire(id, { role: "Dan", as: "Dana" });
    await client.retire(id, "Cid");
    expect(await client.publish(id, "Thank you.")).toMatchObject({ recipients: ["Dana"], waits: true });
    await client.resume(id);
    const events = await all(client.events(id));
    expect(events.findLast((event) => event.type === "act.ended")).toMatchObject({ role: "Dana" });
    expect(await client.replay(id)).toMatchObject({ equal: true });
    server.child.process.kill("SIGTERM");
    expect(await server.child.ended).toBe(0);
  });
});
