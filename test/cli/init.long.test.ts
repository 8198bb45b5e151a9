// @module-tag site
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { manifest, root } from "../architecture/read-house.ts";
import { freshFolder } from "./kept-run.ts";

/** Runs a program to its end, without the settings of the npm that runs the tests. @returns what it printed */
function ran(cwd: string, program: string, words: readonly string[]): string {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_|^(OPENAI|TROUPE)_/i.test(name)));
  return execFileSync(program, words, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** A project that has installed the packed package. */
function user(): string {
  const cwd = freshFolder();
  const packed = ran(root, "npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", cwd]).trim();
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ name: "user", private: true }));
  ran(cwd, "npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", join(cwd, packed), "zod"]);
  return cwd;
}

describe("a project of the packed package", () => {
  it.each([
    ["TypeScript", "writers", []],
    ["JavaScript", "plain", ["--js"]],
  ] as const)("in %s installs, passes its test and runs", (_language, name, words) => {
    const cwd = user();
    ran(cwd, "npx", ["--no-install", "troupe", "init", name, ...words]);
    const folder = join(cwd, name);
    ran(folder, "npm", ["install", "--no-audit", "--no-fund", "--prefer-offline"]);
    expect(ran(folder, "npm", ["test", "--silent"])).toContain("# pass 1\n");
    expect(ran(folder, "npm", ["start", "--silent"])).toMatch(/^Wim: .+\nEda: .+\nfinished after 2 rounds, answered by a script\n$/);
    expect(readFileSync(join(folder, "node_modules/troupe/package.json"), "utf8")).toContain(`"version": "${manifest.version}"`);
  });

  it("depends on a range where npm installed the package from a registry", () => {
    const cwd = user();
    const path = join(cwd, "node_modules/.package-lock.json");
    const lock = JSON.parse(readFileSync(path, "utf8")) as { readonly packages: Record<string, object> };
    const entry = { ...lock.packages["node_modules/troupe"], resolved: "https://registry.example/troupe/-/troupe-1.0.0.tgz" };
    writeFileSync(path, JSON.stringify({ ...lock, packages: { ...lock.packages, "node_modules/troupe": entry } }));
    mkdirSync(join(cwd, "writers"));
    ran(join(cwd, "writers"), "npx", ["--no-install", "troupe", "init"]);
    const project = JSON.parse(readFileSync(join(cwd, "writers/package.json"), "utf8")) as typeof manifest;
    expect(project.dependencies["troupe"]).toBe(`^${manifest.version}`);
  });
});
