import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createMessage, defineAction, defineRole, defineTool, memoryJournal, type Role, type RunEvent, Team } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import type { HumanQuestion } from "../../src/tool/approval.ts";
import { call, calls } from "../agent/setup.ts";
import { contents } from "../runtime/town.ts";
import { eventsOf } from "./recorded.ts";

const Draft = defineAction({ name: "Draft", run: (ctx) => ctx.ask(`draft ${ctx.text}`) });
const Verdict = z.object({ good: z.boolean(), why: z.string() });
const Judge = defineAction({ name: "Judge", output: Verdict, prompt: ({ text }) => `judge ${text}` });
const ann = defineRole({ name: "Ann", actions: [Draft], watch: ["UserRequirement", "More"] });
const bea = defineRole({ name: "Bea", actions: [Judge], watch: [Draft] });
const model = () => scriptedModel(({ schema }) => (schema === undefined ? "by the model" : '{"good":true,"why":"by the model"}'));
const more = (text: string) => createMessage(text, { causeBy: "More", sendTo: "Ann" });

/** A person who answers by a list, in order, and remembers what was asked. */
function person(...answers: readonly unknown[]) {
  const asked: HumanQuestion[] = [];
  return { asked, human: (question: HumanQuestion): never => answers[asked.push(question) - 1] as never };
}

async function isReplayed(roles: readonly Role[], journal: Journal): Promise<void> {
  const replay = new Team({ roles, journal, model: model() }).replay("r");
  const again: RunEvent[] = [];
  for await (const event of replay) again.push(event);
  expect((await replay.result).error).toBeUndefined();
  expect(canonical(again)).toBe(canonical(await eventsOf(journal, "r")));
}

/** A run of which the first message has been answered by the model. */
async function begun(o: { readonly roles?: readonly Role[]; readonly human?: (question: HumanQuestion) => never } = {}) {
  const journal = memoryJournal();
  const { roles = [ann], ...others } = o;
  const asked = model();
  const team = new Team({ seed: "s", roles, model: asked, journal, ...others });
  const run = team.run("one", { id: "r" });
  await run.result;
  return { team, run, journal, roles, calls: () => asked.calls.length };
}

describe("a role that a person takes", () => {
  test("asks that person what it would ask its model, in the form of its answer, until it is given back", async () => {
    const { human, asked } = person("by Cleo", { good: false, why: "too short" });
    const { team, run, journal, roles, calls: paid } = await begun({ roles: [ann, bea], human });
    await run.takeRole("Ann", { by: "Cleo" });
    await team.takeRole("r", "Bea");
    const taken = await team.resume("r", { add: [more("two")] }).result;
    expect(contents(taken.messages).slice(-2)).toEqual(["by Cleo", '{"good":false,"why":"too short"}']);
    expect(asked).toMatchObject([
      { role: "Ann", text: "draft two", to: "Cleo" },
      { role: "Bea", text: "judge by Cleo", form: { kind: "fields" } },
    ]);
    await run.giveBackRole("Ann");
    await team.giveBackRole("r", "Bea");
    const after = await team.resume("r", { add: [more("three")] }).result;
    expect(contents(after.messages).slice(-2)).toEqual(["by the model", '{"good":true,"why":"by the model"}']);
    expect(paid()).toBe(4);
    const taker = (await eventsOf(journal, "r")).filter(({ type }) => type === "role.taken");
    expect(taker).toMatchObject([{ role: "Ann", by: "Cleo" }, { role: "Bea" }, { role: "Ann", back: true }, { role: "Bea", back: true }]);
    await isReplayed(roles, journal);
    const fork = await team.fork("r", { id: "f" }).result;
    expect(contents(fork.messages)).toEqual(contents(after.messages));
  });

  test("waits without a person there, and another process answers; a role given back meanwhile asks its model", async () => {
    const { run, journal, roles } = await begun();
    await run.takeRole("Ann");
    const other = (): Team => new Team({ roles, model: model(), journal });
    const waiting = await other().resume("r", { add: [more("two")] }).result;
    expect([waiting.status, waiting.questions.map(({ role, text }) => [role, text])]).toEqual(["waiting", [["Ann", "draft two"]]]);
    const answered = await (await other().answer("r", waiting.questions[0]?.id ?? "", "by Cleo")).result;
    expect([answered.status, answered.output?.content]).toEqual(["finished", "by Cleo"]);
    const again = await other().resume("r", { add: [more("three")] }).result;
    const [question] = again.questions;
    await other().giveBackRole("r", "Ann");
    await expect(other().answer("r", question?.id ?? "", "late")).rejects.toMatchObject({ code: "QUESTION_GIVEN_UP" });
    const last = await other().resume("r").result;
    expect([last.status, last.output?.content, last.questions]).toEqual(["finished", "by the model", []]);
    await isReplayed(roles, journal);
  });

  test.each([[true], [false]])("goes back to its model while its person is asked, with a person there: %s", async (isThere) => {
    const journal = memoryJournal();
    let [asks, stopped] = [(): void => {}, false];
    const isAsked = new Promise<void>((resolve) => (asks = resolve));
    const human = (_: HumanQuestion, { signal }: { readonly signal: AbortSignal }): Promise<never> => {
      asks();
      return new Promise((_resolve, reject) => signal.addEventListener("abort", () => ((stopped = true), reject(signal.reason as Error))));
    };
    let go = (): void => {};
    const mayGo = new Promise<void>((resolve) => (go = resolve));
    const Wait = defineAction({ name: "Wait", run: (ctx) => ctx.step("wait", {}, async () => (await mayGo, "went")) });
    const roles = [ann, defineRole({ name: "Wim", actions: [Wait], watch: [] })];
    const team = new Team({ seed: "s", roles, model: model(), journal, ...(isThere ? { human } : {}) });
    await team.run("one", { id: "r" }).result;
    await team.takeRole("r", "Ann");
    const news = ["Ann", "Wim"].map((sendTo) => createMessage("two", { causeBy: "More", sendTo }));
    const run = team.resume("r", { add: news });
    if (isThere) await isAsked;
    else for await (const event of run) if (event.type === "step.started" && event.kind === "human") break;
    await run.giveBackRole("Ann");
    go();
    const { status, messages } = await run.result;
    expect([status, contents(messages).slice(-2).toSorted(), stopped]).toEqual(["finished", ["by the model", "went"], isThere]);
    await isReplayed(roles, journal);
  });

  test("is refused, with what to do, where it cannot be taken or given back", async () => {
    const rosa = defineRole({ name: "Rosa", actions: [Judge], human: true });
    const { team, run } = await begun({ roles: [ann, bea, rosa], human: person({ good: true, why: "" }, { good: true, why: "" }).human });
    await run.retire("Bea");
    await expect(run.takeRole("Zoe")).rejects.toMatchObject({ code: "ROLE_UNKNOWN" });
    await expect(run.takeRole("Bea")).rejects.toMatchObject({ code: "ROLE_UNKNOWN" });
    await expect(run.takeRole("Rosa")).rejects.toMatchObject({
      code: "ROLE_TAKEN",
      message: expect.stringContaining("Answer its questions") as string,
    });
    await expect(run.giveBackRole("Ann")).rejects.toMatchObject({
      code: "ROLE_NOT_TAKEN",
      message: expect.stringContaining("Take it first") as string,
    });
    await expect(run.takeRole("Ann", { by: " " })).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await run.takeRole("Ann");
    await expect(team.takeRole("r", "Ann", { by: "Cleo" })).rejects.toMatchObject({ code: "ROLE_TAKEN" });
    await expect(team.replay("r").takeRole("Ann")).rejects.toMatchObject({ code: "REPLAY_FIXED" });
  });

  test("is its own again when it is retired, and hired again", async () => {
    const { team, run, journal, roles } = await begun({ roles: [ann, bea] });
    await run.takeRole("Ann");
    await run.retire("Ann");
    await run.hire(ann);
    const { status, output } = await team.resume("r", { add: [more("two")] }).result;
    expect([status, output?.instructContent]).toEqual(["finished", { good: true, why: "by the model" }]);
    await isReplayed(roles, journal);
  });
});

