import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkStore } from "../../src/cli/commands/doctor.ts";
import { fakeHost } from "./fake-host.ts";
import { command, freshFolder } from "./kept-run.ts";

describe("the doctor's look at the store", () => {
  it("says that it comes with the first run, and makes none", async () => {
    const cwd = freshFolder();
    expect(await checkStore(fakeHost({ cwd }), {})).toEqual({
      name: "store",
      state: "ok",
      text: ".troupe/runs.db: not there yet, made with the first run",
    });
    expect(await checkStore(fakeHost({ cwd, env: { TROUPE_STORE: "deep/down/x.db" } }), {})).toMatchObject({ state: "ok" });
    expect(readdirSync(cwd)).toEqual([]);
  });

  it("says what it holds, and what nobody can see", async () => {
    const cwd = freshFolder();
    expect((await command(cwd, ["demo", "todo", "--rounds", "1", "--quiet", "--store", "x.db"])).code).toBe(4);
    const { state, text } = await checkStore(fakeHost({ cwd }), { store: "x.db" });
    expect({ state, text }).toEqual({
      state: "ok",
      text: expect.stringMatching(
        /^x\.db: version \d+, 1 run, \d+ kB, can be written; whether last commits were lost cannot be told$/,
      ) as string,
    });
  });

  it("fails where runs cannot be kept, and says what to do", async () => {
    const cwd = freshFolder();
    writeFileSync(join(cwd, "file"), "");
    mkdirSync(join(cwd, "folder"));
    for (const store of ["file/below.db", "folder"]) {
      expect(await checkStore(fakeHost({ cwd }), { store })).toMatchObject({
        name: "store",
        state: "fail",
        hint: expect.stringContaining("--store") as string,
      });
    }
  });
});
