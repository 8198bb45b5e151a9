// @module-tag fleet
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { hasPostgres, startPostgres } from "../adapters/postgres-process.ts";
import { type Child, run, start } from "../cli/child.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { vanishingNetwork } from "./vanishing-network.ts";

/** A step of the first worker lasts longer than any limit here; those of others end at once. */
const MODULE = `
  import { defineAction, defineRole, Team } from ${JSON.stringify(pathToFileURL(fileURLToPath(new URL("../../dist/src/index.js", import.meta.url))).href)};
  const work = () => new Promise((resolve) => setTimeout(() => resolve("done"), Number(process.env.STEP)));
  const Work = defineAction({ name: "Work", run: (ctx) => ctx.step("work", {}, work) });
  export const cooks = ({ journal, driver }) => new Team({ name: "cooks", roles: [defineRole({ name: "Ann", actions: [Work] })], journal, driver });
`;

describe.runIf(hasPostgres)("a worker that cannot be heard, and has not ended", async () => {
  const network = hasPostgres ? vanishingNetwork() : undefined;
  const folder = scratchFolder();
  const [module, rights] = [join(folder, "cooks.mjs"), join(folder, "hba.conf")];
  writeFileSync(module, MODULE);
  writeFileSync(rights, "host all all 0.0.0.0/0 trust\n");
  chmodSync(folder, 0o755);
  const server = await startPostgres("-c", "listen_addresses=*", "-c", `hba_file=${rights}`);
  const running: Child[] = [];
  const pids: number[] = [];
  afterAll(async () => {
    // A process that is stopped does not see the end of its parent.
    for (const pid of pids) process.kill(pid, "SIGKILL");
    for (const child of running) child.process.kill("SIGKILL");
    await server.kill();
  });
  const o = { cwd: folder, env: { TROUPE_JOURNAL: server.url } };

  async function startWorker(step: number, at: { readonly url?: string; readonly under?: readonly string[] } = {}): Promise<Child> {
    const { url = server.url, under = [] } = at;
    const child = start(["worker", module, "--json"], { cwd: folder, env: { TROUPE_JOURNAL: url, STEP: String(step) }, under });
    running.push(child);
    await child.until("stdout", /"type":"working"/);
    return child;
  }

  /** Ends the worker that was lost, when it can be heard again, and looks at the run. */
  async function assertMoved(id: string, lost: Child, other: Child): Promise<void> {
    await lost.until("stderr", new RegExp(`A run ends[^\\n]*"run":"${id}"[^\\n]*"status":"moved"`));
    const { stdout } = await run(["logs", id, "--json"], o);
    const events = stdout.trimEnd().split("\n");
    expect(events.filter((line) => line.includes('"type":"run.ended"')).length).toBe(1);
    expect(events.filter((line) => line.includes('"type":"step.ended"')).length).toBe(1);
    expect(stdout).toContain('"cause":"taken"');
    for (const child of [lost, other]) {
      child.process.kill("SIGTERM");
      expect(await child.ended).toBe(0);
    }
  }

  it.runIf(network)(
    "loses its runs 15 seconds after its machine vanished, also with something sent, and is refused when back",
    { timeout: 900_000 },
    async () => {
      const { host = "", under = [] } = network ?? {};
      const lost = await startWorker(60_000, { url: server.url.replace("127.0.0.1", host), under });
      await run(["submit", "--team", "cooks", "--id", "vanished", "go"], o);
      await lost.until("stderr", /A run begins/);
      const other = await startWorker(0);
      network?.cut();
      const began = performance.now();
      // All workers are notified of it.
      await run(["stop", "nobody's"], o);
      await other.until("stderr", /A run ends[^\n]*"finished"/);
      expect(performance.now() - began).toBeLessThan(40_000);
      network?.mend();
      await assertMoved("vanished", lost, other);
    },
  );

  it(
    "PersistentConnection.C2 loses its runs a minute after its process was stopped, and is refused when it continues",
    { timeout: 900_000 },
    async () => {
      const lost = await startWorker(100_000);
      const pid = Number(/"pid":(\d+)/.exec(lost.said.stdout)?.[1]);
      pids.push(pid);
      await run(["submit", "--team", "cooks", "--id", "stopped", "go"], o);
      await lost.until("stderr", /A run begins/);
      const other = await startWorker(0);
      process.kill(pid, "SIGSTOP");
      const began = performance.now();
      await other.until("stderr", /A run ends[^\n]*"finished"/);
      expect(performance.now() - began).toBeGreaterThan(45_000);
      process.kill(pid, "SIGCONT");
      await assertMoved("stopped", lost, other);
      pids.pop();
    },
  );
});
