// @module-tag company
import { truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkCommands } from "../../src/checks/commands.ts";
import { verifyProject } from "../../src/checks/verify.ts";
import { criterionOf, isolates, projectOf, sandbox } from "./project.ts";

const good = { run: ["node", "good.mjs"] as [string, ...string[]], stdout: { equals: "good" } };

describe.runIf(isolates)("a hostile program that a criterion runs", () => {
  it.each([
    [
      "forks without end",
      `import { spawn } from "node:child_process"; for (;;) { try { spawn(process.execPath, ["bad.mjs"], { stdio: "ignore", detached: true }).on("error", () => {}); } catch {} await null; }`,
    ],
    [
      "forks a shell",
      `import { spawn } from "node:child_process"; spawn("sh", ["-c", "f() { f | f & }; f; sleep 100"], { stdio: "ignore", detached: true }); setInterval(() => {}, 1000);`,
    ],
    ["takes all memory", `const all = []; for (;;) all.push(Buffer.alloc(5e7, 1));`],
    ["makes files without end", `import fs from "node:fs"; for (let n = 0; ; n += 1) fs.writeFileSync("f" + n, "");`],
    ["makes folders without end", `import fs from "node:fs"; for (;;) { fs.mkdirSync("d"); process.chdir("d"); }`],
    ["stops what runs it", `process.kill(process.ppid, "SIGSTOP"); setInterval(() => {}, 1000);`],
    [
      "prints through a child that outlives it",
      `import { spawn } from "node:child_process"; spawn("yes", [], { stdio: "inherit", detached: true }).unref(); process.exitCode = 1;`,
    ],
  ])("fails alone: it %s", async (_what, script) => {
    const root = projectOf({ "bad.mjs": script, "good.mjs": `console.log("good")` });
    const criteria = [criterionOf("A1", [good]), criterionOf("A2", [{ run: ["node", "bad.mjs"] }]), criterionOf("A3", [good])];
    const verdicts = await checkCommands({ root, sandbox, criteria, timeout: 10_000 });
    expect(verdicts.map(({ outcome }) => outcome)).toEqual(["proven", "failed", "proven"]);
  });
});

describe.runIf(isolates)("a hostile test", () => {
  it.each([
    ["hangs", `test("a", () => { for (;;); });`],
    [
      "forks",
      `import { spawn } from "node:child_process"; test("a", () => { for (;;) try { spawn("sleep", ["100"], { detached: true }).on("error", () => {}); } catch {} });`,
    ],
    [
      "fills the disk",
      `import fs from "node:fs"; test("a", () => { for (let n = 0; ; n += 1) fs.writeFileSync("f" + n, Buffer.alloc(5e7)); });`,
    ],
    ["prints a gigabyte", `test("a", () => { for (let n = 0; n < 1000; n += 1) console.log("x".repeat(1e6)); throw new Error("no"); });`],
  ])("does not keep a verification from its result: it %s", async (_what, script) => {
    const root = projectOf({ "a.test.mjs": `import { test } from "node:test";\n${script}`, "good.mjs": `console.log("good")` });
    const found = await verifyProject({ root, sandbox, criteria: [criterionOf("A1", [good])], depth: "whole", timeout: 16_000 });
    expect(found.verdicts).toMatchObject([{ outcome: "proven" }]);
    expect(["failed", "timeout"]).toContain(found.suites[0]?.kind);
  });
});

describe("a large project", () => {
  it("is verified, binaries included", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 15_000 }, (_, n) => [`data/${n % 100}/${n}.bin`, new Uint8Array([n % 256, 0, 255])]),
    );
    const root = projectOf({ ...many, "good.mjs": `console.log("good")`, "photo.js": new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0]) });
    const found = await verifyProject({ root, sandbox, criteria: [criterionOf("A1", [good]), criterionOf("A2", [good])], depth: "whole" });
    expect(found.verdicts.map(({ outcome }) => outcome)).toEqual(["proven", "proven"]);
    expect(found.faults).toMatchObject([{ kind: "syntax", file: "photo.js" }]);
  });

  it("is not checked, with the reason, when the sandbox takes no project of its size", async () => {
    const root = projectOf({ "good.mjs": "", "large.bin": "" });
    truncateSync(join(root, "large.bin"), 600 * 1024 ** 2);
    const found = await verifyProject({ root, sandbox, criteria: [criterionOf("A1", [good])], depth: "quick" });
    expect(found.verdicts).toMatchObject([{ outcome: "not checked", evidence: expect.stringContaining("large.bin") }]);
    expect(found.notChecked).toContain("large.bin");
  });
});
