import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { main } from "../../src/cli/program.ts";
import { timeIn } from "../../src/cli/option-values.ts";
import { root } from "../architecture/read-house.ts";
import { fakeHost, scratchFolder } from "../cli/fake-host.ts";
import { codeBlocks } from "./markdown.ts";

const page = readFileSync(join(root, "docs/guides/fleet.md"), "utf8");
const compose = codeBlocks(page).find(({ language }) => language === "yaml")?.code ?? "";

const ComposeFile = z.object({
  services: z.object({
    db: z.object({ volumes: z.array(z.string()), secrets: z.array(z.string()) }),
    worker: z.object({
      command: z.tuple([z.literal("npx"), z.literal("troupe")], z.string()),
      environment: z.array(z.string()),
      stop_grace_period: z.string(),
      depends_on: z.array(z.string()),
    }),
  }),
  secrets: z.record(z.string(), z.unknown()),
  volumes: z.record(z.string(), z.unknown()),
});
const file = ComposeFile.parse(parse(compose));
const { db, worker } = file.services;

/** Runs the command of the compose file with a value for each of its variables, and returns what it writes to standard error. */
async function said(words: readonly string[], journal: string): Promise<string> {
  const host = fakeHost({ env: { ...Object.fromEntries(worker.environment.map((name) => [name, "sk-1"])), TROUPE_JOURNAL: journal } });
  expect(await main(host, words)).toBe(2);
  return host.stderr.text;
}

const hasCompose = spawnSync("docker-compose", ["--version"]).status === 0;

describe("the compose file of docs/guides/fleet.md", () => {
  it("names what it has", () => {
    expect(Object.keys(file.secrets)).toEqual(db.secrets);
    expect(Object.keys(file.volumes)).toEqual(db.volumes.map((volume) => volume.split(":")[0]));
    expect(Object.keys(file.services)).toEqual(expect.arrayContaining(worker.depends_on));
  });

  it("has a command and variables that the worker takes: it stops only at a bad address of the journal", async () => {
    const [, , ...words] = worker.command;
    expect(await said(words, "nowhere")).toMatch(/TROUPE_JOURNAL|--journal/);
    expect(await said([...words, "--unknown"], "nowhere")).toContain("--unknown");
  });

  it("leaves a worker more time to end than the worker leaves its runs", () => {
    const [, grace = ""] = /`--grace` \((\d+) seconds\)/.exec(page) ?? [];
    expect(timeIn("stop_grace_period", worker.stop_grace_period)).toBeGreaterThan(timeIn("--grace", `${grace}s`));
  });

  it.runIf(hasCompose)("is taken by docker-compose", () => {
    const cwd = scratchFolder();
    writeFileSync(join(cwd, "compose.yaml"), compose);
    const { status, stderr } = spawnSync("docker-compose", ["-f", "compose.yaml", "config", "--quiet"], { cwd, encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.not.stringMatching(/ERROR/) });
  });
});
