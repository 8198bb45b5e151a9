import fc from "fast-check";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { configured } from "../../src/cli/config.ts";
import { type FolderSettings, lowestTimes } from "../../src/cli/model-settings.ts";
import { readFlags } from "../../src/cli/option-values.ts";
import { main } from "../../src/cli/program.ts";
import { runSettings } from "../../src/cli/settings.ts";
import { usd } from "../../src/index.ts";
import { DEFAULT_TIMEOUTS } from "../../src/model/timeouts.ts";
import { openaiStub, type OpenAIStub } from "../../src/testing/index.ts";
import { fakeHost } from "./fake-host.ts";
import { command, expectRefusal, freshFolder, placed, type Said, terminalHost } from "./kept-run.ts";

const CREW = "roles: [{ name: Ada, actions: [{ name: Say, prompt: '{{text}}' }] }]\n";
const DEAR = "models: { dear-1: { price: { input: 100, output: 400 } }, cheap-1: { price: { input: 0, output: 0 } } }";

const answering = (): Promise<OpenAIStub> => openaiStub({ handler: () => ({ text: "hello" }) });

type Place = ReturnType<typeof placed>;

function run(stub: OpenAIStub, { cwd, env }: Place, words: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Said> {
  return command(cwd, ["run", ...words, "greet us", "--base-url", stub.url], { env: { ...env, ...more } });
}

describe("bounds that a folder asks for", () => {
  const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });
  const amount = fc.integer({ min: 1, max: 200 });

  it("hold where they are lower than option, variable, own file and default, and nowhere else", () => {
    const user = fc.record({ option: maybe(amount), variable: maybe(amount) });
    const wish = fc.record({ budget: maybe(amount), rounds: maybe(amount) });
    fc.assert(
      fc.property(user, user, fc.array(wish, { maxLength: 2 }), (budget, rounds, wishes) => {
        const text = (value: number | undefined): string | undefined => (value === undefined ? undefined : String(value));
        const flags = readFlags({ budget: text(budget.option), rounds: text(rounds.option) });
        const env = { TROUPE_BUDGET: text(budget.variable), TROUPE_ROUNDS: text(rounds.variable) };
        const folders = wishes.map((one): FolderSettings => ({
          file: "f",
          rounds: one.rounds,
          budget: one.budget === undefined ? undefined : usd(one.budget),
        }));
        const settings = runSettings(flags, env, { folders, from: new Map() });
        const least = (name: "budget" | "rounds", own: number): number => Math.min(own, ...wishes.map((one) => one[name] ?? Infinity));
        expect(settings.budget).toBe(usd(least("budget", budget.option ?? budget.variable ?? 3)));
        expect(settings.rounds).toBe(least("rounds", rounds.option ?? rounds.variable ?? 150));
      }),
    );
  });

  it("are time limits too, of all models or of one, where 0 and none are the longest", () => {
    const ms = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 10_000_000 }));
    const wish = fc.record({ all: maybe(ms), one: maybe(ms) });
    fc.assert(
      fc.property(maybe(ms), fc.array(wish, { maxLength: 2 }), (own, wishes) => {
        const seconds = (value: number | undefined): string | undefined => (value === undefined ? undefined : `${value / 1_000}`);
        const folders = wishes.map(({ all, one }) => ({
          file: "f",
          times: { call: seconds(all), firstByte: undefined, silence: undefined },
          models: { m: { call: seconds(one) }, other: { call: 1 } },
        }));
        const length = (value: number | undefined): number => (value === 0 ? Infinity : (value ?? Infinity));
        const users = own === undefined ? DEFAULT_TIMEOUTS.call : length(own);
        const least = Math.min(users, ...wishes.flatMap(({ all, one }) => [length(all), length(one)]));
        const held = lowestTimes(own === undefined ? {} : { call: own }, "m", folders).call;
        expect(held === undefined ? DEFAULT_TIMEOUTS.call : length(held)).toBe(least);
      }),
    );
  });
});

