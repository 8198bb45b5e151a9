import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createClient, type RunClient } from "../../src/client/index.ts";
import { type Child, start } from "../cli/child.ts";
import { freshFolder } from "../cli/kept-run.ts";
import { all } from "../server/served-team.ts";

/*
 * SIGKILL of a server whose runs wait, by real processes: what ends a wait comes to the next process.
 */

const CREW = `
import { defineAction, defineRole } from "${new URL("../../dist/src/index.js", import.meta.url).href}";
const Sell = defineAction({
  name: "Sell",
  run: async ({ text, sleep, waitFor }) => {
    const { amount, at } = await waitFor("paid");
    await sleep(at);
    return text + ": paid " + amount;
  },
});
export default { name: "shop", roles: [defineRole({ name: "Sally", actions: [Sell] })] };
`;
const TOKEN = "waits-token-0123456789";
const PAST = "2001-01-01T00:00:00Z";
const FAR = "2261-01-01T00:00:00Z";

interface Serving {
  readonly child: Child;
  readonly client: RunClient;
}

async function serving(cwd: string): Promise<Serving> {
  const words = ["serve", "--crew", "crew.mjs", "--base-url", "http://127.0.0.1:9/v1", "--model", "stub-1", "--price", "1,4"];
  const child = start([...words, "--sandbox", "none", "--json", "--port", "0"], {
    cwd,
    env: { TROUPE_TOKEN: TOKEN, OPENAI_API_KEY: "sk-test-0123456789abcdefghij" },
  });
  await child.until("stdout", /"serving"/);
  const { url } = JSON.parse(child.said.stdout.trim().split("\n")[0] ?? "") as { readonly url: string };
  return { child, client: createClient({ url, token: TOKEN }) };
}

async function killed({ child }: Serving): Promise<void> {
  child.process.kill("SIGKILL");
  expect(await child.ended).toBe("SIGKILL");
}

/** Resolves with the status of a run when it is at rest, after so many waits. */
async function atRest({ client }: Serving, id: string, waits: number): Promise<string> {
  for (;;) {
    const events = await all(client.events(id));
    const { status } = await client.read(id);
    const begun = new Set(events.flatMap((event) => (event.type === "step.started" && event.name === "wait" ? [event.key] : [])));
    if (status !== "waiting" || begun.size === waits) return status;
  }
}

test("a signal to a server that was killed and started again wakes a run, and a time that has passed ends its wait", async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, "crew.mjs"), CREW);
  const first = await serving(cwd);
  const ids = ["a pot", "a cup", "a jug"] as const;
  const runs = await Promise.all(ids.map((idea) => first.client.start({ idea })));
  const [pot, cup, jug] = runs.map(({ id }) => id) as [string, string, string];
  for (const id of [pot, cup, jug]) expect(await atRest(first, id, 1)).toBe("waiting");
  await first.client.signal(jug, "paid", { amount: 3, at: FAR }, { id: "payment" });
  expect(await atRest(first, jug, 2)).toBe("waiting");
  await killed(first);

  const second = await serving(cwd);
  await second.client.signal(pot, "paid", { amount: 1, at: PAST }, { id: "payment" });
  expect(await atRest(second, pot, 2)).toBe("finished");
  // The process dies right after its answer to the sender.
  await second.client.signal(cup, "paid", { amount: 2, at: PAST }, { id: "payment" });
  await killed(second);

  const third = await serving(cwd);
  expect(await atRest(third, cup, 2)).toBe("finished");
  expect((await third.client.read(jug)).status).toBe("waiting");
  for (const [id, said] of [
    [pot, "a pot: paid 1"],
    [cup, "a cup: paid 2"],
  ] as const) {
    const events = await all(third.client.events(id));
    expect(events.flatMap((event) => (event.type === "act.ended" ? event.said.map(({ message }) => message.content) : []))).toEqual([said]);
    expect(events.filter((event) => event.type === "message" && event.message.id === "payment")).toHaveLength(1);
  }
  third.child.process.kill("SIGTERM");
  expect(await third.child.ended).toBe(0);
});
