import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { main } from "../../src/cli/program.ts";
import { createClient, type RunClient } from "../../src/client/index.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { openaiStub, type OpenAIStub } from "../../src/testing/index.ts";
import { all, door, settled } from "../server/served-team.ts";
import { type FakeHost, fakeHost } from "./fake-host.ts";
import { expectRefusal, placed, reach } from "./kept-run.ts";

const TOKEN = "serve-token-0123456789";
const CREW = `
name: writers
rounds: 9
roles:
  - name: Ann
    actions: [{ name: Draft, prompt: "Draft: {{text}}" }]
  - name: Ben
    actions: [{ name: Polish, on: Draft, prompt: "Polish: {{text}}" }]
`;

const started: FakeHost[] = [];
afterEach(() => {
  for (const host of started.splice(0)) host.signal("SIGTERM");
});

const folder = (): string => placed({ "crew.yaml": CREW }).cwd;

function begun(cwd: string, stub: OpenAIStub, words: readonly string[], env: Readonly<Record<string, string>>) {
  const host = fakeHost({ cwd, clock: systemClock, env: { OPENAI_API_KEY: "sk-test-0123456789abcdefghij", ...env } });
  const given = ["serve", "--crew", "crew.yaml", ...reach(stub), "--price", "1,4", "--sandbox", "none", "--port", "0"];
  started.push(host);
  return { host, ended: main(host, [...given, ...words]) };
}

async function serving(cwd: string, stub: OpenAIStub, words: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const { host, ended } = begun(cwd, stub, ["--json", ...words], env);
  while (!host.stdout.text.includes("\n")) await Promise.race([once(host.stdout, "data"), ended]);
  const { url } = JSON.parse(host.stdout.text.split("\n")[0] ?? "") as { readonly url: string };
  return { host, ended, url };
}

describe("troupe serve", () => {
  it.each([
    [["--total-budget", "0"], "--total-budget"],
    [["--on-team-change", "force"], "--on-team-change"],
    [["--total-budget", "1", "--tenants", "tenants.json"], "OPTION_CONFLICT"],
    [["--listen", "127.0.0.1:8080"], "--listen 127.0.0.1 --port 8080"],
  ])("refuses %j", async (words, told) => {
    expect((await expectRefusal(placed({ "tenants.json": "{}" }).cwd, ["serve", ...words], told)).stdout).toBe("");
  });

  it("gives each tenant of a file its own runs, and bounds the calls that one makes at once", async () => {
    const cwd = folder();
    const tenants = [
      { name: "wide", token: { env: "WIDE_TOKEN" } },
      { name: "narrow", token: "narrow-token-0123456789", calls: 2 },
    ];
    writeFileSync(join(cwd, "tenants.json"), JSON.stringify({ tenants }));
    let gate = door();
    let [underWay, most, opensAt] = [0, 0, 0];
    await using stub = await openaiStub({
      handler: async () => {
        underWay += 1;
        most = Math.max(most, underWay);
        if (underWay === opensAt) gate.open();
        await gate.passed;
        await settled();
        underWay -= 1;
        return { text: "some text" };
      },
    });
    const { url } = await serving(cwd, stub, ["--tenants", "tenants.json"], { WIDE_TOKEN: TOKEN });
    const [wide, narrow] = [TOKEN, "narrow-token-0123456789"].map((token) => createClient({ url, token })) as [RunClient, RunClient];
    const mostOf = async (client: RunClient, at: number): Promise<number> => {
      [most, opensAt, gate] = [0, at, door()];
      const runs = await Promise.all(Array.from({ length: 6 }, (_, n) => client.start({ idea: `story ${n}` })));
      for (const { id } of runs) expect((await all(client.events(id))).at(-1)).toMatchObject({ type: "run.ended", status: "finished" });
      return most;
    };
    expect(await mostOf(wide, 6)).toBe(6);
    expect(await mostOf(narrow, 2)).toBe(2);
    const [seen, others] = [(await wide.list()).runs, (await narrow.list()).runs];
    expect([seen.length, others.length, new Set([...seen, ...others].map(({ id }) => id)).size]).toEqual([6, 6, 12]);
    await expect(wide.read(others[0]?.id ?? "")).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
  });

  it("lets calls that are under way end when it is asked to end, and the next start goes on without paying again", async () => {
    const cwd = folder();
    const gate = door();
    let arrived = (): void => {};
    const isAsked = new Promise<void>((resolve) => (arrived = resolve));
    await using stub = await openaiStub({
      handler: async () => {
        arrived();
        await gate.passed;
        return { text: "some text" };
      },
    });
    const first = await serving(cwd, stub, [], { TROUPE_TOKEN: TOKEN });
    const { id } = await createClient({ url: first.url, token: TOKEN }).start({ idea: "a story" });
    await isAsked;
    first.host.signal("SIGTERM");
    await settled();
    gate.open();
    expect(await first.ended).toBe(0);
    expect(stub.requests).toHaveLength(1);
    const second = await serving(cwd, stub, [], { TROUPE_TOKEN: TOKEN });
    const events = await all(createClient({ url: second.url, token: TOKEN }).events(id));
    expect(events.at(-1)).toMatchObject({ type: "run.ended", status: "finished" });
    expect(stub.requests).toHaveLength(2);
  });

  it("warns where other machines reach it, and answers at the address that it prints", async () => {
    const cwd = folder();
    await using stub = await openaiStub({ reply: { text: "some text" } });
    const { host, ended } = begun(cwd, stub, ["--listen", "0.0.0.0"], { TROUPE_TOKEN: TOKEN });
    const told = (): string => `${host.stdout.text}${host.stderr.text}`;
    while (!told().includes("Warning: ")) await Promise.race([once(host.stdout, "data"), once(host.stderr, "data"), ended]);
    const [, url = ""] = /Serving at (http:\/\/127\.0\.0\.1:\d+)/.exec(told()) ?? [];
    expect((await fetch(`${url}/api/runs`, { headers: { authorization: `Bearer ${TOKEN}` } })).status).toBe(200);
    host.signal("SIGTERM");
    expect(await ended).toBe(0);
  });
});
