import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { scratchFolder } from "../cli/fake-host.ts";
import { figure, positionsOf } from "../long.ts";

/*
 * SIGKILL while a run and what its roles remember are written to two files: after an append to the journal, before and after one to the
 * store. `npm test` tries a few points, and `npm run long -- kill` all of them.
 */

const CHILD = fileURLToPath(new URL("memory-child.mjs", import.meta.url));
const scratch = scratchFolder();
let kills = 0;

type Death = { readonly append: number } | { readonly add: number; readonly isAfter: boolean };

interface Told {
  readonly status: string;
  readonly error?: string;
  readonly stored: Readonly<Record<string, readonly string[]>>;
  readonly canonical: string;
}

afterAll(() => {
  figure(`killed ${kills} processes at work on runs that remember`);
});

function life(task: object): Promise<{ readonly signal: string | null; readonly told: string; readonly trouble: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, JSON.stringify(task)], { stdio: ["ignore", "pipe", "pipe"] });
    const out = { told: "", trouble: "" };
    child.stdout.on("data", (data: Buffer) => (out.told += data.toString()));
    child.stderr.on("data", (data: Buffer) => (out.trouble += data.toString()));
    child.on("error", reject);
    child.on("close", (_code, signal) => resolve({ ...out, signal }));
  });
}

/** Lets processes live one run one after the other, each with its death, and a last one that lives. */
async function survive(deaths: readonly Death[]): Promise<{ readonly told: Told; readonly killed: number }> {
  const folder = mkdtempSync(join(scratch, "memory-"));
  const files = { journal: join(folder, "runs.db"), store: join(folder, "memory.db") };
  let killed = 0;
  for (const killAt of deaths) if ((await life({ ...files, killAt })).signal === "SIGKILL") killed += 1;
  const last = await life(files);
  if (last.told === "") throw new Error(`the last process told nothing: ${last.trouble}`);
  kills += killed;
  return { told: JSON.parse(last.told) as Told, killed };
}

function places(): readonly Death[] {
  const appends = positionsOf(60, [4]).map((append) => ({ append }));
  const after = positionsOf(8, []).map((add) => ({ add, isAfter: true }));
  const before = positionsOf(8, []).map((add) => ({ add, isAfter: false }));
  return [...appends, ...after, ...before];
}

describe("a run that remembers and is killed", () => {
  let unkilled: ReturnType<typeof survive> | undefined;
  const alive = (): ReturnType<typeof survive> => (unkilled ??= survive([]));

  test(
    "remembers the same: every message once, none lost, none doubled, and every recall as it was",
    { tags: ["kill", "long"], timeout: 600_000 },
    async () => {
      const { told: whole } = await alive();
      expect([whole.status, whole.stored["Ann"]?.length, whole.stored["Bob"]?.length]).toEqual(["rounds", 8, 8]);
      expect(whole.canonical).toContain('"kind":"memory"');
      let killed = 0;
      const deaths = places();
      for (const death of deaths) {
        const survived = await survive([death]);
        killed += survived.killed;
        expect(survived.told, JSON.stringify(death)).toEqual(whole);
      }
      expect(killed).toBeGreaterThanOrEqual(Math.min(deaths.length, 3));
    },
  );

  test("again and again comes to the same end", { tags: ["kill", "long"], timeout: 600_000 }, async () => {
    const { told: whole } = await alive();
    const { told, killed } = await survive([{ add: 1, isAfter: false }, { append: 6 }, { add: 2, isAfter: true }]);
    expect(told).toEqual(whole);
    expect(killed).toBe(3);
  });
});
