import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { someOf } from "../long.ts";
import { installPackages } from "../../src/checks/install.ts";
import { chooseSandbox } from "../../src/workspace/choose-sandbox.ts";
import { refusedSandbox } from "../../src/workspace/sandbox.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { projectOf } from "./page-project.ts";

const sandboxes = [await chooseSandbox("none"), await chooseSandbox("auto")].filter(({ kind }) => kind !== "refused");
const [plain = refusedSandbox("there is none", "")] = sandboxes;

/** A project that needs a package, which lies in it as an archive: no network is needed. */
function projectWithPackage(dependency = "file:vendor/tool.tgz"): string {
  const root = projectOf({ "package.json": JSON.stringify({ name: "project", dependencies: { tool: dependency } }), "index.js": "1" });
  const folder = join(scratchFolder(), "package");
  mkdirSync(folder);
  mkdirSync(join(root, "vendor"));
  const scripts = { postinstall: "echo ran > /tmp/ran; echo ran > ran" };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "tool", version: "1.0.0", bin: "cli.js", scripts }));
  writeFileSync(join(folder, "cli.js"), "#!/usr/bin/env node\nconsole.log('the tool runs');\n", { mode: 0o755 });
  execFileSync("tar", ["-czf", join(root, "vendor", "tool.tgz"), "-C", join(folder, ".."), "package"]);
  return root;
}

describe.each(someOf(sandboxes, 1))("installPackages with sandbox $kind", { tags: "company" }, (sandbox) => {
  it("puts the packages into the project, runs none of their scripts, and changes nothing else", async () => {
    const root = projectWithPackage();
    mkdirSync(join(root, "node_modules", "old"), { recursive: true });
    expect(await installPackages({ root, sandbox, stack: "node" })).toEqual({ kind: "installed", folder: "node_modules" });
    expect(readdirSync(root).sort()).toEqual(["index.js", "node_modules", "package.json", "vendor"]);
    expect(existsSync(join(root, "node_modules", "tool", "ran"))).toBe(false);
    const ran = await sandbox.run({ root, command: ["node", "node_modules/.bin/tool"] });
    expect(ran).toMatchObject({ kind: "exited", code: 0, stdout: "the tool runs\n" });
  });

  it("leaves the project as it is where a package is not there", async () => {
    const root = projectWithPackage("file:vendor/nothing.tgz");
    mkdirSync(join(root, "node_modules"));
    writeFileSync(join(root, "node_modules", "mine.js"), "mine");
    const report = await installPackages({ root, sandbox, stack: "node" });
    expect(report).toMatchObject({ kind: "failed", reason: expect.stringContaining("nothing.tgz") });
    expect(readFileSync(join(root, "node_modules", "mine.js"), "utf8")).toBe("mine");
    expect(readdirSync(root).sort()).toEqual(["index.js", "node_modules", "package.json", "vendor"]);
  });
});

describe("installPackages", () => {
  it.each([
    [{}, "node"],
    [{ "package.json": '{"name":"x","dependencies":{}}' }, "node"],
    [{ "package.json": "broken" }, "page"],
    [{ "requirements.txt": "# nothing yet\n\n" }, "python"],
  ] as const)("has nothing to do for %j", async (files, stack) => {
    const sandbox = refusedSandbox("nothing may run", "");
    expect(await installPackages({ root: projectOf({ ...files, "readme.md": "" }), sandbox, stack })).toEqual({ kind: "nothing" });
  });

  it("says why it did not run, and ends when the signal aborts", async () => {
    const root = projectWithPackage();
    const sandbox = refusedSandbox("it is closed", "Open it.");
    expect(await installPackages({ root, sandbox, stack: "node" })).toEqual({ kind: "not run", reason: "it is closed. Open it." });
    const aborted = installPackages({ root, sandbox: plain, stack: "node", signal: AbortSignal.abort() });
    await expect(aborted).rejects.toMatchObject({ name: "AbortedError" });
  });
});
