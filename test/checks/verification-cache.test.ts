import { chmodSync, mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Verification } from "../../src/checks/verification.ts";
import { type CachedRequest, VerificationCache } from "../../src/checks/verification-cache.ts";
import type { VerifyRequest } from "../../src/checks/verify.ts";
import { criterionOf, projectOf, sandbox } from "./project.ts";

const criteria = [criterionOf("A1", [{ run: ["node", "a.mjs"], stdout: { equals: "1" } }])];
const files = { "a.mjs": "console.log(1);", "src/b.mjs": "export const b = 1;", "run.sh": "echo" };
const green: Verification = { verdicts: [], suites: [], faults: [] };

/** A cache over a verifier that answers with what it is told, and what it was asked. */
function cacheOf(answer: (request: VerifyRequest) => Verification = () => green): { cache: VerificationCache; asked: VerifyRequest[] } {
  const asked: VerifyRequest[] = [];
  const cache = new VerificationCache(sandbox, (request) => {
    asked.push(request);
    return Promise.resolve(answer(request));
  });
  return { cache, asked };
}

const requestFor = (root: string): CachedRequest => ({ root, criteria, depth: "quick", stack: "node", planned: ["a.mjs"] });

describe("VerificationCache", () => {
  it("VerificationCache.C1 takes a green verification again for equal bytes and an equal request, in another folder too", async () => {
    const { cache, asked } = cacheOf();
    const first = await cache.verify(requestFor(projectOf(files)));
    expect(await cache.verify(requestFor(projectOf(files)))).toBe(first);
    expect(await cache.verify({ ...requestFor(projectOf(files)), criteria: structuredClone(criteria) })).toBe(first);
    expect(asked).toHaveLength(1);
  });

  it.each<[string, (root: string) => void]>([
    ["one byte", (root) => writeFileSync(join(root, "src/b.mjs"), "export const b = 2;")],
    ["a new file", (root) => writeFileSync(join(root, "c.txt"), "")],
    ["a hidden file", (root) => writeFileSync(join(root, ".env"), "")],
    ["a name", (root) => renameSync(join(root, "src/b.mjs"), join(root, "src/c.mjs"))],
    ["a missing file", (root) => rmSync(join(root, "run.sh"))],
    ["the right to execute", (root) => chmodSync(join(root, "run.sh"), 0o755)],
    ["an empty folder", (root) => mkdirSync(join(root, "data"))],
  ])("VerificationCache.C1 runs again after a change of %s", async (_what, change) => {
    const { cache, asked } = cacheOf();
    const root = projectOf(files);
    await cache.verify(requestFor(root));
    change(root);
    await cache.verify(requestFor(root));
    expect(asked).toHaveLength(2);
  });

  it.each<[string, Partial<CachedRequest>]>([
    ["depth", { depth: "criteria" }],
    ["criteria", { criteria: [] }],
    ["a rule of a check", { criteria: [criterionOf("A1", [{ run: ["node", "a.mjs"], stdout: { equals: "2" } }])] }],
    ["stack", { stack: "page" }],
    ["planned files", { planned: [] }],
    ["time limit", { timeout: 1_000 }],
  ])("VerificationCache.C1 runs again for another request: %s", async (_what, other) => {
    const { cache, asked } = cacheOf();
    const root = projectOf(files);
    await cache.verify(requestFor(root));
    await cache.verify({ ...requestFor(root), ...other });
    expect(asked).toHaveLength(2);
  });

  const verdict = { id: "A1", priority: "P1", by: "nothing", evidence: "" } as const;
  const counts = { language: "python", total: 0, passed: 0, failed: 0, skipped: 0, files: [], failures: [] } as const;
  it.each<[string, Verification]>([
    ["a failed criterion", { ...green, verdicts: [{ ...verdict, outcome: "failed" }] }],
    ["a fault", { ...green, faults: [{ kind: "page", message: "" }] }],
    ["a criterion that was not checked", { ...green, verdicts: [{ ...verdict, outcome: "not checked" }] }],
    ["tests that did not run", { ...green, suites: [{ ...counts, kind: "not run" }] }],
    ["no sandbox", { ...green, notChecked: "there is none" }],
  ])("VerificationCache.C2 runs again after %s", async (_what, found) => {
    const { cache, asked } = cacheOf(() => found);
    const root = projectOf(files);
    await cache.verify(requestFor(root));
    await cache.verify(requestFor(root));
    expect(asked).toHaveLength(2);
  });

  it("VerificationCache.C3 keeps nothing of a project that changed while it ran", async () => {
    const root = projectOf(files);
    const { cache, asked } = cacheOf(() => {
      writeFileSync(join(root, "a.mjs"), asked.length === 1 ? "console.log(2);" : "console.log(1);");
      return green;
    });
    await cache.verify(requestFor(root));
    writeFileSync(join(root, "a.mjs"), files["a.mjs"]);
    await cache.verify(requestFor(root));
    expect(asked).toHaveLength(2);
  });

  it("VerificationCache.C4 keeps the 20 newest results", async () => {
    const { cache, asked } = cacheOf();
    const root = projectOf(files);
    const run = (timeout: number): Promise<Verification> => cache.verify({ ...requestFor(root), timeout });
    for (let timeout = 1; timeout <= 21; timeout += 1) await run(timeout);
    for (let timeout = 2; timeout <= 21; timeout += 1) await run(timeout);
    expect(asked).toHaveLength(21);
    await run(1);
    expect(asked).toHaveLength(22);
  });

  it("VerificationCache.C4 runs a project of more than 64 MiB each time", async () => {
    const { cache, asked } = cacheOf();
    const root = projectOf({ ...files, "large.bin": "" });
    truncateSync(join(root, "large.bin"), 64 * 1024 * 1024);
    await cache.verify(requestFor(root));
    await cache.verify(requestFor(root));
    expect(asked).toHaveLength(2);
  });
});
