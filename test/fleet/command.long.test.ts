// @module-tag fleet
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, describe, expect, it, vi } from "vitest";
import { hasPostgres, startPostgres } from "../adapters/postgres-process.ts";
import { type Child, run, start } from "../cli/child.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { startProvider } from "./provider.ts";

const TEAMS = fileURLToPath(new URL("teams.mjs", import.meta.url));

describe.runIf(hasPostgres)("the commands of a fleet", async () => {
  const server = hasPostgres ? await startPostgres() : undefined;
  const provider = await startProvider((question) => (question.includes("slow") ? 3_000 : 10));
  const running: Child[] = [];
  afterAll(async () => {
    for (const child of running) child.process.kill("SIGKILL");
    await provider.close();
    await server?.kill();
  });
  const o = { cwd: scratchFolder(), env: { TROUPE_JOURNAL: server?.url ?? "", FLEET_PROVIDER: provider.url } };
  const troupe = (...words: readonly string[]): ReturnType<typeof run> => run(words, o);

  function startWorker(...words: readonly string[]): Child {
    const child = start(["worker", TEAMS, "--json", ...words], o);
    running.push(child);
    return child;
  }

  it("take a run from submit to its end, list it, show it, and drain", async () => {
    const submitted = await troupe("submit", "--team", "writers", "--id", "one", "a poem about rain");
    expect(submitted).toMatchObject({ code: 0, stdout: "one\n" });
    expect((await troupe("ps")).stdout).toMatch(/one +writers +waits for a worker/);
    const worker = startWorker("--health", "0");
    await worker.until("stdout", /"type":"working"/);
    const followed = await troupe("logs", "-f", "one");
    expect(followed.stdout).toMatch(/run\.ended +finished/);
    expect((await troupe("ps")).stdout).toMatch(/one +writers .* finished/);
    const { health } = JSON.parse(worker.said.stdout.split("\n")[0] ?? "") as { readonly health: string };
    expect(await (await fetch(health)).json()).toEqual({ status: "working", runs: 0 });
    expect(await troupe("drain")).toMatchObject({ code: 0 });
    expect(await worker.ended).toBe(0);
  });

  it("follow a run that still waits, and stop one by the beginning of its id", async () => {
    await troupe("submit", "--team", "writers", "--id", "waits-long", "a poem about snow");
    expect((await troupe("logs", "waits-long")).stderr).toContain("RUN_UNKNOWN");
    const stopped = await troupe("stop", "waits-l");
    expect([stopped.code, stopped.stdout]).toEqual([0, ""]);
    expect(stopped.stderr).toContain("waits-long is taken from the queue. It had not begun, so its idea is gone.");
    expect((await troupe("stop", "waits-l")).stderr).toContain("RUN_UNKNOWN");
    expect((await troupe("logs", "-f", "waits-long")).stderr).toContain("RUN_UNKNOWN");
    await troupe("submit", "--team", "writers", "--id", "waits-long", "a poem about snow");
    const follower = start(["logs", "-f", "waits-l"], o);
    running.push(follower);
    await follower.until("stderr", /waits-long waits for a worker/);
    const worker = startWorker();
    expect([await follower.ended, follower.said.stdout.includes("run.ended")]).toEqual([0, true]);
    worker.process.kill("SIGTERM");
    expect(await worker.ended).toBe(0);
  });

  it("stop a run that a worker drives, and continue it when it is submitted again", async () => {
    const worker = startWorker();
    await worker.until("stdout", /"type":"working"/);
    await troupe("submit", "--team", "writers", "--id", "two", "a slow poem");
    await worker.until("stderr", /A run begins/);
    expect(await troupe("stop", "two")).toMatchObject({ code: 0 });
    expect((await troupe("logs", "two")).stdout).toMatch(/run\.ended +stopped/);
    expect(await troupe("stop", "two")).toMatchObject({ code: 0 });
    for (const [words, said] of [
      [["another poem"], "RUN_IDEA_DIFFERS"],
      [["--team", "painters"], 'team of two, which is "writers"'],
    ] as const) {
      const refused = await troupe("submit", "--id", "two", ...words);
      expect([refused.code, refused.stderr.includes(said)]).toEqual([2, true]);
    }
    expect((await troupe("stop", "unknown")).stderr).toContain("RUN_UNKNOWN");
    expect(await troupe("bring", "two")).toMatchObject({ code: 2, stderr: expect.stringContaining("PROJECT_EMPTY") });
    expect((await troupe("submit", "--id", "unknown")).stderr).toContain("IDEA_MISSING");
    expect((await troupe("submit", "--id", "unknown", "a poem")).stderr).toContain("--team");
    expect(await troupe("submit", "--id", "two")).toMatchObject({ code: 0, stdout: "two\n" });
    expect((await troupe("logs", "-f", "two")).stdout).toMatch(/run\.ended +finished/);
    worker.process.kill("SIGTERM");
    expect(await worker.ended).toBe(0);
  });

  it("WorkerParent.P1 start a worker again that was killed, and prove its death", async () => {
    const worker = startWorker();
    await worker.until("stdout", /"type":"working"/);
    await troupe("submit", "--team", "writers", "--id", "four", "a slow death");
    const isAsked = (): boolean => [...provider.calls.keys()].some((question) => question.includes("a slow death"));
    await vi.waitUntil(isAsked, { interval: 10, timeout: 120_000 });
    const pid = Number(/"pid":(\d+)/.exec(worker.said.stdout)?.[1]);
    process.kill(pid, "SIGKILL");
    await worker.until("stderr", /The worker died, and is started again/);
    const { stdout } = await troupe("logs", "-f", "four", "--json");
    expect(stdout).toContain('"cause":"died"');
    expect(stdout).toMatch(/"type":"run\.ended","status":"finished"/);
    worker.process.kill("SIGTERM");
    expect(await worker.ended).toBe(0);
  });

  it("start a worker while the database is away, which takes runs when it is back", async () => {
    const mine = await startPostgres();
    await mine.kill();
    const worker = start(["worker", TEAMS, "--json"], { ...o, env: { ...o.env, TROUPE_JOURNAL: mine.url } });
    running.push(worker);
    await worker.until("stderr", /does not answer/);
    await mine.restart();
    await worker.until("stdout", /"type":"working"/);
    worker.process.kill("SIGTERM");
    expect(await worker.ended).toBe(0);
    await mine.kill();
  });

  it("--workspaces brings the files of a run to the worker that continues it", async () => {
    const module = join(o.cwd, "movers.mjs");
    const library = pathToFileURL(fileURLToPath(new URL("../../dist/src/index.js", import.meta.url))).href;
    await writeFile(
      module,
      `import { existsSync, readFileSync, writeFileSync } from "node:fs";
       import { setTimeout as delay } from "node:timers/promises";
       import { join } from "node:path";
       import { defineAction, defineRole, Team } from ${JSON.stringify(library)};
       export const movers = ({ journal, driver, workspaces }) => {
         const act = (name, work) => defineAction({ name, run: (ctx) => ctx.step(name, {}, () => work(join(workspaces.folderOf(ctx.runId), "made.txt"))) });
         const Make = act("Make", async (path) => (writeFileSync(path, "made by a command"), "done"));
         const Wait = act("Wait", async () => {
           while (!existsSync(${JSON.stringify(join(o.cwd, "drains"))})) await delay(20);
           return "waited";
         });
         const Read = act("Read", async (path) => readFileSync(path, "utf8"));
         const roles = [
           defineRole({ name: "Ann", actions: [Make] }),
           defineRole({ name: "Bob", watch: [Make], actions: [Wait] }),
           defineRole({ name: "Cid", watch: [Wait], actions: [Read] }),
         ];
         return new Team({ name: "movers", roles, journal, driver });
       };`,
    );
    const startMover = (folder: string): Child => {
      const child = start(["worker", module, "--json", "--workspaces", "file:shared", "--folder", folder], o);
      running.push(child);
      return child;
    };
    const first = startMover("here");
    await troupe("submit", "--team", "movers", "--id", "moving", "go");
    await vi.waitUntil(async () => (await troupe("logs", "moving", "--json")).stdout.includes('"name":"Wait"'), { timeout: 120_000 });
    first.process.kill("SIGTERM");
    await first.until("stderr", /The worker drains/);
    await writeFile(join(o.cwd, "drains"), "");
    expect(await first.ended).toBe(0);
    const second = startMover("there");
    await second.until("stderr", /A run ends[^\n]*"run":"moving"/);
    expect((await troupe("logs", "moving", "--json")).stdout).toContain("made by a command");
    expect(await readFile(join(o.cwd, "there", "moving", "made.txt"), "utf8")).toBe("made by a command");
    second.process.kill("SIGTERM");
    expect(await second.ended).toBe(0);
  });

  it("an answer brings a run that waits for a person back to a worker", async () => {
    const module = join(o.cwd, "askers.mjs");
    const library = pathToFileURL(fileURLToPath(new URL("../../dist/src/index.js", import.meta.url))).href;
    await writeFile(
      module,
      `import { defineAction, defineRole, Team } from ${JSON.stringify(library)};
       const asking = (name) =>
         defineRole({ name, actions: [defineAction({ name: name + " asks", run: async (ctx) => "They said " + (await ctx.human.ask("Ready, " + name + "?")) })] });
       export const askers = ({ journal, driver }) => new Team({ name: "askers", roles: [asking("Ann"), asking("Bob")], journal, driver });`,
    );
    const worker = start(["worker", module, "--json"], o);
    running.push(worker);
    await troupe("submit", "--team", "askers", "--id", "asked", "go");
    expect((await troupe("logs", "-f", "asked")).stdout).toMatch(/run\.ended +waiting/);
    const several = await troupe("submit", "--id", "asked", "--answer", "yes");
    expect([several.code, several.stderr]).toEqual([2, expect.stringMatching(/QUESTION_MISSING/)]);
    const [ann = ""] = /\w+(?= \(Ann)/.exec(several.stderr) ?? [];
    expect(await troupe("submit", "--id", "asked", "--answer", "yes", "--question", ann)).toMatchObject({ code: 0 });
    await worker.until("stderr", /(A run ends[^\n]*"run":"asked"[^]*){2}/);
    expect(await troupe("submit", "--id", "asked", "--answer", "no")).toMatchObject({ code: 0 });
    await worker.until("stderr", /(A run ends[^\n]*"run":"asked"[^]*){3}/);
    const { stdout } = await troupe("logs", "asked", "--json");
    expect(["They said yes", "They said no", '"status":"finished"'].filter((text) => !stdout.includes(text))).toEqual([]);
    expect((await troupe("submit", "--id", "asked", "--answer", "no")).stderr).toContain("QUESTION_MISSING");
    expect((await troupe("submit", "--answer", "no", "words")).stderr).toContain("OPTION_CONFLICT");
    worker.process.kill("SIGTERM");
    expect(await worker.ended).toBe(0);
  });

  it("FleetWorker.W5 a run that ends its process is given up, and those beside it finish", async () => {
    const module = join(o.cwd, "poison.mjs");
    const library = pathToFileURL(fileURLToPath(new URL("../../dist/src/index.js", import.meta.url))).href;
    await writeFile(
      module,
      `import { defineAction, defineRole, Team } from ${JSON.stringify(library)};
       const work = async (ctx) => {
         await new Promise((resolve) => setTimeout(resolve, ctx.text === "poison" ? 300 : 1_500));
         if (ctx.text === "poison") process.kill(process.pid, "SIGKILL");
         return "done";
       };
       const Work = defineAction({ name: "Work", run: (ctx) => ctx.step("work", { of: ctx.text }, () => work(ctx)) });
       export const cooks = ({ journal, driver }) =>
         new Team({ name: "cooks", roles: [defineRole({ name: "Ann", actions: [Work] })], journal, driver });`,
    );
    const ids = ["poison", "a", "b", "c", "d", "e"];
    for (const id of ids) await troupe("submit", "--team", "cooks", "--id", id, id);
    const worker = start(["worker", module, "--json"], o);
    running.push(worker);
    const records: string[] = [];
    for (const id of ids) {
      await worker.until("stderr", new RegExp(`A run ends[^\\n]*"run":"${id}"`));
      records.push((await troupe("logs", "-f", id, "--json")).stdout);
    }
    expect(records[0]).toContain("POISONED");
    for (const [at, record] of records.slice(1).entries()) {
      expect([ids[at + 1], /"type":"run\.ended","status":"finished"/.test(record), record.includes("act.failed")]).toEqual([
        ids[at + 1],
        true,
        false,
      ]);
      // The first two deaths are of all that were in the process; the third is of the one that worked alone.
      expect(record.match(/"cause":"died"/g)?.length ?? 0).toBeLessThanOrEqual(2);
    }
    worker.process.kill("SIGTERM");
    expect(await worker.ended).toBe(0);
  });

  it("WorkerParent.P2 tell what is wrong with a module of teams, and do not start it again", async () => {
    const missing = await troupe("worker", "./nothing.js");
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain("TEAMS_UNREADABLE");
    expect((await run(["worker", TEAMS], { ...o, env: { TROUPE_JOURNAL: "mysql://u:secret@h/x" } })).stderr).not.toContain("secret");
    const bad = async (code: string, url = o.env.TROUPE_JOURNAL): Promise<string> => {
      const module = join(o.cwd, "bad.mjs");
      await writeFile(module, code);
      const ended = await run(["worker", module], { ...o, env: { ...o.env, TROUPE_JOURNAL: url } });
      expect([ended.code, ended.stderr.trim().split("\n").length]).toEqual([2, 1]);
      return ended.stderr;
    };
    const made = `import { Team } from ${JSON.stringify(pathToFileURL(fileURLToPath(new URL("../../dist/src/index.js", import.meta.url))).href)};
      const made = ({ journal }) => new Team({ name: "same", journal });`;
    expect(await bad("throw new Error(process.env.TROUPE_JOURNAL)", "postgres://troupe:hunter2@127.0.0.1/x")).not.toContain("hunter2");
    expect(await bad("export const writers = 5")).toContain("TEAMS_INVALID");
    expect(await bad(`${made} export const [one, other] = [made, made]`)).toContain('"same" twice');
    expect(await bad(`${made} export { made }`, o.env.TROUPE_JOURNAL.replace("troupe@", "nobody@"))).toContain("JOURNAL_UNWRITABLE");
  });

  it("WorkerParent.P4 report a module that ends the process, and stop at once on request while it loads", async () => {
    const [ends, hangs] = [join(o.cwd, "ends.mjs"), join(o.cwd, "hangs.mjs")];
    await writeFile(ends, "process.exit(0)");
    expect(await run(["worker", ends], o)).toMatchObject({ code: 1, stderr: expect.stringContaining("COMMAND_UNFINISHED") });
    await writeFile(hangs, `process.stdout.write("loading"); await new Promise(() => undefined)`);
    const worker = start(["worker", hangs], o);
    running.push(worker);
    await worker.until("stdout", /loading/);
    worker.process.kill("SIGTERM");
    expect(await worker.ended).toBe(0);
  });

  it("refuse tables of a newer version, and a port that is taken", async () => {
    const { default: pg } = await import("pg");
    const client = new pg.Client({ connectionString: o.env.TROUPE_JOURNAL });
    await client.connect();
    await run(["submit", "--schema", "newer", "--team", "writers", "x"], o);
    await client.query("UPDATE newer.troupe_parts SET version = version + 1 WHERE part = 'journal'");
    await client.end();
    const newer = await run(["worker", TEAMS, "--schema", "newer"], o);
    expect([newer.code, newer.stderr.includes("JOURNAL_NEWER")]).toEqual([2, true]);
    const { port } = new URL(provider.url);
    expect(await run(["worker", TEAMS, "--health", port], o)).toMatchObject({ code: 2, stderr: expect.stringContaining("LISTEN_FAILED") });
  });
});
