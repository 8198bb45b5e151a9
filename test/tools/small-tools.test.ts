import { describe, expect, it } from "vitest";
import { z } from "zod";
import { askHumanTool, createChatCompletion } from "../../src/tools/human.ts";
import { terminate } from "../../src/tools/index.ts";
import { call, read } from "./tool-kit.ts";
import type { HumanQuestion } from "../../src/tool/approval.ts";

describe("terminate", () => {
  it("ends the work with its status and its answer, for a program to read", async () => {
    expect(await call(terminate, { status: "success", answer: "42" })).toMatchObject({
      outcome: "ok",
      ends: true,
      result: { output: "Task completed: success", data: { status: "success", answer: "42" } },
    });
    expect(await call(terminate, { status: "failure" })).toMatchObject({ ends: true, result: { data: { status: "failure" } } });
  });

  it.each([
    ["done", "success", ""],
    ["Success!", "success", ""],
    ["FAILED", "failure", ""],
    ["The request has been met: it is 42.", "success", "The request has been met: it is 42."],
    ["The tests no longer fail.", "success", "The tests no longer fail."],
    ["I could not find the file.", "failure", "I could not find the file."],
    ["Failed: the server is down", "failure", "Failed: the server is down"],
    ["It is impossible without a key", "failure", "It is impossible without a key"],
  ])("reads a status in other words: %s", async (status, meant, answer) => {
    expect(await call(terminate, { status })).toMatchObject({ outcome: "ok", ends: true, result: { data: { status: meant, answer } } });
  });
});

describe("ask_human", () => {
  it("gives the answer of a person", async () => {
    expect(await read(askHumanTool(), { question: "Red or blue?" }, { ask: ({ text }) => `${text} Blue.` })).toBe("Red or blue? Blue.");
    expect(await read(askHumanTool(), { question: "?" }, { ask: () => " " })).toContain("empty answer");
  });

  it("offers likely answers, each once, and takes other words", async () => {
    const ask = ({ form }: HumanQuestion): string => JSON.stringify(form);
    expect(JSON.parse(await read(askHumanTool(), { question: "Which?", choices: ["red", "blue", "red"] }, { ask }))).toEqual({
      kind: "choices",
      choices: [{ value: "red" }, { value: "blue" }],
      words: "answer in other words",
    });
  });

  it("says so when nobody is there, and does not wait", async () => {
    expect(await call(askHumanTool(), { question: "?" })).toMatchObject({
      outcome: "failed",
      result: { error: expect.stringContaining("No one is there") },
    });
  });
});

describe("create_chat_completion", () => {
  it("ends the run with a text", async () => {
    expect(await call(createChatCompletion(), { response: "42" })).toMatchObject({
      outcome: "ok",
      ends: true,
      result: { output: "42", data: { status: "success", answer: "42", value: "42" } },
    });
  });

  it.each([
    [z.object({ n: z.number(), tags: z.array(z.string()) }), { n: 1, tags: ["a"] }, { n: 1, tags: ["a"] }],
    [z.array(z.number()), { response: [1, 2] }, [1, 2]],
    [z.union([z.number(), z.string()]), { response: 0 }, 0],
    [z.boolean(), { response: false }, false],
  ])("ends it with a value of the form asked for", async (schema, args, value) => {
    const tool = createChatCompletion({ schema });
    expect(await call(tool, args)).toMatchObject({ outcome: "ok", ends: true, result: { output: JSON.stringify(value), data: { value } } });
    expect(tool.spec.parameters).toMatchObject({ type: "object" });
  });

  it("does not end it with what has another form", async () => {
    expect(await call(createChatCompletion({ schema: z.number() }), { response: "many" })).toMatchObject({
      outcome: "invalid",
      ends: false,
    });
  });
});
