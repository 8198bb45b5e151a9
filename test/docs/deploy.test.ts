import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { sqlite } from "../../src/adapters/sqlite.ts";
import { defineAction, defineRole, fold, type RunEvent, Team } from "../../src/index.ts";
import { createServer } from "../../src/server/index.ts";
import { root } from "../architecture/read-house.ts";
import { codeBlocks } from "./markdown.ts";

const blocks = codeBlocks(readFileSync(join(root, "docs/guides/deploy.md"), "utf8"));

/** The text of a block of the page: the one of this language that has these words. */
function block(language: string, words: string): string {
  const found = blocks.filter((one) => one.language === language && one.code.includes(words));
  expect(found).toHaveLength(1);
  return found[0]?.code ?? "";
}

function isInstalled(program: string): boolean {
  const there = spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
  if (!there) process.stderr.write(`\nA part of docs/guides/deploy.md is not tested: ${program} is not installed\n`);
  return there;
}

const folders: string[] = [];
function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "troupe-deploy-"));
  folders.push(made);
  return made;
}
afterEach(() => {
  for (const made of folders.splice(0)) rmSync(made, { recursive: true, force: true });
});

interface Ended {
  readonly code: number | null;
  readonly said: string;
}

/** Runs a program without blocking this process, which serves. */
function ended(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    child.stdout.on("data", (text: Buffer) => (said += text.toString()));
    child.stderr.on("data", (text: Buffer) => (said += text.toString()));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, said }));
  });
}

const Shout = defineAction({ name: "Shout", run: (ctx) => ctx.text.toUpperCase() });
const roles = [defineRole({ name: "Sam", actions: [Shout] })];

describe("docs/guides/deploy.md", () => {
  it.runIf(isInstalled("systemd-analyze"))("has a unit that systemd takes", async () => {
    const file = join(folder(), "kitchen.service");
    writeFileSync(file, block("ini", "[Service]").replace("/usr/bin/node", process.execPath));
    expect(await ended("systemd-analyze", ["verify", file])).toEqual({ code: 0, said: "" });
  });

  it.runIf(isInstalled("nginx"))("has a proxy that nginx takes, apart from its certificate", async () => {
    const place = folder();
    const server = block("nginx", "proxy_pass")
      .replace("443 ssl", "8443")
      .replace(/^ *ssl_.*\n/gm, "");
    const file = join(place, "nginx.conf");
    writeFileSync(file, `pid ${place}/pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${server}\n}\n`);
    const { code, said } = await ended("nginx", ["-t", "-p", place, "-c", file]);
    expect(code, said).toBe(0);
  });

  it.runIf(isInstalled("caddy"))("has a proxy that Caddy takes, and that sends events on at once", async () => {
    const place = folder();
    const file = join(place, "Caddyfile");
    writeFileSync(file, block("text", "reverse_proxy"));
    const env = { ...process.env, HOME: place, XDG_DATA_HOME: place, XDG_CONFIG_HOME: place };
    const { code, said } = await ended("caddy", ["adapt", "--config", file, "--validate"], env);
    expect(code, said).toBe(0);
    expect(said).toContain('"flush_interval":-1');
    expect(said).toContain('"max_size":1000000');
  });

  it("has a container file of known instructions, whose health check tells a server that is ready from none", async () => {
    const lines = block("dockerfile", "HEALTHCHECK")
      .replaceAll("\\\n", "")
      .split("\n")
      .filter((line) => line !== "");
    for (const line of lines) expect(line).toMatch(/^(FROM|WORKDIR|COPY|RUN|ENV|USER|VOLUME|EXPOSE|STOPSIGNAL|HEALTHCHECK|CMD) /);
    const [, check = "[]"] = /^HEALTHCHECK .* CMD (\[.*\])$/m.exec(lines.join("\n")) ?? [];
    const [, ...args] = JSON.parse(check) as readonly string[];
    const server = createServer({ team: new Team({ roles }) });
    const { port } = await server.listen();
    await server.ready();
    const env = { ...process.env, PORT: String(port) };
    expect(await ended(process.execPath, args, env)).toEqual({ code: 0, said: "" });
    await server.close();
    expect((await ended(process.execPath, args, env)).code).toBe(1);
  });

  it.runIf(isInstalled("curl"))("has commands that ask for health", async () => {
    const server = createServer({ team: new Team({ roles }) });
    const { port } = await server.listen();
    await server.ready();
    for (const line of block("sh", "/readyz").trim().split("\n")) {
      expect(await ended("sh", ["-c", line.replace("8080", String(port))])).toMatchObject({ code: 0 });
    }
    await server.close();
  });

  it.runIf(isInstalled("sqlite3"))("has commands that back a journal up while it is written, and restore it", async () => {
    const place = folder();
    const here = (text: string): string =>
      text.replaceAll("/var/lib", join(place, "lib")).replaceAll("/var/backups", join(place, "backups"));
    const path = here("/var/lib/kitchen/runs.db");
    mkdirSync(dirname(path), { recursive: true });
    const journal = sqlite({ path });
    const team = new Team({ roles, journal });
    await team.run("before", { id: "before" }).result;
    let isOver = false;
    const writing = (async (): Promise<number> => {
      let runs = 0;
      for (; !isOver; runs += 1) await team.run(`run ${runs}`, { id: `during-${runs}` }).result;
      return runs;
    })();
    const saved = await ended("sh", ["-ec", here(block("sh", "VACUUM"))]);
    isOver = true;
    const written = await writing;
    await journal.close();
    expect(saved).toEqual({ code: 0, said: "ok\n" });
    expect(written).toBeGreaterThan(0);

    expect(await ended("sh", ["-ec", here(block("sh", "rm --force"))])).toEqual({ code: 0, said: "" });
    const restored = sqlite({ path });
    const ids = (await restored.runs()).map(({ runId }) => runId);
    expect(ids[0]).toBe("before");
    for (const id of ids) {
      const events: RunEvent[] = [];
      for await (const event of restored.read(id, 0)) events.push(event);
      if (events.length > 0) expect(fold(events).seq).toBe(events.length);
    }
    expect((await new Team({ roles, journal: restored }).run("after", { id: "after" }).result).status).toBe("finished");
    await restored.close();
  });
});
