import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createClient } from "../../src/client/index.ts";
import type { Json } from "../../src/kernel/json.ts";
import { defineRole } from "../../src/role/role.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { createServer } from "../../src/server/index.ts";
import { Team } from "../../src/team/team.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import type { Approver, HumanPort } from "../../src/tool/approval.ts";
import { callTools } from "../../src/tool/call-tools.ts";
import { checkAnswer, faultsText } from "../../src/tool/question-form.ts";
import { defineTool } from "../../src/tool/tool.ts";
import { resultText } from "../../src/tool/tool-result.ts";
import { eventsOf } from "../team/recorded.ts";
import { call, calling } from "./calling.ts";

const ASKED = { to: "all@example.com", copies: 100 };
const WANTED = { to: "bo@example.com", copies: 2 };
const NOTE = `Note: A person changed the arguments. The tool was called with ${JSON.stringify({ copies: 2, to: "bo@example.com" })}`;

/** A role whose model wants to mail everybody, and what was really mailed. */
function post(human?: HumanPort) {
  const mailed: object[] = [];
  const mail = defineTool({
    name: "mail",
    description: "Mails copies.",
    parameters: z.object({ to: z.email(), copies: z.int().min(1) }).refine(({ copies }) => copies !== 13, "not 13"),
    effect: "write",
    execute: (args) => (mailed.push(args), "mailed"),
  });
  const asks = { id: "c", type: "function", function: { name: "mail", arguments: JSON.stringify(ASKED) } } as const;
  const model = scriptedModel([{ content: "", toolCalls: [asks], finishReason: "tool_calls" }, "done"]);
  const journal = memoryJournal();
  const role = defineRole({ name: "Ann", reactMode: "agent", tools: [mail] });
  const team = new Team({ seed: "s", journal, model, roles: [role], ...(human === undefined ? {} : { human }) });
  return { team, journal, mailed, model, mail };
}

type Post = ReturnType<typeof post>;

/** Every door that answers the question of a run, with other arguments. */
const DOORS: readonly (readonly [door: string, answers: (answer: Json) => Promise<Post>])[] = [
  [
    "a person in the process",
    async (answer) => {
      const office = post(() => answer);
      await office.team.run("go", { id: "r" }).result;
      return office;
    },
  ],
  [
    "team.answer",
    async (answer) => {
      const office = post();
      const { questions } = await office.team.run("go", { id: "r" }).result;
      await (
        await office.team.answer("r", questions[0]?.id ?? "", answer)
      ).result;
      return office;
    },
  ],
  [
    "words, as a command has them",
    async (answer) => {
      const office = post();
      const { questions } = await office.team.run("go", { id: "r" }).result;
      await (
        await office.team.answer("r", questions[0]?.id ?? "", JSON.stringify(answer))
      ).result;
      return office;
    },
  ],
  [
    "a server and its client",
    async (answer) => {
      const office = post();
      const server = createServer({ team: office.team });
      const client = createClient({ url: "http://localhost", fetch: server.fetch });
      await client.start({ idea: "go", id: "r" });
      for await (const _ of client.events("r"));
      const { questions = [] } = await client.read("r");
      await client.answer("r", questions[0]?.id ?? "", answer);
      for await (const _ of client.events("r"));
      await server.close();
      return office;
    },
  ],
];

describe.each(DOORS)("a call that a person allows with other arguments: %s", (_door, answers) => {
  it("is made with these, recorded, told to the model, and replayed", async () => {
    const { team, journal, mailed, model } = await answers({ args: WANTED });
    expect(mailed).toEqual([WANTED]);
    const events = await eventsOf(journal, "r");
    const steps = events.flatMap((event) => (event.type === "step.started" && event.kind !== "model" ? [event.request] : []));
    expect(steps).toMatchObject([
      { tool: "mail", args: ASKED },
      { name: "mail", args: WANTED },
    ]);
    expect(events).toContainEqual(expect.objectContaining({ type: "step.ended", value: { args: WANTED } }));
    expect(model.calls[1]?.messages.at(-1)?.content).toBe(`mailed\n${NOTE}`);
    expect((await team.replay("r").result).status).toBe("finished");
    expect(mailed).toHaveLength(1);
  });
});

describe("a question whether a tool may be called", () => {
  it("has the arguments and the schema as data, and refuses arguments that do not fit: it stays open", async () => {
    const { team, mailed } = post();
    const { questions } = await team.run("go", { id: "r" }).result;
    const [question] = questions;
    expect(question).toMatchObject({
      tool: "mail",
      args: ASKED,
      form: { kind: "choices", args: { type: "object", required: ["to", "copies"] } },
    });
    const wrong = team.answer("r", question?.id ?? "", { args: { to: "nobody", copies: 0, cc: "x" } });
    await expect(wrong).rejects.toMatchObject({
      code: "QUESTION_ANSWER_INVALID",
      message: expect.stringMatching(/args\.to: .*args\.copies: .*args\.cc: /s) as string,
    });
    expect(mailed).toEqual([]);
    await (
      await team.answer("r", question?.id ?? "", "yes")
    ).result;
    expect(mailed).toEqual([ASKED]);
  });

  it("comes again where arguments fit the form and not the tool, three times in all", async () => {
    const texts: string[] = [];
    const office = post(({ text }) => (texts.push(text), { args: { ...WANTED, copies: texts.length === 2 ? 3 : 13 } }));
    await office.team.run("go", { id: "r" }).result;
    expect(office.mailed).toEqual([{ ...WANTED, copies: 3 }]);
    expect(texts).toEqual([expect.not.stringContaining("did not fit"), expect.stringMatching(/did not fit: .*not 13/s)]);
    const stubborn = post(() => ({ args: { ...WANTED, copies: 13 } }));
    await stubborn.team.run("go", { id: "r" }).result;
    expect(stubborn.mailed).toEqual([]);
    expect(stubborn.model.calls[1]?.messages.at(-1)?.content).toMatch(/a person wanted to call the tool "mail" differently, but .*not 13/s);
  });

  it("outside a run takes other arguments from a function, and none that a rule forbids", async () => {
    const { mail, mailed } = post();
    const policy = { rules: [{ tool: "mail", args: { to: "*@evil.test" }, decide: "deny" as const }], default: "ask" as const };
    const calls = (approve: Approver) => callTools([call("mail", ASKED)], calling([mail], { policy, approve }));
    const [allowed] = await calls(() => ({ args: WANTED }));
    expect([allowed?.outcome, mailed]).toEqual(["ok", [WANTED]]);
    const [denied] = await calls(() => ({ args: { ...WANTED, to: "me@evil.test" } }));
    expect(denied?.outcome).toBe("denied");
    expect(resultText(denied?.result ?? {})).toContain("a rule forbids such a call");
    expect(mailed).toHaveLength(1);
  });
});

it("an answer with arguments is taken where the form says so only", () => {
  const choices = [{ value: "yes" }];
  expect(checkAnswer({ kind: "choices", choices }, { args: {} })).toMatchObject({ isRight: false });
  const form = { kind: "choices", choices, args: { type: "object", properties: { n: { type: "integer" } } } } as const;
  expect(checkAnswer(form, ' {"args":{"n":2}} ')).toEqual({ isRight: true, value: { args: { n: 2 } } });
  const wrong = checkAnswer(form, { args: { n: "two" } });
  expect(wrong.isRight ? "" : faultsText(wrong.faults)).toBe('args.n: Expected a whole number, got "two".');
  expect(checkAnswer(form, { args: [1] })).toMatchObject({ isRight: false });
});