describe("an agent that a person takes", () => {
  const text = { name: "look", description: "Looks.", parameters: z.object({ at: z.string() }) };
  const look = defineTool({ ...text, execute: ({ at }) => `${at}: 7` });
  const agent = defineRole({ name: "Ada", reactMode: "agent", watch: ["UserRequirement", "More"], tools: [look] });

  test("goes on with that person in the middle of its work: a call in JSON, then words, which end it", async () => {
    const journal = memoryJournal();
    const { human, asked } = person('{"name": "look", "args": {"at": "there"}}', "it is 7");
    let take = (): Promise<void> => Promise.resolve();
    const parameters = z.object({});
    const here = defineTool({ name: "here", description: "Looks here.", parameters, execute: async () => (await take(), "nothing") });
    const roles = [defineRole({ name: "Ada", reactMode: "agent", tools: [look, here] })];
    const script = scriptedModel(() => calls(call("here", {})));
    const run = new Team({ seed: "s", roles, model: script, journal, human }).run("find it", { id: "r" });
    take = () => run.takeRole("Ada", { by: "Cleo" });
    const { status, output } = await run.result;
    expect([status, output?.content]).toEqual(["finished", "it is 7"]);
    expect(asked).toHaveLength(2);
    expect(asked[1]?.text).toContain("there: 7");
    await isReplayed(roles, journal);
  });

  test("has its memory summed up by its model, and not by that person", async () => {
    const asked: string[] = [];
    const human = (question: HumanQuestion): string => {
      asked.push(question.text);
      return asked.length < 9 ? `{"name": "look", "args": {"at": "place ${asked.length}"}}` : "by Cleo";
    };
    const long = defineTool({ ...text, execute: ({ at }) => `${at} ${"x".repeat(2_000)}` });
    const compaction = { contextTokens: 4_000, keepResults: 50 };
    const ada = defineRole({ name: "Ada", reactMode: "agent", watch: ["More"], tools: [long], agent: { compaction } });
    const script = scriptedModel(() => "They looked at some places.");
    const team = new Team({ seed: "s", roles: [ada, ann], model: script, journal: memoryJournal(), human });
    const run = team.run("one", { id: "r" });
    await run.result;
    await run.takeRole("Ada");
    const { output } = await team.resume("r", { add: [createMessage("two", { causeBy: "More", sendTo: "Ada" })] }).result;
    expect([output?.content, asked.length]).toEqual(["by Cleo", 9]);
    expect(script.calls.length).toBeGreaterThan(1);
    expect(asked.at(-1)).toContain("They looked at some places.");
  });

  test("is answered by words alone, with nothing paid", async () => {
    const { team, run, calls: paid } = await begun({ roles: [agent], human: person("by Cleo").human });
    await run.takeRole("Ada");
    const { output } = await team.resume("r", { add: [createMessage("two", { sendTo: "Ada" })] }).result;
    expect([output?.content, paid()]).toEqual(["by Cleo", 1]);
  });
});
