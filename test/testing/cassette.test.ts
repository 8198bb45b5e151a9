import { readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { RunResult } from "../../src/runtime/run-result.ts";
import { DifferenceError, ModelError } from "../../src/kernel/errors.ts";
import type { ChatModel, ChatRequest } from "../../src/model/chat-model.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { createMessage } from "../../src/message/message.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { type Cassette, cassetteJournal, readCassette, saveCassette } from "../../src/testing/cassette.ts";
import { cassetteModel, type CassetteOptions } from "../../src/testing/cassette-model.ts";
import { type ScriptedReply, scriptedModel } from "../../src/testing/scripted-model.ts";
import { answering } from "../runtime/town.ts";
import { Outside, shuffled } from "../properties/outside.ts";
import { idea, sixRoles, teamOf } from "../properties/six-roles.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";
import { newPath, price, type React, type Told, told } from "./told-run.ts";

function request(content: string, more: Partial<ChatRequest> = {}): ChatRequest {
  return { messages: [{ role: "user", content }], ...more };
}

const signal = new AbortController().signal;

/** Asks its prompts one after another. */
function asking(...prompts: readonly string[]): React {
  return async (rc) => {
    const answers: string[] = [];
    for (const prompt of prompts) answers.push(await rc.ask(prompt));
    return rc.message(answers.join(", "));
  };
}

describe("a run that plays a cassette", () => {
  test.each([[["application/pdf"]], [[]], [undefined]])("takes the files that the recorded model took: %j", async (takes) => {
    const files = [
      { name: "report.pdf", data: new TextEncoder().encode("%PDF-1.7") },
      { name: "a.gif", data: new TextEncoder().encode("GIF89a") },
    ];
    const journal = memoryJournal();
    const recorded = scriptedModel(["It rose."], { id: "m", ...(takes && { takes }) });
    const team = (model: ChatModel, kept = memoryJournal()): Team =>
      new Team({ roles: [answering("Ann", async (rc) => rc.message(await rc.ask("What does it say?")))], model, journal: kept });
    const go = createMessage("go", { files });
    await team(recorded, journal).run(go, { id: "r" }).result;
    const model = cassetteModel(await saveCassette(journal, "r", newPath()));
    expect((await team(model).run(go).result).output?.content).toBe("It rose.");
    expect(model.calls).toEqual(recorded.calls);
  });

  test("is the recorded run: the same log, the same cost, every answer used", async () => {
    const journal = memoryJournal();
    const size = { pipelines: 2, steps: 2, laps: 2 };
    const first = new Outside(shuffled("first"));
    const recorded = await teamOf(first, sixRoles(first, size), { journal }).run(idea, { id: "r" }).result;
    const cassette = await saveCassette(journal, "r", newPath());

    const model = cassetteModel(cassette, { price: { input: 1, output: 10 } });
    const second = new Outside(shuffled("second"));
    const played = await teamOf(second, sixRoles(second, size), { journal, model }).run(idea, { id: "s" }).result;
    expect(canonical(await eventsOf(journal, "s"))).toBe(canonical(await eventsOf(journal, "r")));
    expect([played.status, played.cost, played.usage]).toEqual(["finished", recorded.cost, recorded.usage]);
    expect(recorded.cost.known).toBeGreaterThan(0);
    expect(model.unused).toEqual([]);
    expect([...second.begun.keys()].filter((label) => label.startsWith("model"))).toEqual([]);
    expect(model.calls.length).toBe(
      [...first.begun].filter(([label]) => label.startsWith("model")).reduce((sum, [, times]) => sum + times, 0),
    );
  });

  test.each<[string, ChatModel, CassetteOptions]>([
    ["that says nothing of a price", scriptedModel(() => "word"), {}],
    ["that has a price in the list", scriptedModel(() => "word", { id: "gpt-4o-mini", price: { input: 0.15, output: 0.6 } }), {}],
    ["that says its price", scriptedModel(() => "word", { price }), { price }],
    ["that bounds its replies", scriptedModel(() => "word", { price, maxOutputTokens: 100 }), { price, maxOutputTokens: 100 }],
    ["whose price nobody knows", { ...unpriced(), id: "nobody-knows" }, {}],
    ["with fields of its own", { ...unpriced(), id: "nobody-knows", extra: { top_k: 3 } }, {}],
  ])("costs what a model cost %s", async (_what, model, options) => {
    const react: React = async (rc) =>
      void (await Promise.all([rc.ask("a", { maxTokens: 50 }), rc.ask("b"), rc.ask("c", { temperature: 0 })]));
    const { cassette, result, events } = await told(react, model);
    const player = cassetteModel(cassette, options);
    const again = await told(react, player);
    expect([again.result.status, again.result.error?.message]).toEqual(["finished", undefined]);
    expect(again.result.cost).toEqual(result.cost);
    expect(canonical(again.events)).toBe(canonical(events));
    expect(player.unused).toEqual([]);
  });

  test("gets typed answers, however schemas went over the wire", async () => {
    const Point = z.object({
      x: z.number().min(1).max(9).describe("across"),
      name: z.string().max(8).min(2).optional(),
      deep: z.array(z.object({ z: z.enum(["b", "a"]), a: z.boolean() })),
    });
    const Map = z.record(z.string(), z.number());
    const replies = ['{"x":3,"deep":[]}', "not JSON", '{"b":2}', '["one","two"]', "42"];
    const react: React = async (rc) => {
      const point = await rc.ask("where?", { schema: Point });
      const map = await rc.ask("how many?\nSay it.", { schema: Map });
      const list = await rc.ask("which?", { schema: z.array(z.string()) });
      const number = await rc.ask("how much?", { schema: z.number() });
      return rc.message(JSON.stringify([point, map, list, number]));
    };
    const { cassette, events, result } = await told(react, scriptedModel(replies));
    expect(result.output?.content).toBe('[{"x":3,"deep":[]},{"b":2},["one","two"],42]');
    const model = cassetteModel(cassette);
    const again = await told(react, model);
    expect([again.result.status, again.result.error?.message]).toEqual(["finished", undefined]);
    expect(canonical(again.events)).toBe(canonical(events));
    expect(model.calls.map(({ schema }) => schema?.type)).toEqual(["schema", "json", "json", "schema", "schema"]);
    expect(model.unused).toEqual([]);
  });

  test("reports a changed schema, where the prompt is the same", async () => {
    const wanting =
      (schema: z.ZodType): React =>
      async (rc) =>
        void (await rc.ask("where?", { schema }));
    for (const [then, now, member] of [
      [z.object({ x: z.number() }), z.object({ x: z.number(), y: z.number() }), "y"],
      [z.object({ x: z.number() }), z.object({ x: z.number().describe("across") }), "across"],
      [z.record(z.string(), z.number()), z.record(z.string(), z.boolean()), "boolean"],
    ] as const) {
      const { cassette } = await told(wanting(then), scriptedModel(['{"x":1}']));
      const again = await told(wanting(now), cassetteModel(cassette));
      expect(again.result.error?.code).toBe("DIFFERENCE");
      expect(again.result.error?.message).toContain(member);
    }
  });

  test("answers equal requests in the order they were recorded, each answer once", async () => {
    const { cassette } = await told(asking("word?", "other?", "word?"), scriptedModel(["one", "two", "three"]));
    const model = cassetteModel(cassette);
    expect((await told(asking("word?", "other?", "word?"), model)).result.output?.content).toBe("one, two, three");
    const fourth = await told(asking("word?", "word?", "word?"), cassetteModel(cassette));
    expect(fourth.result.error).toBeInstanceOf(DifferenceError);
    expect(fourth.result.error?.message).toContain("The same was asked 2 times then, first by Ann#0~1, and is asked once more now");
  });

  test("fails where the recorded run failed, and does not wait to try again", async () => {
    const busy = new ModelError("MODEL_SERVER", "Expected an answer, got 503.", { retryable: true });
    const react: React = async (rc) => rc.message(await rc.ask("?").catch((error: unknown) => (error as ModelError).code));
    const { cassette, result } = await told(
      react,
      scriptedModel(() => busy),
    );
    expect(result.output?.content).toBe("MODEL_SERVER");
    const model = cassetteModel(cassette);
    const again = await told(react, model);
    expect(again.result.output?.content).toBe("MODEL_SERVER");
    expect(again.events.find((event) => event.type === "step.ended" && event.retry !== true)).toMatchObject({
      error: { name: "ModelError", code: "MODEL_SERVER", message: "Expected an answer, got 503. Tried 4 times." },
    });
    expect([model.calls.length, model.unused]).toEqual([4, []]);
  });

  test("gives the answers of a run that was killed, and says where it had none", async () => {
    const { events } = await told(asking("a", "b"), scriptedModel(["one", "two"]));
    const cut = events.findLastIndex((event) => event.type === "step.started");
    const cassette = await saveCassette(await journalWith("r", events.slice(0, cut + 1)), "r", newPath());
    const model = cassetteModel(cassette);
    expect(model.unused.map(({ answer }) => answer?.ok)).toEqual([true]);
    const { act, key } = events[cut] as Extract<RunEvent, { type: "step.started" }>;
    const envelope = { v: 1 as const, runId: "r", seq: cut + 1, time: 0 };
    const error = { name: "ModelError", code: "MODEL_SERVER", message: "Busy." };
    const failed: RunEvent = {
      ...envelope,
      type: "step.ended",
      act,
      key,
      try: 1,
      ok: false,
      retry: true,
      error,
      cost: 0,
      basis: "none",
      at: 0,
    };
    const tried = await saveCassette(await journalWith("r", [...events.slice(0, cut + 1), failed]), "r", newPath());
    expect(cassetteModel(tried).unused).toHaveLength(1);
    const again = await told(asking("a", "b"), model);
    expect(again.result.error?.message).toContain("Ann#0~1 asked it too, but the run stopped before an answer came");
  });

  test("knows its secrets only where the team does", async () => {
    const secrets = ["open sesame"];
    const react = asking("the word is open sesame, the key is sk-aaaaaaaaaaaaaaaaaaaaaaaa");
    const { cassette } = await told(react, scriptedModel(["in"]), { secrets });
    expect(JSON.stringify(cassette)).not.toMatch(/sesame|sk-aaa/);
    expect((await told(react, cassetteModel(cassette, { secrets }), { secrets })).result.output?.content).toBe("in");
    expect((await told(react, cassetteModel(cassette), { secrets })).result.error?.code).toBe("DIFFERENCE");
  });
});

describe("a request that the cassette lacks", () => {
  const poem = (word: string): string => `You are a poet.\nWrite of:\n${word}\nRhyme.`;

  test("ends the run with the nearest request beside it, and says how to record again", async () => {
    const { cassette } = await told(
      asking("something else", poem("rain"), "the end"),
      scriptedModel(["x", "drip", "fin"], { id: "scripted" }),
    );
    const model = cassetteModel(cassette);
    const { result } = await told(asking("something else", poem("snow"), "the end"), model);
    expect(result.status).toBe("failed");
    const { error } = result;
    expect(error).toBeInstanceOf(DifferenceError);
    expect(error?.code).toBe("DIFFERENCE");
    expect(error?.message).toBe(
      [
        "Expected a request of scripted that the cassette of run r has, got one it lacks. The nearest was asked by Ann#0~1:",
        "at messages[1].content, message 2 (user), line 3",
        "recorded:",
        "  1 | You are a poet.",
        "  2 | Write of:",
        "> 3 | rain",
        "  4 | Rhyme.",
        "asked now:",
        "  1 | You are a poet.",
        "  2 | Write of:",
        "> 3 | snow",
        "  4 | Rhyme.",
        "If the change is meant, record the run again with the real model: see saveCassette.",
      ].join("\n"),
    );
    expect(error?.data).toMatchObject({ kind: "asked", act: "Ann#0~1", name: "scripted", recorded: { model: "scripted" } });
    expect(model.unused.map(({ request: { messages } }) => JSON.stringify(messages))).toEqual([
      expect.stringContaining("rain"),
      expect.stringContaining("the end"),
    ]);
  });

  test("is held against those that are left, as long as there are any", async () => {
    const { cassette } = await told(asking(poem("rain"), "a night"), scriptedModel(["drip", "dark"]));
    const { result } = await told(asking(poem("rain"), poem("rainbows")), cassetteModel(cassette));
    expect(result.error?.message).toContain("a night");
    const more = await told(asking(poem("rain"), "a night", poem("rainbows")), cassetteModel(cassette));
    expect(more.result.error?.message).toContain("> 3 | rain\n");
  });

  test("is one too when only its bound or its temperature is another", async () => {
    const bounded =
      (maxTokens: number, temperature: number): React =>
      async (rc) =>
        void (await rc.ask("?", { maxTokens, temperature }));
    const { cassette } = await told(bounded(10, 1), scriptedModel(["!"]));
    expect((await told(bounded(10, 1), cassetteModel(cassette))).result.status).toBe("finished");
    expect((await told(bounded(20, 1), cassetteModel(cassette))).result.error?.message).toContain(
      "at maxTokens\nrecorded: 10\nasked now: 20",
    );
    expect((await told(bounded(10, 0), cassetteModel(cassette))).result.error?.message).toContain(
      "at temperature\nrecorded: 1\nasked now: 0",
    );
  });

  test("is every one when the run asked no model", async () => {
    const { cassette } = await told(async (rc) => rc.message("hello"), scriptedModel([]));
    const model = cassetteModel(cassette);
    expect([model.id, model.unused]).toEqual(["cassette", []]);
    await expect(model.chat(request("?"), { signal })).rejects.toThrow("It has none.");
  });

  test("shows no character that a terminal would obey", async () => {
    const { cassette } = await told(asking("a\u001b[2J\u202eb"), scriptedModel(["x"]));
    await expect(cassetteModel(cassette).chat(request("\u009b\u0007"), { signal })).rejects.toSatisfy(
      (error) => error instanceof DifferenceError && !/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/.test(error.message),
    );
  });
});

describe("the model of a cassette", () => {
  async function answered(reply: ScriptedReply): Promise<Cassette> {
    return (await told(asking("?"), scriptedModel([reply]))).cassette;
  }

  test("streams an answer whole, with its calls and its usage", async () => {
    const toolCalls = [
      { id: "c1", type: "function" as const, function: { name: "look", arguments: '{"at":"it"}' }, extra: { signed: "s" } },
    ];
    const usage = { inputTokens: 5, outputTokens: 7, cachedTokens: 2 };
    const cassette = await answered({ content: "a long answer of several words", toolCalls, usage, finishReason: "stop" });
    const model = cassetteModel(cassette);
    const asked = (await told(asking("?"), model)).result;
    expect(asked.usage).toMatchObject(usage);
    const [call] = model.calls;
    const chunks = [];
    for await (const chunk of cassetteModel(cassette).stream(call ?? expect.unreachable(), { signal })) chunks.push(chunk);
    expect(chunks.map(({ content = "" }) => content).join("")).toBe("a long answer of several words");
    expect(chunks.slice(-3)).toEqual([
      { toolCalls: [{ index: 0, id: "c1", name: "look", arguments: "", extra: { signed: "s" } }] },
      { toolCalls: [{ index: 0, arguments: '{"at":"it"}' }] },
      { finishReason: "stop", usage },
    ]);
  });

  test("keeps what it was asked, and heeds its signal", async () => {
    const cassette = await answered("word");
    const first = cassetteModel(cassette);
    await told(asking("?"), first);
    const [call] = first.calls;
    expect(Object.isFrozen(call?.messages)).toBe(true);
    const model = cassetteModel(cassette);
    expect(await model.chat(call ?? expect.unreachable(), { signal })).toMatchObject({ content: "word" });
    await expect(model.chat(request("?"), { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORTED" });
    expect(model.calls).toHaveLength(1);
  });

  test("is one of several that were recorded, and must be told which", async () => {
    const models = { big: scriptedModel(["big one"], { id: "big" }), small: scriptedModel(["small one"], { id: "small" }) };
    const roles = (by: { readonly big: ChatModel; readonly small: ChatModel }) => [
      answering("Ann", asking("?"), { model: by.big }),
      answering("Bob", asking("?"), { model: by.small }),
    ];
    const journal = memoryJournal();
    await new Team({ seed: "s", journal, roles: roles(models) }).run("go", { id: "r" }).result;
    const cassette = await saveCassette(journal, "r", newPath());
    expect(() => cassetteModel(cassette)).toThrow(/one of the recorded models \(big, small\), got none/);
    expect(() => cassetteModel(cassette, { id: "other" })).toThrow(/\(big, small\), got other/);
    const players = { big: cassetteModel(cassette, { id: "big" }), small: cassetteModel(cassette, { id: "small" }) };
    expect(players.big.unused).toHaveLength(1);
    const played = await new Team({ seed: "s", roles: roles(players) }).run("go").result;
    expect(played.outputs.map(({ content }) => content)).toEqual(["big one", "small one"]);
  });
});

describe("the journal of a cassette", () => {
  test("holds the run, so that it can be replayed without a call, and a change is found", async () => {
    const { cassette, result } = await told(asking("a", "b"), scriptedModel(["one", "two"], { id: "scripted" }));
    const replayed = async (react: React): Promise<RunResult> =>
      new Team({ journal: await cassetteJournal(cassette), model: scriptedModel([]), roles: [answering("Ann", react)] }).replay("r").result;
    const again = await replayed(asking("a", "b"));
    expect([again.status, again.output?.content]).toEqual(["finished", result.output?.content]);
    expect((await replayed(asking("a", "c"))).error?.code).toBe("DIFFERENCE");
    expect(await eventsOf(await cassetteJournal(cassette), "r")).toEqual(cassette.events);
  });
});

describe("the file of a cassette", () => {
  let run: Told;

  beforeAll(async () => {
    run = await told(asking("a"), scriptedModel(["one"]));
  });

  test("is JSON that reads well in a diff, and the same for the same run", async () => {
    const journal = await journalWith("r", run.events);
    const [one, other] = [newPath(), join(dirname(newPath()), "new", "folder", "x.json")];
    expect(await saveCassette(journal, "r", one)).toEqual(await saveCassette(await journalWith("r", run.events), "r", other));
    const text = readFileSync(one, "utf8");
    expect(readFileSync(other, "utf8")).toBe(text);
    expect(text.startsWith('{\n  "troupe": "cassette",\n  "v": 1,\n  "runId": "r",\n  "events": [\n    {\n')).toBe(true);
    expect(text.endsWith("\n}\n")).toBe(true);
    expect(await readCassette(one)).toEqual({ troupe: "cassette", v: 1, runId: "r", events: run.events });
    expect(Object.isFrozen((await readCassette(one)).events)).toBe(true);
  });

  test("is replaced whole, or stays as it was, and nothing else is left beside it", async () => {
    const path = newPath();
    const folder = dirname(path);
    await saveCassette(await journalWith("r", run.events.slice(0, 3)), "r", path);
    await saveCassette(await journalWith("r", run.events), "r", path);
    const text = readFileSync(path, "utf8");
    await expect(saveCassette(memoryJournal(), "r", path)).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
    await expect(saveCassette(await journalWith("r", []), "r", path)).rejects.toMatchObject({ code: "CASSETTE_INVALID" });
    expect(readFileSync(path, "utf8")).toBe(text);
    await expect(saveCassette(await journalWith("r", run.events), "r", folder)).rejects.toMatchObject({
      code: "CASSETTE_FILE",
    });
    const left = readdirSync(folder).filter((name) => name.endsWith(".tmp"));
    expect(left).toEqual([]);
  });

  test.each<[string, (text: string) => string, string]>([
    ["no JSON", () => "{", "CASSETTE_INVALID"],
    ["another JSON", () => "[]", "CASSETTE_INVALID"],
    ["another file of ours", (text) => text.replace('"cassette"', '"run"'), "CASSETTE_INVALID"],
    ["more than it should", (text) => text.replace('"v": 1,', '"v": 1, "more": 1,'), "CASSETTE_INVALID"],
    ["no events", () => '{"troupe":"cassette","v":1,"runId":"r","events":[]}', "CASSETTE_INVALID"],
    ["another run", (text) => text.replace('"runId": "r"', '"runId": "q"'), "CASSETTE_INVALID"],
    ["a newer version", (text) => text.replace('"v": 1', '"v": 2'), "EVENT_NEWER"],
    ["what is no event", (text) => text.replace('"run.ended"', '"run.over"'), "EVENT_INVALID"],
    ["a prototype", (text) => text.replace('"seed": "s"', '"seed": "s", "__proto__": {}'), "EVENT_INVALID"],
    ["events that contradict each other", (text) => text.replace('"take": 1', '"take": 2'), "JOURNAL_DAMAGED"],
  ])("is refused when it has %s", async (_what, change, code) => {
    const path = newPath();
    await saveCassette(await journalWith("r", run.events), "r", path);
    const changed = change(readFileSync(path, "utf8"));
    expect(changed).not.toBe(readFileSync(path, "utf8"));
    writeFileSync(path, changed);
    await expect(readCassette(path)).rejects.toMatchObject({ code });
  });

  test("is refused when it is too large, before it is in memory", async () => {
    const journal = memoryJournal();
    let read = 0;
    journal.read = async function* () {
      const [start] = run.events;
      for (;;) {
        read += 1;
        yield { ...(start ?? expect.unreachable()), team: "x".repeat(1_000_000) } as RunEvent;
      }
    };
    const path = newPath();
    await expect(saveCassette(journal, "r", path)).rejects.toMatchObject({ code: "CASSETTE_LARGE" });
    expect(read).toBeLessThan(70);
    writeFileSync(path, "");
    truncateSync(path, 65 * 1024 * 1024);
    await expect(readCassette(path)).rejects.toMatchObject({ code: "CASSETTE_LARGE" });
  });
});

/** A model that says no price, and answers in one piece. */
function unpriced(): ChatModel {
  return {
    id: "unpriced",
    streams: false,
    chat: () => Promise.resolve({ content: "word", toolCalls: [], finishReason: "stop" }),
    stream: () => expect.unreachable(),
  };
}
