import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ExitCode } from "../../src/cli/errors.ts";
import { inSession } from "../../src/cli/session.ts";
import { storePlace, withRuns, withStore } from "../../src/cli/store.ts";
import { fakeHost, scratchFolder } from "./fake-host.ts";

const scratch = scratchFolder();
const fresh = (): string => mkdtempSync(join(scratch, "store-"));

describe("where runs are kept", () => {
  const host = (env = {}): Parameters<typeof storePlace>[1] => ({ cwd: "/home/me", env });

  it.each([
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
  ])("with %j and %j is %j", (flags, env, place) => {
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
