import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { aboutFor, aboutOf, type RunAbout } from "../../src/cli/about.ts";
import type { ExitCode } from "../../src/cli/errors.ts";
import { inSession } from "../../src/cli/session.ts";
import { companySettings } from "../../src/cli/settings.ts";
import { assertOurs, sealOf, storePlace, type StorePlace, withRuns, withStore } from "../../src/cli/store.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { refusedSandbox } from "../../src/workspace/index.ts";
import { titled } from "../titled.ts";
import { fakeHost, scratchFolder } from "./fake-host.ts";

const scratch = scratchFolder();
const fresh = (): string => mkdtempSync(join(scratch, "store-"));

describe("where runs are kept", () => {
  const host = (env = {}): Parameters<typeof storePlace>[1] => ({ cwd: "/home/me", env });

  it.each(
    titled([
      [{}, {}, { path: "/home/me/.troupe/runs.db", name: ".troupe/runs.db", option: "", isDefault: true }],
      [{ store: "x.db" }, {}, { path: "/home/me/x.db", name: "x.db", option: " --store x.db", isDefault: false }],
      [
        { store: "/tmp/my runs.db" },
        {},
        { path: "/tmp/my runs.db", name: "/tmp/my runs.db", option: " --store '/tmp/my runs.db'", isDefault: false },
      ],
      [{}, { TROUPE_STORE: "y.db" }, { path: "/home/me/y.db", name: "y.db", option: "", isDefault: false }],
      [{ store: "x.db" }, { TROUPE_STORE: "y.db" }, { path: "/home/me/x.db", name: "x.db", option: " --store x.db", isDefault: false }],
      [{}, { TROUPE_STORE: " " }, { path: "/home/me/.troupe/runs.db", name: ".troupe/runs.db", option: "", isDefault: true }],
    ]),
  )("with %s", (_case, flags, env, place) => {
    expect(storePlace(flags, host(env))).toEqual(place);
  });

  it.each(["", " ", "a\0b"])("is not %j", (store) => {
    expect(() => storePlace({ store }, host())).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }) as Error);
  });
});

describe("the store", () => {
  it("is made for its owner alone, and git leaves it out", async () => {
    const cwd = fresh();
    const code = await inSession(fakeHost({ cwd }), {}, (session) =>
      withStore(session, {}, async ({ journal, ready }) => {
        await ready();
        return (await journal.runs()).length === 0 ? 0 : 1;
      }),
    );
    expect(code).toBe(0);
    const mode = (path: string): number => statSync(join(cwd, path)).mode & 0o777;
    expect([mode(".troupe"), mode(".troupe/runs.db"), mode(".troupe/.gitignore")]).toEqual([0o700, 0o600, 0o600]);
    expect(readFileSync(join(cwd, ".troupe/.gitignore"), "utf8")).toBe("*\n");
  });

  it("keeps the user's own list of what git leaves out, and puts none beside a file that was named", async () => {
    const cwd = fresh();
    mkdirSync(join(cwd, ".troupe"));
    writeFileSync(join(cwd, ".troupe/.gitignore"), "mine\n");
    const open = (flags: { store?: string }): Promise<number> =>
      inSession(fakeHost({ cwd }), flags, (session) =>
        withStore<ExitCode>(session, flags, async ({ ready }) => {
          await ready();
          return 0;
        }),
      );
    expect([await open({}), await open({ store: "runs/x.db" })]).toEqual([0, 0]);
    expect(readFileSync(join(cwd, ".troupe/.gitignore"), "utf8")).toBe("mine\n");
    expect(readdirSync(join(cwd, "runs"))).not.toContain(".gitignore");
  });

  it("is not made before the work is ready for it", async () => {
    const host = fakeHost({ cwd: fresh() });
    expect(await inSession(host, {}, (session) => withStore(session, {}, () => Promise.resolve(0 as const)))).toBe(0);
    expect(readdirSync(host.cwd)).toEqual([]);
  });

  it("is not made by who only wants to read it", async () => {
    const host = fakeHost({ cwd: fresh() });
    expect(await inSession(host, {}, (session) => withRuns(session, {}, () => Promise.resolve(0 as const)))).toBe(2);
    expect(host.stderr.text).toContain("STORE_MISSING");
    expect(existsSync(join(host.cwd, ".troupe"))).toBe(false);
  });
});

function newPlace(): StorePlace {
  return { path: join(mkdtempSync(join(scratch, "seal-")), "runs.db"), name: "runs.db", option: "", isDefault: true };
}

function about(seal: string): RunAbout {
  const model = scriptedModel([], { id: "m" });
  const chosen = { model, baseURL: "http://evil/v1", demo: undefined, secrets: [], modelOf: () => model };
  const settings = companySettings({ sandbox: "none" });
  return aboutOf("r", aboutFor({ version: "1", idea: "x", folder: "/out", settings, chosen, sandbox: refusedSandbox("", ""), seal }));
}

describe("the seal of a run", () => {
  it("is that of its store and its id, whoever asks first", async () => {
    const at = newPlace();
    const [first, second] = await Promise.all([sealOf(at, "r"), sealOf(at, "r")]);
    expect(second).toBe(first);
    expect(await sealOf(at, "other")).not.toBe(first);
    expect(await sealOf(newPlace(), "r")).not.toBe(first);
    expect(readdirSync(join(at.path, ".."))).toEqual(["runs.db-key"]);
    expect(statSync(`${at.path}-key`).mode & 0o777).toBe(0o600);
    await assertOurs(at, "r", about(first), false);
  });

  it("of another store, or none, is not enough to act on a run's record, unless the user says so", async () => {
    const at = newPlace();
    for (const seal of ["", await sealOf(newPlace(), "r"), await sealOf(at, "other")]) {
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
    const at = newPlace();
    const seal = await sealOf(at, "r");
    spoil(`${at.path}-key`, readFileSync(`${at.path}-key`, "utf8"));
    expect(await sealOf(at, "r")).not.toBe(seal);
  });
});
