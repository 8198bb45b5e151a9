import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import { modelChoice } from "../../src/cli/model-settings.ts";
import { checkModel, pingModel } from "../../src/cli/commands/doctor.ts";
import { openaiStub } from "../../src/testing/index.ts";
import { fakeHost } from "./fake-host.ts";
import { command, expectRefusal, newestIn, placed, type Said } from "./kept-run.ts";

const KEY = "canary-0123456789abcdefghij";
const ID = "anthropic/claude-test";
const CREW = "roles: [{ name: Ada, actions: [{ name: Say, prompt: '{{text}}' }] }]\n";

const asked: { readonly model: string; readonly key: string }[] = [];
const usage = { input_tokens: 3, output_tokens: 1 };
const message = { id: "msg_1", type: "message", role: "assistant", model: "claude-test", stop_sequence: null };

/** A server of Anthropic's protocol, which says hello. */
const server = createServer((request, response) => {
  let body = "";
  request.on("data", (piece: Buffer) => (body += piece.toString()));
  request.on("end", () => {
    const { model, stream } = JSON.parse(body) as { readonly model: string; readonly stream?: boolean };
    asked.push({ model, key: String(request.headers["x-api-key"]) });
    const events: readonly { readonly type: string; readonly [key: string]: unknown }[] = [
      { type: "message_start", message: { ...message, content: [], stop_reason: null, usage } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hello" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 1 } },
      { type: "message_stop" },
    ];
    response.setHeader("content-type", stream === true ? "text/event-stream" : "application/json");
    const whole = { ...message, content: [{ type: "text", text: "hello" }], stop_reason: "end_turn", usage };
    const frames = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end(stream === true ? frames.join("") : JSON.stringify(whole));
  });
});
await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
afterAll(() => void server.close());
beforeEach(() => {
  asked.splice(0);
  // The package reads them from the process, the address when it is loaded.
  vi.stubEnv("ANTHROPIC_BASE_URL", `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
  vi.stubEnv("ANTHROPIC_API_KEY", KEY);
});

const inFolder = (files: Readonly<Record<string, string>> = {}) => placed({ "company.yaml": CREW, ...files });

function run(
  { cwd, env: home }: ReturnType<typeof placed>,
  words: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<Said> {
  return command(cwd, ["run", "--crew", "company.yaml", ...words, "greet us"], { env: { ...home, ANTHROPIC_API_KEY: KEY, ...more } });
}

const everywhere: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ["model of its config file", { "troupe.config.yaml": `model: ${ID}` }],
  ["model of a role", { "company.yaml": CREW.replace("name: Ada", `name: Ada, model: ${ID}`) }],
];

describe("a model of a provider", () => {
  it.each([
    ["option", {}, ["--model", ID], {}],
    ["variable", {}, [], { TROUPE_MODEL: ID }],
    ["the user's file", { "~/config.yaml": `model: ${ID}` }, [], {}],
    ["the user's file, for a role", { "~/config.yaml": `model: cohere/x\nroles: { Ada: ${ID} }` }, ["--model", ID], {}],
  ])("is asked by its package, without a key of OpenAI: %s", async (_where, files, words, more) => {
    const { code, stdout, stderr } = await run(inFolder(files), [...words, "--allow-unpriced"], more);
    expect([code, asked, stderr + stdout]).toEqual([0, [{ model: "claude-test", key: KEY }], expect.not.stringContaining(KEY)]);
  });

  it("is found again by its name, also where the environment names a server now", async () => {
    const place = inFolder({});
    const { cwd } = place;
    expect((await run(place, ["--model", ID, "--allow-unpriced"])).code).toBe(0);
    const id = await newestIn(cwd);
    const env = { ...place.env, ANTHROPIC_API_KEY: KEY, TROUPE_BASE_URL: "http://127.0.0.1:9/v1" };
    const said = await command(cwd, ["tell", id, "again"], { env });
    const replayed = await command(cwd, ["replay", id]);
    const forked = await command(cwd, ["fork", id, "--at", "1", "--reuse", "none", "--yes"], { env });
    expect([said.code, replayed.code, forked.code, asked.length]).toEqual([0, 0, 0, 3]);
  });

  it("goes as it is to a server that is given", async () => {
    await using stub = await openaiStub({ handler: () => ({ text: "hello" }) });
    const place = inFolder({ "~/config.yaml": `baseUrl: ${stub.url}` });
    expect((await run(place, ["--model", ID, "--allow-unpriced"])).code).toBe(0);
    expect((await run(inFolder({}), ["--model", ID, "--allow-unpriced", "--base-url", stub.url])).code).toBe(0);
    expect((await run(inFolder({}), ["--model", ID, "--allow-unpriced"], { OPENAI_BASE_URL: stub.url })).code).toBe(0);
    expect([stub.requests.map(({ model }) => model), asked]).toEqual([[ID, ID, ID], []]);
  });

  it.each([
    ["run", ["run", "greet us"]],
    ["agent", ["agent", "look"]],
    ["serve", ["serve", "--port", "0"]],
  ])("whose package is missing is refused before its work begins: troupe %s", async (_name, words) => {
    const { cwd, env } = inFolder({});
    await expectRefusal(cwd, [...words, "--model", "cohere/command-a"], /npm install\s+@ai-sdk\/cohere[^]*PACKAGE_MISSING/, { env });
    expect(existsSync(join(cwd, "workspace"))).toBe(false);
  });
});

describe("a model of a provider that a folder names", () => {
  it.each(everywhere)("is refused: %s", async (_what, files) => {
    const { code, stderr } = await run(inFolder(files), ["--allow-unpriced"], { OPENAI_API_KEY: KEY });
    expect([code, stderr, asked]).toEqual([2, expect.stringMatching(/the model anthropic\/claude-test.*FOLDER_ASKS/s), []]);
  });

  it.each(everywhere)("is taken where the user named it: %s", async (_what, files) => {
    const place = inFolder({ ...files, "~/config.yaml": `models: { ${ID}: {} }` });
    const { code } = await run(place, ["--allow-unpriced"], { OPENAI_API_KEY: KEY });
    expect([code, asked.length]).toEqual([0, 1]);
  });

  it("needs a package beside Troupe: one of the folder is not taken", async () => {
    const text = `throw new Error("loaded");`;
    const own = { "node_modules/@ai-sdk/cohere/package.json": `{ "main": "index.js" }`, "node_modules/@ai-sdk/cohere/index.js": text };
    const { code, stderr } = await run(inFolder(own), ["--model", "cohere/command-a"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("PACKAGE_MISSING")]);
  });
});

describe("the doctor's look at a provider", () => {
  it("says which package was found, and where its key comes from", () => {
    const host = fakeHost({ env: { ANTHROPIC_API_KEY: KEY } });
    const { text } = checkModel(host, { model: "anthropic/claude-sonnet-4-5" });
    expect(text).toMatch(/^anthropic\/claude-sonnet-4-5, by @ai-sdk\/anthropic \d+\.\d+\.\d+, key from ANTHROPIC_API_KEY, \$/);
    expect(checkModel(fakeHost(), { model: ID }).text).toContain("no key");
  });

  it("says which package to install", () => {
    expect(checkModel(fakeHost(), { model: "cohere/command-a" })).toEqual({
      name: "model",
      state: "fail",
      text: expect.stringContaining("@ai-sdk/cohere to reach cohere/command-a") as string,
      hint: "Install it beside Troupe: npm install @ai-sdk/cohere",
    });
  });

  it("asks it for a word", async () => {
    const choice = modelChoice({ model: ID }, {});
    if (choice.kind === "none") throw new Error("expected a model");
    expect(await pingModel(fakeHost(), choice.model, new AbortController().signal)).toMatchObject({ state: "ok" });
    expect(asked).toEqual([{ model: "claude-test", key: KEY }]);
  });
});