describe("prices that a folder asks for", () => {
  it.each(["{ price: { input: 0, output: 0 } }", "{ price: { input: 900, output: 900 } }"])("are refused by name: %s", async (entry) => {
    await using stub = await answering();
    const place = placed({ "troupe.config.yaml": `models: { dear-1: ${entry} }`, "company.yaml": CREW, "~/config.yaml": DEAR });
    const { code, stderr } = await run(stub, place, ["--crew", "company.yaml", "--model", "dear-1", "--budget", "0.05"]);
    expect([code, stderr, stub.requests.length]).toEqual([2, expect.stringMatching(/models\.dear-1\.price.*CONFIG_INVALID/s), 0]);
  });
});

describe("models that a folder asks for", () => {
  const dear: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ["model of its config file", { "troupe.config.yaml": "model: dear-2", "company.yaml": CREW }],
    ["roles of its config file", { "troupe.config.yaml": "roles: { Ada: dear-2 }", "company.yaml": CREW }],
    ["model of a crew", { "company.yaml": `model: dear-2\n${CREW}` }],
    ["models of a crew", { "company.yaml": `models: { Ada: dear-2 }\n${CREW}` }],
    ["model of a role", { "company.yaml": CREW.replace("name: Ada", "name: Ada, model: dear-2") }],
  ];

  it.each(dear)("are refused where nobody can be asked: %s", async (_what, files) => {
    await using stub = await answering();
    const { code, stderr } = await run(stub, placed(files), ["--crew", "company.yaml", "--allow-unpriced"]);
    expect([code, stderr, stub.requests.length]).toEqual([2, expect.stringMatching(/the model dear-2.*FOLDER_ASKS/s), 0]);
  });

  it.each(dear)("are taken where the user named them: %s", async (_what, files) => {
    await using stub = await answering();
    const words = ["--crew", "company.yaml", "--allow-unpriced"];
    const own = await run(stub, placed({ ...files, "~/config.yaml": "models: { dear-2: {} }" }), words);
    const variable = await run(stub, placed(files), words, { TROUPE_MODELS: '{"dear-2":{}}' });
    expect([own.code, variable.code, stub.requests.map(({ model }) => model)]).toEqual([0, 0, ["dear-2", "dear-2"]]);
  });

  it.each(dear)("are asked for at a terminal: %s", async (_what, files) => {
    await using stub = await answering();
    const { cwd, env } = placed(files);
    const asked = async (answer: string): Promise<{ readonly code: number; readonly text: string }> => {
      const host = terminalHost({ cwd, env: { ...env, PATH: process.env["PATH"] ?? "" } });
      const words = ["run", "--crew", "company.yaml", "greet us", "--base-url", stub.url, "--allow-unpriced", "--yes"];
      host.answers(answer);
      return { code: await main(host, words), text: host.stderr.text };
    };
    expect(await asked("n")).toMatchObject({ code: 130, text: expect.stringMatching(/the\s+model\s+dear-2/) });
    expect(stub.requests).toEqual([]);
    expect((await asked("y")).code).toBe(0);
    expect(stub.requests.map(({ model }) => model)).toEqual(["dear-2"]);
  });

  it("do not get a price that the user gave for another", async () => {
    await using stub = await answering();
    const place = placed({ "company.yaml": `model: dear-1\n${CREW}`, "~/config.yaml": `model: cheap-1\n${DEAR}` });
    const { code, stderr } = await run(stub, place, ["--crew", "company.yaml", "--price", "0,0"]);
    expect([code, stderr, stub.requests.length]).toEqual([2, expect.stringContaining("FOLDER_ASKS"), 0]);
  });

  it("hold for troupe agent and troupe serve as well", async () => {
    await using stub = await answering();
    const { cwd, env } = placed({ "troupe.config.yaml": "model: dear-2" });
    for (const words of ["agent look", "serve --port 0"])
      await expectRefusal(cwd, [...words.split(" "), "--base-url", stub.url, "--allow-unpriced"], "FOLDER_ASKS", { env });
  });
});

