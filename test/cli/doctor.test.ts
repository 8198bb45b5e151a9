import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ownProcess } from "../../src/adapters/process-identity.ts";
import {
  type Check,
  checkGit,
  checkLeftovers,
  checkModel,
  checkPages,
  checkSandbox,
  checkStore,
  exitCodeOfChecks,
  pingModel,
} from "../../src/cli/commands/doctor.ts";
import { modelChoice } from "../../src/cli/model-settings.ts";
import type { Flags } from "../../src/cli/options.ts";
import { openaiStub, type StubReply } from "../../src/testing/index.ts";
import { temporaryName, temporaryPrefix } from "../../src/workspace/temporary-owner.ts";
import { fakeHost, scratchFolder } from "./fake-host.ts";
import { command, freshFolder } from "./kept-run.ts";

describe("checkLeftovers", () => {
  it("removes what killed runs left in the project and beside it, and tells of what it cannot judge", async () => {
    const place = scratchFolder();
    const out = join(place, "out");
    mkdirSync(out, { recursive: true });
    const before = { ...ownProcess(), boot: "00000000" };
    writeFileSync(join(out, temporaryName("app.js", before)), "half");
    writeFileSync(join(out, "app.js"), "whole");
    mkdirSync(join(place, `${temporaryPrefix(".troupe-doctor-", before)}aB3xyZ`));
    const host = fakeHost();
    const first = await checkLeftovers(host, out, join(place, "runs.db"));
    expect(first.text).toMatch(/^removed \d+ temporary files and folders of killed runs/);
    expect([readdirSync(place), readdirSync(out)]).toEqual([["out"], ["app.js"]]);
    writeFileSync(join(out, temporaryName("app.js", { ...ownProcess(), machine: "00000000" })), "half");
    const second = await checkLeftovers(host, out, join(place, "runs.db"));
    expect(second).toMatchObject({ name: "leftovers", state: "warn", text: expect.stringMatching(/left alone/), hint: expect.any(String) });
  });
});

describe("the machine's own checks", () => {
  it("look at git, the sandbox and the browser without failing: projects are written without them", async () => {
    for (const check of [await checkGit(), await checkSandbox(), await checkPages({ env: { CHROME_PATH: "/nowhere/chromium" } })]) {
      expect(["ok", "warn"]).toContain(check.state);
      expect(check.state === "ok" || check.hint !== undefined).toBe(true);
    }
  });
});

describe("checkModel", () => {
  function check(env: Record<string, string>, flags: Flags = {}): Check {
    return checkModel(fakeHost({ env }), flags);
  }

  it("says how to set one, and never shows a key", () => {
    expect(check({})).toMatchObject({ state: "warn", hint: expect.stringContaining("OPENAI_API_KEY") as string });
    const found = check({ OPENAI_API_KEY: "sk-hidden-hidden-hidden" });
    expect(found).toMatchObject({ state: "ok", text: expect.stringContaining("key from OPENAI_API_KEY") as string });
    expect(JSON.stringify(found)).not.toContain("hidden");
  });

  it("shows a base URL without what may be secret in it", () => {
    const found = check({ TROUPE_BASE_URL: "http://user:hidden@host:8080/v1?key=hidden" });
    expect(found.text).toContain("http://host:8080/v1");
    expect(JSON.stringify(found)).not.toContain("hidden");
  });

  it("warns where no budget can bind", () => {
    expect(check({ TROUPE_BASE_URL: "http://host/v1", TROUPE_MODEL: "my-own" })).toMatchObject({
      state: "warn",
      hint: expect.stringContaining("--price") as string,
    });
    expect(check({ TROUPE_BASE_URL: "http://host/v1", TROUPE_MODEL: "my-own" }, { price: { input: 0, output: 0 } })).toMatchObject({
      state: "ok",
    });
  });
});

describe("pingModel", () => {
  async function ping(reply: StubReply): Promise<Check & { readonly code?: string }> {
    await using stub = await openaiStub({ reply });
    const env = { TROUPE_BASE_URL: stub.url, OPENAI_API_KEY: "sk-hidden-hidden-hidden" };
    const choice = modelChoice({}, env);
    if (choice.kind === "none") throw new Error("expected a model");
    return await pingModel(fakeHost({ env }), choice.model, new AbortController().signal);
  }

  it.each<StubReply>(["ready", { fault: "empty" }, { fault: "length" }])("reaches a model that answers %j", async (reply) => {
    expect(await ping(reply)).toMatchObject({ state: "ok" });
  });

  it.each<[StubReply, string]>([
    [{ fault: "unauthorized" }, "MODEL_AUTH"],
    [{ fault: "not-found" }, "MODEL_NOT_FOUND"],
    [{ fault: "server-error" }, "MODEL_SERVER"],
  ])("tells what %j means, without the key", async (reply, code) => {
    const check = await ping(reply);
    expect(check).toMatchObject({ state: "fail", code });
    expect(JSON.stringify(check)).not.toContain("hidden");
  });

  it("is stopped by an interruption", async () => {
    await using stub = await openaiStub({ reply: { fault: "stall", after: 0 } });
    const choice = modelChoice({ baseUrl: stub.url }, {});
    if (choice.kind === "none") throw new Error("expected a model");
    const abort = new AbortController();
    const pinged = pingModel(fakeHost(), choice.model, abort.signal);
    abort.abort();
    await expect(pinged).rejects.toMatchObject({ code: "ABORTED" });
  });
});

it.each<[readonly Partial<Check>[], number]>([
  [[{ name: "git", state: "warn" }], 0],
  [[{ name: "ping", state: "fail" }], 7],
  [
    [
      { name: "node", state: "fail" },
      { name: "ping", state: "fail" },
    ],
    1,
  ],
])("exits for %j with %i", (checks, code) => {
  expect(exitCodeOfChecks(checks as readonly Check[])).toBe(code);
});

describe("the doctor's look at the store", () => {
  it("says what it holds, and what nobody can see", async () => {
    const cwd = freshFolder();
    expect((await command(cwd, ["demo", "todo", "--rounds", "1", "--quiet", "--store", "x.db"])).code).toBe(4);
    const { state, text } = await checkStore(fakeHost({ cwd }), { store: "x.db" });
    expect({ state, text }).toEqual({
      state: "ok",
      text: expect.stringMatching(
        /^x\.db: version \d+, 1 run, \d+ kB, can be written; whether last commits were lost is unknown$/,
      ) as string,
    });
  });
});
