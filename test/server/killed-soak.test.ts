import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createClient } from "../../src/client/index.ts";
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

async function serving(cwd: string, url: string, port: string): Promise<{ readonly child: Child; readonly url: string }> {
  const words = ["serve", "--crew", "crew.yaml", "--base-url", url, "--model", "stub-1", "--price", "1,4", "--sandbox", "none", "--json"];
  const child = start([...words, "--port", port], { cwd, env: { TROUPE_TOKEN: TOKEN, OPENAI_API_KEY: "sk-test-0123456789abcdefghij" } });
  await child.until("stdout", /"serving"/);
  const told = JSON.parse(child.said.stdout.trim().split("\n")[0] ?? "") as { readonly url: string };
  return { child, url: told.url };
}

describe("troupe serve", () => {
  it("is killed under load and started again: every run goes on, every watcher has every event once, and a run hires a role in reserve", async () => {
    const cwd = freshFolder();
    writeFileSync(join(cwd, "crew.yaml"), CREW);
    let asked = 0;
    let half = (): void => {};
    const isHalf = new Promise<void>((resolve) => (half = resolve));
    await using stub = await openaiStub({
      handler: () => {
        asked += 1;
        if (asked === RUNS) half();
        return { text: `text ${asked}` };
      },
    });
    const first = await serving(cwd, stub.url, "0");
    const client = createClient({ url: first.url, token: TOKEN });
    const runs = await Promise.all(Array.from({ length: RUNS }, (_, n) => client.start({ idea: `story ${n}` }, { key: `k${n}` })));
    const watching = runs.map(({ id }) => all(client.events(id, { follow: false })));
    await isHalf;
    first.child.process.kill("SIGKILL");
    await first.child.ended;
    const second = await serving(cwd, stub.url, new URL(first.url).port);
    const watched = await Promise.all(watching);
    for (const events of watched) {
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, place) => place));
      expect(events.at(-1)).toMatchObject({ type: "run.ended", status: "finished" });
      expect(events.filter(({ type }) => type === "act.ended")).toHaveLength(3);
    }
    const resumed = watched.filter((events) => events.some(({ type }) => type === "run.resumed")).length;
    expect(resumed).toBeGreaterThan(0);
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
    second.child.process.kill("SIGTERM");
    expect(await second.child.ended).toBe(0);
  });
});
