import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../../src/cli/program.ts";
import { createClient } from "../../src/client/index.ts";
import { defineAction, defineRole, type RunEvent, Team } from "../../src/index.ts";
import { fakeHost } from "./fake-host.ts";
import { command, storeWith } from "./kept-run.ts";

const Say = defineAction({ name: "Say", run: () => "</script><b>hello" });
const ann = defineRole({ name: "Ann", actions: [Say] });
const kept = storeWith((journal) => new Team({ roles: [ann], journal }).run("greet", { id: "greeting" }).result);

describe("troupe inspect", () => {
  it("serves the page and the runs to those who have the token, reads only, and ends with the signal", async () => {
    const host = fakeHost({ cwd: await kept });
    const ended = main(host, ["inspect", "greet", "--json"]);
    while (!host.stdout.text.includes("\n")) await once(host.stdout, "data");
    const { url } = JSON.parse(host.stdout.text) as { readonly url: string };
    const [origin = "", fragment = ""] = url.split("/#");
    const given = new URLSearchParams(fragment);
    expect(given.get("run")).toBe("greeting");
    expect(await (await fetch(origin)).text()).toContain("<title>Troupe</title>");
    expect((await fetch(`${origin}/api/runs`)).status).toBe(401);
    const client = createClient({ url: origin, token: given.get("token") ?? "" });
    expect((await client.list()).runs).toMatchObject([{ id: "greeting", status: "finished" }]);
    expect((await client.team()).roles).toEqual([]);
    await expect(client.resume("greeting")).rejects.toMatchObject({ code: "READ_ONLY" });
    await expect(client.start({ idea: "another" })).rejects.toMatchObject({ code: "READ_ONLY" });
    host.signal("SIGINT");
    expect(await ended).toBe(0);
    await expect(fetch(origin)).rejects.toThrow("fetch failed");
  });

  it("refuses a port that is none, and a run that is not there", async () => {
    const cwd = await kept;
    expect((await command(cwd, ["inspect", "--port", "70000"])).stderr).toContain("a port from 0 to 65535");
    expect((await command(cwd, ["inspect", "nothing"])).stderr).toContain("RUN_UNKNOWN");
  });
});

describe("troupe runs export --html", () => {
  it("writes the run and the page into one file that only its owner reads, and never over another", async () => {
    const cwd = await kept;
    const { code, stderr } = await command(cwd, ["runs", "export", "greeting", "--html", "greeting.html"]);
    expect([code, stderr]).toEqual([0, expect.stringContaining("to greeting.html. Open it in a browser.")]);
    const html = readFileSync(join(cwd, "greeting.html"), "utf8");
    const block = /<script type="application\/json" id="troupe-runs">([^]*?)<\/script>/.exec(html)?.[1] ?? "";
    const [events] = JSON.parse(block) as readonly (readonly RunEvent[])[];
    expect(events?.map(({ type }) => type)).toContain("act.ended");
    expect(block).not.toContain("<");
    expect(html).toContain("connect-src 'none'");
    expect(statSync(join(cwd, "greeting.html")).mode & 0o777).toBe(0o600);
    expect((await command(cwd, ["runs", "export", "greeting", "--html", "greeting.html"])).stderr).toContain("EXPORT_UNWRITABLE");
    expect((await command(cwd, ["runs", "export", "greeting", "x.ndjson", "--html", "y.html"])).stderr).toContain("OPTION_CONFLICT");
  });
});