describe("what else a crew of a folder asks for", () => {
  const wide = "roles: [{ name: Ada, tools: [shell], allow: [shell], timeout: 9999 }]\n";

  const role =
    "name: 'Ada', timeout: 9_999_000, reactMode: 'agent', tools: [tool], agent: { permissions: { rules: [{ tool: 'shell', decide: 'allow' }] } }";
  const home = JSON.stringify(new URL("../../src/", import.meta.url));
  const tools = `const tool = defineTool({ name: "shell", description: "Runs.", effect: "write", execute: () => "ok" });`;
  it.each([
    ["company.yaml", "as a file", wide],
    ["crew.mjs", "as data", `export const crew = { roles: [{ name: "Ada", tools: ["shell"], allow: ["shell"], timeout: 9999 }] };`],
    [
      "crew.mjs",
      "by a function, as data",
      `export const crew = () => ({ roles: [{ name: "Ada", tools: ["shell"], allow: ["shell"], timeout: 9999 }] });`,
    ],
    [
      "crew.mjs",
      "as roles",
      `const [{ defineRole }, { defineTool }] = await Promise.all([import(${home} + "index.ts"), import(${home} + "agent/index.ts")]);
       ${tools} export const crew = { roles: [defineRole({ ${role} })] };`,
    ],
  ])("is named and refused, tools without a question and more time: %s, %s", async (file, _how, text) => {
    await using stub = await answering();
    const { code, stderr } = await run(stub, placed({ [file]: text }), ["--crew", file, "--allow-unpriced"]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/Ada uses shell without asking.*9999 seconds.*FOLDER_ASKS/s)]);
  });

  it("is shown by troupe check", async () => {
    const { cwd, env } = placed({ "company.yaml": `model: dear-2\nrounds: 290\n${wide}` });
    const { stdout } = await command(cwd, ["check"], { env });
    for (const said of ["the model dear-2", "Ada uses shell", "asks for 290 rounds"]) expect(stdout).toContain(said);
  });

  it("is the user's own in the user's config folder", async () => {
    await using stub = await answering();
    const place = placed({ "~/crews/own.yaml": `model: dear-2\nrounds: 90\n${CREW.replace("name: Ada", "name: Ada, timeout: 9999")}` });
    const file = join(place.home, ".config/troupe/crews/own.yaml");
    const { code, stdout } = await run(stub, place, ["--crew", file, "--allow-unpriced"]);
    expect([code, stdout, stub.requests.map(({ model }) => model)]).toEqual([0, expect.stringMatching(/Rounds +1 of 90/), ["dear-2"]]);
  });
});

describe("a link in a folder", () => {
  it.each(["company.yaml", "troupe.config.yaml"])("leads no error to a secret: %s", async (name) => {
    const { cwd, home, env } = placed({ "crews/a.yaml": CREW });
    writeFileSync(join(home, "secret"), "aws_secret: AKIA-never-shown\n- [");
    symlinkSync(join(home, "secret"), join(cwd, name));
    const { stdout, stderr } = await expectRefusal(cwd, ["check"], "FILE_ELSEWHERE", { env });
    expect(stdout + stderr).not.toContain("AKIA");
  });

  it.each(["runs.db", "a/runs.db", "new/runs.db", "new/a/runs.db", "../runs.db"])("leads no store out of it: links/%s", async (store) => {
    const { cwd, home, env } = placed({ "troupe.config.yaml": `store: links/${store}` });
    mkdirSync(join(home, "elsewhere/a"), { recursive: true });
    symlinkSync(join(home, "elsewhere"), join(cwd, "links"));
    symlinkSync(join(home, "elsewhere/missing.db"), join(cwd, "runs.db"));
    await expectRefusal(cwd, ["demo", "todo", "--quiet", "--rounds", "1"], "FILE_ELSEWHERE", { env });
    expect(readdirSync(join(home, "elsewhere"), { recursive: true })).toEqual(["a"]);
  });

  it("is followed within the folder, and in the user's own", async () => {
    const { cwd, home, env } = placed({ "crews/a.yaml": CREW, "~/config.yaml": "rounds: 3" });
    symlinkSync("crews/a.yaml", join(cwd, "company.yaml"));
    expect((await command(cwd, ["check", "--price", "0,0"], { env })).code).toBe(0);
    writeFileSync(join(home, "dotfile.yaml"), "rounds: 5");
    const own = freshFolder();
    mkdirSync(join(own, ".config/troupe"), { recursive: true });
    symlinkSync(join(home, "dotfile.yaml"), join(own, ".config/troupe/config.yaml"));
    expect((await configured(fakeHost({ cwd, env: { HOME: own } }))).env).toMatchObject({ TROUPE_ROUNDS: "5" });
  });
});
