import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkCrew, openCrew, readCrew } from "../../../roles/index.ts";
import { type ChatRequest, memoryJournal, type RunResult, Team } from "../../../src/index.ts";
import { scriptedModel } from "../../../src/testing/index.ts";
import { memoryWorkspace, refusedSandbox } from "../../../src/workspace/index.ts";
import { tries } from "../../long.ts";

const ports = { workspace: memoryWorkspace(), sandbox: refusedSandbox("nothing runs in this test", "Choose a sandbox.") };

/** Ben asks Ann, who answers or passes the question on to Mia; what Ben disputes goes to Mia too, and so does a question too many. */
const CREW = `
roles:
  - name: Ben
    actions:
      - { name: Ask, on: [UserRequirement, Test], prompt: "Ask: {{text}}", sendTo: [Ann], limit: 2, escalate: { to: [Mia] } }
      - name: Build
        on: [Answer, Rule]
        prompt: "Build {{UserRequirement}}. Heard: {{text}}"
        output: { result: text, verdict: { oneOf: [built, disputed] } }
        sendTo: [Dot]
        limit: 4
        escalate: { to: [Mia], when: { verdict: disputed } }
  - name: Ann
    actions:
      - name: Answer
        on: Ask
        prompt: "{{text}}"
        output: { answer: text, sure: { oneOf: ["yes", "no"] } }
        sendTo: [Ben]
        escalate: { to: [Mia], when: { sure: "no" } }
  - name: Mia
    human: true
    actions: [{ name: Rule, on: [Ask, Answer, Build], prompt: "{{text}}", sendTo: [Ben] }]
  - name: Dot
    actions:
      - { name: Test, on: Build, prompt: "Test {{text}}", output: { fails: { oneOf: ["yes", "no"] } }, sendTo: [Ben], endsWhen: { fails: "no" } }
`;

interface Script {
  readonly sure?: readonly boolean[];
  readonly disputes?: readonly boolean[];
  readonly fails?: readonly boolean[];
}

/** Plays the crew, and replays its run. Returns who said what to whom. */
async function played({
  sure = [],
  disputes = [],
  fails = [],
}: Script): Promise<{ readonly result: RunResult; readonly said: readonly string[] }> {
  const at = { sure: 0, disputes: 0, fails: 0 };
  const next = (of: keyof Script, list: readonly boolean[], otherwise: boolean): boolean => list[at[of]++] ?? otherwise;
  const answer = ({ messages }: ChatRequest): string => {
    const question = String(messages.at(-1)?.content);
    if (question.startsWith("Ask")) return "which store?";
    if (question.startsWith("Build"))
      return JSON.stringify({ result: "it", verdict: next("disputes", disputes, false) ? "disputed" : "built" });
    if (question.startsWith("Test")) return JSON.stringify({ fails: next("fails", fails, false) ? "yes" : "no" });
    return JSON.stringify({ answer: "a file", sure: next("sure", sure, true) ? "yes" : "no" });
  };
  const [{ roles }, journal] = [openCrew(await readCrew(CREW), ports), memoryJournal()];
  const human = (): string => "SQLite";
  const result = await new Team({ roles, model: scriptedModel(answer), journal, human }).run("a shop", { id: "r" }).result;
  const replayed = await new Team({ roles, model: scriptedModel(answer), journal }).replay("r").result;
  expect([replayed.status, replayed.messages]).toEqual([result.status, result.messages]);
  return { result, said: result.messages.slice(1).map(({ causeBy, sendTo }) => `${causeBy} to ${sendTo.join()}`) };
}

describe("a question of a crew's role to a colleague", () => {
  it("comes back as a message, with which it works", async () => {
    expect((await played({})).said).toEqual(["Ask to Ann", "Answer to Ben", "Build to Dot", "Test to <none>"]);
  });

  it("goes to a person where the colleague cannot answer it, or the answer is disputed", async () => {
    const { said } = await played({ sure: [false], disputes: [true] });
    expect(said).toEqual(["Ask to Ann", "Answer to Mia", "Rule to Ben", "Build to Mia", "Rule to Ben", "Build to Dot", "Test to <none>"]);
  });

  it("is bounded: the first one too many goes to that person, and no other to anyone", async () => {
    const { said } = await played({ fails: [true, true, true, true] });
    expect(said.filter((one) => one.startsWith("Ask"))).toEqual(["Ask to Ann", "Ask to Ann", "Ask to Mia", "Ask to <none>"]);
  });

  it("of an agent is an answer that asks: it goes on when the colleague has answered", async () => {
    const crew = `
roles:
  - name: Ben
    watch: [UserRequirement, Answer]
    tools: [editor]
    actions:
      - name: Work
        output: { says: { oneOf: [done, question] }, words: text }
        escalate: { to: [Ann], when: { says: question } }
        endsWhen: { says: done }
        limit: 3
  - name: Ann
    actions: [{ name: Answer, on: Work, prompt: "{{Work.words}}", sendTo: [Ben] }]
`;
    const { roles } = openCrew(await readCrew(crew), ports);
    const script = ['{"says":"question","words":"which store?"}', "a file", '{"says":"done","words":"built"}'];
    const { status, messages } = await new Team({ roles, model: scriptedModel(script) }).run("a shop").result;
    expect([status, messages.map(({ sentFrom, content }) => `${sentFrom}: ${content}`)]).toEqual([
      "finished",
      [": a shop", "Ben: says: question\nwords: which store?", "Ann: a file", "Ben: says: done\nwords: built"],
    ]);
  });

  it("property: whatever is answered, the run ends within what the check reports", { tags: "numbers" }, async () => {
    const { roles } = openCrew(await readCrew(CREW), ports);
    const { faults, calls = 0 } = await checkCrew({
      roles,
      model: { id: "small", price: { input: 1, output: 1 } },
      output: ["Build", "Test"],
    });
    expect(faults).toEqual([]);
    const flags = fc.array(fc.boolean(), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(fc.record({ sure: flags, disputes: flags, fails: flags }), async (script) => {
        const { result, said } = await played(script);
        expect(result.status).toBe("finished");
        expect(said.length).toBeLessThanOrEqual(calls + said.filter((one) => one.startsWith("Rule")).length);
      }),
      { numRuns: tries(10, 200) },
    );
  });

  it.each([
    ["nobody", "to: [Mia], when: { verdict", "to: [Max], when: { verdict", /escalate to name roles or profiles, got "Max"/],
    ["a field that it does not say", "when: { verdict", "when: { mood", /when to name fields of the output, got "mood"/],
    ["no moment", "limit: 2, escalate", "escalate", /escalate to have when, or its action a limit/],
  ])("is refused with an escalation to %s", async (_what, from, to, message) => {
    await expect(readCrew(CREW.replace(from, to))).rejects.toThrow(message);
  });
});
