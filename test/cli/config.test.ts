import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { configured, withEnvironment } from "../../src/cli/config.ts";
import type { Variables } from "../../src/cli/host.ts";
import { runSettings } from "../../src/cli/settings.ts";
import { storePlace } from "../../src/cli/store.ts";
import { defined } from "../../src/kernel/value-kind.ts";
import { usd } from "../../src/model/money.ts";
import { openaiStub } from "../../src/testing/index.ts";
import { fakeHost } from "./fake-host.ts";
import { command, expectEnd, expectRefusal, freshFolder, placed } from "./kept-run.ts";

/** The settings of a folder and a home with these config files. */
async function settingsOf({ project, user }: { readonly project?: string; readonly user?: string }, env: Variables = {}, flags = {}) {
  const place = placed(defined({ "troupe.config.yaml": project, "~/config.yaml": user }));
  const host = fakeHost({ ...place, env: { ...place.env, ...env } });
  const { env: set, from, folder } = await configured(host);
  return runSettings(flags, withEnvironment(host, set).env, { from, folders: folder === undefined ? [] : [folder] });
}

describe("config files", () => {
  it("are below options and variables", async () => {
    const user = "budget: 1\nrounds: 7\nmodel: of-user\nbaseUrl: http://127.0.0.1:1/v1";
    expect(await settingsOf({ user })).toMatchObject({
      budget: 1_000_000,
      isBudgetExplicit: true,
      rounds: 7,
      model: { model: { id: "of-user", baseURL: "http://127.0.0.1:1/v1" } },
    });
    const env = { TROUPE_BUDGET: "3", TROUPE_MODEL: "of-env", OPENAI_BASE_URL: "http://127.0.0.1:2/v1" };
    expect(await settingsOf({ user }, env)).toMatchObject({
      budget: 3_000_000,
      model: { model: { id: "of-env", baseURL: "http://127.0.0.1:2/v1" } },
    });
    expect(await settingsOf({ user }, env, { budget: usd(4), model: "asked" })).toMatchObject({
      budget: 4_000_000,
      model: { model: { id: "asked" } },
    });
    expect(await settingsOf({ user }, { TROUPE_BUDGET: " " })).toMatchObject({ budget: 1_000_000 });
    expect(await settingsOf({})).toMatchObject({ budget: 3_000_000, isBudgetExplicit: false, rounds: 150 });
  });

  it("set prices and time limits by model, and models by role", async () => {
    const user = `model: qwen3
baseUrl: http://127.0.0.1:1/v1
models:
  qwen3: { price: { input: 0, output: 0.5, cachedInput: 0 }, firstByte: 10m, silence: 90, call: none }
  other: { firstByte: 1s }
roles: { Alex: other }
silence: 30`;
    expect(await settingsOf({ user })).toMatchObject({
      models: { Alex: "other" },
      model: {
        model: {
          price: { input: 0, output: 0.5, cachedInput: 0 },
          timeouts: { firstByte: 600_000, silence: 30_000, call: 0 },
          others: { other: { firstByte: "1s" } },
        },
      },
    });
  });

  it("name the variable of the key, and never hold one", async () => {
    const user = "baseUrl: http://127.0.0.1:1/v1\napiKey: { env: MY_KEY }";
    const keys = { MY_KEY: "mine-0123456789", OPENAI_API_KEY: "sk-of-openai-0123456789" };
    expect(await settingsOf({ user }, keys)).toMatchObject({ model: { model: { apiKey: "mine-0123456789", keyFrom: "MY_KEY" } } });
    await expect(settingsOf({ user: "apiKey: sk-0123456789" })).rejects.toThrow(/config\.yaml:1:9: Expected apiKey to be a mapping/);
  });

  it.each<[string, string, RegExp]>([
    ["sends keys elsewhere", "baseUrl: http://evil.example/v1", /only known members.*"baseUrl"/],
    ["chooses a key", "apiKey: { env: AWS_SECRET }", /only known members.*"apiKey"/],
    ["lifts the sandbox", "sandbox: none", /sandbox to be one of auto, bubblewrap/],
    ["keeps runs elsewhere", "store: ../../runs.db", /store to be a file below this folder/],
    ["keeps runs at a path", "store: /tmp/runs.db", /store to be a file below this folder/],
  ])("of a folder never decides what a stranger's folder must not: %s", async (_what, project, expected) => {
    await expect(settingsOf({ project })).rejects.toThrow(expected);
  });

  it("are refused with the place of a fault", async () => {
    await expect(settingsOf({ user: "budget: 1\nbugdet: 2" })).rejects.toThrow(
      /config\.yaml:2:1: Expected only known members of the whole, got "bugdet"\. Did you mean budget\?/,
    );
    await expect(settingsOf({ user: "models: { a: { price: { input: -1, output: 1 } } }" })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
    });
    await expect(settingsOf({ user: "a: &a [*a]" })).rejects.toThrow(/Expected no alias/);
    await expect(settingsOf({ user: "x".repeat(100_000) })).rejects.toMatchObject({ code: "FILE_UNREADABLE" });
    expect(await settingsOf({ user: "# nothing\n" }).catch((error: unknown) => error)).not.toBeInstanceOf(Error);
  });

  it("name the store of runs, which a folder keeps below itself", async () => {
    const host = fakeHost(placed({ "troupe.config.yaml": "store: kept/runs.db" }));
    const { env } = await configured(host);
    expect(storePlace({}, { cwd: host.cwd, env }).name).toBe("kept/runs.db");
  });

  it("hold for a new run, and not for the bounds of one that goes on", async () => {
    await using stub = await openaiStub({ handler: () => ({ text: "hello" }) });
    const { cwd, env } = placed({
      "troupe.config.yaml": "rounds: 5",
      "~/config.yaml": `baseUrl: ${stub.url}\nmodel: stub-1\nmodels: { stub-1: { price: { input: 0, output: 0 } } }`,
      "company.yaml": "roles: [{ name: A, actions: [{ name: X }] }]",
    });
    await expectEnd(cwd, ["run", "--crew", "company.yaml", "greet"], 0, /Rounds +1 of 5/, { env });
    const doctor = await command(cwd, ["doctor"], { env: { ...env, TROUPE_BUDGET: "1" } });
    expect(doctor.stdout.replaceAll(/\s+/g, " ")).toMatch(
      /budget from TROUPE_BUDGET, rounds from \S+troupe\.config\.yaml, model from \S+config\.yaml, baseUrl from \S+config\.yaml.*; the rest are defaults/,
    );
  });
});

describe("--init-config", () => {
  it("writes a file of comments that is valid, and never writes over one", async () => {
    const { cwd, env, home } = placed();
    const own = join(home, ".config/troupe/config.yaml");
    await expectEnd(cwd, ["--init-config"], 0, /^Written: .*config\.yaml/, { env });
    const text = readFileSync(own, "utf8");
    const uncommented = text.replaceAll(/^# (?=[a-z]+:|  )/gm, "");
    writeFileSync(own, uncommented);
    expect(runSettings({}, (await configured(fakeHost({ cwd, env }))).env)).toMatchObject({ rounds: 150, models: { Alex: "gpt-5" } });
    await expectRefusal(cwd, ["--init-config"], /is there\. It stays as it is/, { env });
    expect(readFileSync(own, "utf8")).toBe(uncommented);
  });

  it("goes to the folder where there is no home", async () => {
    const cwd = freshFolder();
    expect((await command(cwd, ["--init-config"])).code).toBe(0);
    expect(existsSync(join(cwd, "troupe.config.yaml"))).toBe(true);
  });
});
