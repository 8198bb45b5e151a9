// @module-tag fleet
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { root } from "../architecture/read-house.ts";
import { freePort } from "../kernel/free-port.ts";
import { codeBlocks } from "./markdown.ts";

const blocks = codeBlocks(readFileSync(join(root, "docs/guides/deploy.md"), "utf8"));
const TOKEN = "container-token-0123456789";

function block(language: string, words: string): string {
  const found = blocks.filter((one) => one.language === language && one.code.includes(words));
  expect(found).toHaveLength(1);
  return found[0]?.code ?? "";
}

/** A stage of a container file, whose root is a folder. */
interface Stage {
  readonly name: string;
  readonly root: string;
  readonly env: Record<string, string>;
  folder: string;
  command: readonly string[];
  health: readonly string[];
  signal: NodeJS.Signals;
}

const place = mkdtempSync(join(tmpdir(), "troupe-container-"));
const context = join(place, "context");

/** The packages of this one, as somebody who depends on it has them in a lockfile. */
beforeAll(() => {
  const { dependencies, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly dependencies: object;
    readonly version: string;
  };
  mkdirSync(context);
  const all = { ...dependencies, zod: "^4.3.0" };
  writeFileSync(join(context, "package.json"), JSON.stringify({ name: "kitchen", version, type: "module", dependencies: all }));
  shell("npm install --package-lock-only --prefer-offline --no-audit --no-fund", context, {});
  const code = `${block("ts", "const menu")}\n${block("ts", "const logger = jsonLogger")}\nawait startService();\n`.replaceAll(
    ": Promise<void>",
    "",
  );
  const seen = new Set<string>();
  const lines = code.split("\n").filter((line) => !line.startsWith("import ") || (!seen.has(line) && seen.add(line)));
  writeFileSync(join(context, "server.js"), lines.join("\n"));
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

function shell(line: string, cwd: string, env: Readonly<Record<string, string>>): void {
  const { status, stderr } = spawnSync("sh", ["-ec", line], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", HOME: place, ...env },
    encoding: "utf8",
  });
  expect(status, `${line}: ${stderr}`).toBe(0);
}

/** Does what a container file says, with folders for file systems: no image, no user of its own, no isolation. */
function built(text: string): Stage {
  const stages: Stage[] = [];
  const lines = text.replaceAll(/\\\n\s*/g, "").split("\n");
  for (const line of lines.filter((one) => one !== "")) {
    const [, word = "", rest = ""] = /^(\w+) (.*)$/.exec(line) ?? [];
    const stage = stages.at(-1);
    if (word === "FROM") {
      const folder = join(place, `stage-${stages.length}`);
      mkdirSync(folder);
      const name = / AS (\w+)$/.exec(rest)?.[1] ?? "";
      stages.push({ name, root: folder, env: {}, folder, command: [], health: [], signal: "SIGKILL" });
    } else if (stage !== undefined) instruct(stage, stages, word, rest);
  }
  return stages.at(-1) as Stage;
}

function instruct(stage: Stage, stages: readonly Stage[], word: string, rest: string): void {
  const inside = (path: string): string => (path.startsWith("/") ? join(stage.root, path) : join(stage.folder, path));
  switch (word) {
    case "WORKDIR":
      stage.folder = join(stage.root, rest);
      mkdirSync(stage.folder, { recursive: true });
      return;
    case "ENV":
      for (const [, name = "", value = ""] of rest.matchAll(/(\w+)=(\S+)/g))
        stage.env[name] = value.startsWith("/") ? join(stage.root, value) : value;
      return;
    case "COPY": {
      const [from, ...paths] = rest.startsWith("--from=") ? rest.slice("--from=".length).split(" ") : ["", ...rest.split(" ")];
      const to = inside(paths.pop() ?? "");
      const source = from === "" ? context : (stages.find(({ name }) => name === from)?.root ?? "");
      const isFolder = to.endsWith("/") || paths.length > 1;
      for (const path of paths) cpSync(join(source, path), isFolder ? join(to, path) : to, { recursive: true });
      return;
    }
    case "RUN":
      return shell(rest.replaceAll(/(?<=\s)\/\w+/g, inside).replace("node:node", `${process.getuid?.()}`), stage.folder, stage.env);
    case "CMD":
      stage.command = JSON.parse(rest) as readonly string[];
      return;
    case "HEALTHCHECK":
      stage.health = JSON.parse(rest.slice(rest.indexOf("["))) as readonly string[];
      return;
    case "STOPSIGNAL":
      stage.signal = rest as NodeJS.Signals;
      return;
    default:
      expect(["USER", "VOLUME", "EXPOSE"]).toContain(word);
  }
}

it(
  "the container file of the guide to deploying builds a server that is healthy, answers, and ends by its signal",
  { timeout: 900_000 },
  async () => {
    const stage = built(block("dockerfile", "HEALTHCHECK"));
    expect(existsSync(join(stage.folder, "node_modules/hono"))).toBe(true);
    // This package is not in a registry yet: it is put where npm would put it.
    const own = join(stage.folder, "node_modules/troupe");
    mkdirSync(own);
    for (const part of ["dist", "package.json"]) cpSync(join(root, part), join(own, part), { recursive: true });
    const port = await freePort();
    const env = { ...stage.env, PATH: process.env["PATH"] ?? "", PORT: String(port), TOKEN };
    const client = createClient({ url: `http://127.0.0.1:${port}`, token: TOKEN });
    for (const turn of [0, 1]) {
      const [program = "", ...args] = stage.command;
      const child = spawn(program, args, { cwd: stage.folder, env, stdio: ["ignore", "inherit", "inherit"] });
      const ended = new Promise((resolve) => child.on("close", (code, signal) => resolve(code ?? signal)));
      const [check = "", ...checkArgs] = stage.health;
      await expect.poll(() => spawnSync(check, checkArgs, { env }).status, { timeout: 120_000, interval: 300 }).toBe(0);
      if (turn === 0) await client.start({ idea: "Something with fish, please.", id: "table-4" });
      for await (const event of client.events("table-4")) void event;
      expect((await client.read("table-4")).status).toBe("finished");
      child.kill(stage.signal);
      expect(await ended).toBe(0);
      expect(spawnSync(check, checkArgs, { env }).status).toBe(1);
    }
    expect(readdirSync(join(stage.root, "data"))).toContain("runs.db");
  },
);
