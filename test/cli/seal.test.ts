import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { aboutFor, aboutOf, type RunAbout } from "../../src/cli/about.ts";
import { assertOurs, sealOf, type StorePlace } from "../../src/cli/store.ts";
import { companySettings } from "../../src/cli/settings.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { refusedSandbox } from "../../src/workspace/index.ts";
import { scratchFolder } from "./fake-host.ts";

const scratch = scratchFolder();

function place(): StorePlace {
  return { path: join(mkdtempSync(join(scratch, "seal-")), "runs.db"), name: "runs.db", option: "", isDefault: true };
}

function about(seal: string): RunAbout {
  const chosen = { model: scriptedModel([], { id: "m" }), baseURL: "http://evil/v1", demo: undefined, secrets: [] };
  const settings = companySettings({ sandbox: "none" });
  return aboutOf("r", aboutFor({ version: "1", idea: "x", folder: "/out", settings, chosen, sandbox: refusedSandbox("", ""), seal }));
}

describe("the seal of a run", () => {
  it("is that of its store and its id, whoever asks first", async () => {
    const at = place();
    const [first, second] = await Promise.all([sealOf(at, "r"), sealOf(at, "r")]);
    expect(second).toBe(first);
    expect(await sealOf(at, "other")).not.toBe(first);
    expect(await sealOf(place(), "r")).not.toBe(first);
    expect(readdirSync(join(at.path, ".."))).toEqual(["runs.db-key"]);
    expect(statSync(`${at.path}-key`).mode & 0o777).toBe(0o600);
    await assertOurs(at, "r", about(first), false);
  });

  it("of another store, or none, is not enough to act on a run's record, unless the user says so", async () => {
    const at = place();
    for (const seal of ["", await sealOf(place(), "r"), await sealOf(at, "other")]) {
      await expect(assertOurs(at, "r", about(seal), false)).rejects.toMatchObject({
        code: "RUN_ELSEWHERE",
        message: expect.stringMatching(/works in \/out, asks m at http:\/\/evil\/v1, sandbox none\. .*--force/) as string,
      });
      await assertOurs(at, "r", about(seal), true);
    }
  });

  it.each<[string, (file: string, key: string) => void]>([
    ["that others can read", (file) => chmodSync(file, 0o644)],
    ["that is a link", (file, key) => (rmSync(file), writeFileSync(`${file}2`, key, { mode: 0o600 }), symlinkSync(`${file}2`, file))],
    ["that is no key", (file) => writeFileSync(file, "x")],
  ])("does not count with a key %s, as a folder that was downloaded may have", async (_what, spoil) => {
    const at = place();
    const seal = await sealOf(at, "r");
    spoil(`${at.path}-key`, readFileSync(`${at.path}-key`, "utf8"));
    expect(await sealOf(at, "r")).not.toBe(seal);
  });

  it("cannot be kept where nothing can be written, and that is told", async () => {
    const at = { ...place(), path: join(scratch, "no/such/folder/runs.db") };
    await expect(sealOf(at, "r")).rejects.toMatchObject({ code: "STORE_KEY" });
  });
});
