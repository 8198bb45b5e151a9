import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MeetingDecision } from "../../../actions/meeting.ts";
import { checkCrew, openCrew, readCrew } from "../../../roles/index.ts";
import { type ChatRequest, memoryJournal, type Role, type RunResult, Team, type TeamOptions } from "../../../src/index.ts";
import { scriptedModel } from "../../../src/testing/index.ts";
import { memoryWorkspace, refusedSandbox } from "../../../src/workspace/index.ts";
import { tries } from "../../long.ts";

const ports = { workspace: memoryWorkspace(), sandbox: refusedSandbox("nothing runs in this test", "Choose a sandbox.") };

const NAMES = ["Ann", "Ben", "Cid"] as const;

const meetingOf = (rest: string = ""): string => `
meetings:
  - { name: Kick, on: UserRequirement, moderator: Mia, participants: [Ann, Ben, Cid], agenda: [which store]${rest} }`;

const CREW = `
roles:
  - name: Mia
  - name: Ann
  - name: Ben
  - name: Cid
  - name: Dot
    actions: [{ name: Build, on: Kick, prompt: "Build {{Kick}}" }]
reserve:
  - name: Eve`;

type Leave = (nth: number, name: string) => Promise<unknown> | undefined;

/** Ann and Ben propose, and each votes for the first proposal. */
function talkative(leave: Leave = () => undefined) {
  let asked = 0;
  return scriptedModel(async ({ messages }: ChatRequest) => {
    const [system, question] = [String(messages[0]?.content), String(messages.at(-1)?.content)];
    const name = /(?:named|You are) (\w+)/.exec(system)?.[1] ?? "";
    asked += 1;
    await leave(asked, name);
    if (!question.includes("## Your turn")) return "built";
    if (question.includes("You moderate")) return JSON.stringify({ chosen: "p1", speech: "I take p1." });
    if (question.includes("Vote for one")) return JSON.stringify({ vote: "p1", speech: "Yes." });
    const act = /Round 1/.test(question) && name !== "Cid" ? "propose" : "pass";
    return JSON.stringify({ act, speech: `${name} says so.` });
  });
}

interface Held {
  readonly result: RunResult;
  readonly decisions: readonly MeetingDecision[];
}

/** Holds the meeting, with what happens at the questions to its models, and replays it. */
async function held(text: string, happens: (run: ReturnType<Team["run"]>) => Leave, o: TeamOptions = {}): Promise<Held> {
  const { roles, reserve } = openCrew(await readCrew(text), ports);
  const journal = memoryJournal();
  let leave: Leave = () => undefined;
  const model = talkative((nth, name) => leave(nth, name));
  const run = new Team({ roles, reserve, model, journal, ...o }).run("a shop", { id: "r" });
  leave = happens(run);
  const result = await run.result;
  const replayed = await new Team({ roles, reserve, model: talkative(), journal, ...o }).replay("r").result;
  expect([replayed.error, replayed.status, replayed.messages]).toEqual([undefined, result.status, result.messages]);
  const decisions = result.messages.flatMap(({ causeBy, instructContent }) =>
    causeBy === "Kick" ? [instructContent as MeetingDecision] : [],
  );
  return { result, decisions };
}

describe("a meeting whose participants are not all there", () => {
  it.each([
    ["was retired before it is opened", 0],
    ["is retired while the others speak", 2],
    ["is retired while the others vote", 7],
  ])("decides without one that %s", async (_when, at) => {
    const happens = (run: ReturnType<Team["run"]>): Leave => {
      if (at === 0) void run.retire("Cid");
      return (nth) => (nth === at ? run.retire("Cid") : undefined);
    };
    const { decisions, result } = await held(CREW + meetingOf(), happens, { concurrency: 1 });
    expect(decisions.map(({ chosen, way, votes }) => [chosen, way, votes])).toEqual([["p1", "majority", { Ann: "p1", Ben: "p1" }]]);
    expect(decisions[0]?.absent).toEqual(["Cid"]);
    expect(result.messages.at(-1)?.causeBy).toBe("Build");
  });

  it("does not wait for one of the reserve who was never hired, and asks one who was", async () => {
    const text = CREW + meetingOf().replace("[Ann, Ben, Cid]", "[Ann, Ben, Eve]");
    const { decisions } = await held(text, () => () => undefined);
    expect(decisions.map(({ absent, votes }) => [absent, Object.keys(votes)])).toEqual([[["Eve"], ["Ann", "Ben"]]]);
    const { roles, reserve } = openCrew(await readCrew(text), ports);
    const run = new Team({ roles, reserve, model: talkative() }).run("a shop");
    void run.hire(reserve[0] as (typeof reserve)[number]);
    const { messages } = await run.result;
    const decision = messages.find(({ causeBy }) => causeBy === "Kick")?.instructContent as MeetingDecision;
    expect([decision.absent, Object.keys(decision.votes)]).toEqual([[], ["Ann", "Ben", "Eve"]]);
  });

  it("decides nothing where all have left, and ends", async () => {
    const { decisions, result } = await held(CREW + meetingOf(), (run) => {
      for (const name of NAMES) void run.retire(name);
      return () => undefined;
    });
    expect(decisions.map(({ way, absent }) => [way, absent])).toEqual([["undecided", [...NAMES]]]);
    expect(result.status).toBe("finished");
  });

  it("property: whoever leaves whenever, it decides once, by the votes of those who stay", async () => {
    const leaving = fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 10 }), fc.constantFrom(...NAMES)), { selector: ([, name]) => name });
    await fc.assert(
      fc.asyncProperty(
        leaving,
        fc.constantFrom("majority", "consensus", "moderator", "median"),
        fc.constantFrom("rounds" as const, "eager" as const),
        async (leavings, decide, scheduler) => {
          const { decisions, result } = await held(
            CREW + meetingOf(`, decide: ${decide}`),
            (run) => {
              const leave = (at: number): Promise<unknown> =>
                Promise.all(leavings.flatMap(([nth, name]) => (nth === at ? [run.retire(name)] : [])));
              void leave(0);
              return (nth) => leave(nth);
            },
            { scheduler },
          );
          expect(result.status).toBe("finished");
          expect(decisions).toHaveLength(1);
          const [{ absent, votes }] = decisions as [MeetingDecision];
          const gone = leavings.map(([, name]) => name);
          expect(absent.filter((name) => !gone.includes(name as (typeof NAMES)[number]))).toEqual([]);
          expect(Object.keys(votes).filter((name) => absent.includes(name))).toEqual([]);
        },
      ),
      { numRuns: tries(15, 300) },
    );
  });
});

/** A promise that a test resolves. */
function gate(): { readonly passed: Promise<void>; readonly open: () => void } {
  let open = (): void => {};
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}

describe("a role that is retired in a meeting and hired again", () => {
  const text = CREW + meetingOf().replace("on: UserRequirement", "on: [UserRequirement, UserFeedback]");
  const decisionsIn = ({ messages }: RunResult): readonly MeetingDecision[] =>
    messages.flatMap(({ causeBy, instructContent }) => (causeBy === "Kick" ? [instructContent as MeetingDecision] : []));
  const hired = (roles: readonly Role[], name: string): Role => roles.find((role) => role.name === name) as Role;

  it("gives no answer to the next meeting that was meant for the last one", async () => {
    const { roles } = openCrew(await readCrew(text), ports);
    const [asked, late, isNext] = [gate(), gate(), gate()];
    let decided = 0;
    let ofCid = 0;
    const model = talkative(async (_nth, name) => {
      if (name === "Cid" && (ofCid += 1) === 1) {
        asked.open();
        await late.passed;
      }
      if (decided === 1 && name === "Ann") isNext.open();
    });
    const run = new Team({ roles, model, scheduler: "eager" }).run("first", { id: "r" });
    const isDecided = new Promise<void>((resolve) => {
      run.on("act.ended", ({ said }) => {
        if (said.some(({ message }) => message.causeBy === "Kick")) resolve(void (decided += 1));
      });
    });
    await asked.passed;
    await run.retire("Cid");
    await isDecided;
    await run.hire(hired(roles, "Cid"));
    await run.publish("second");
    await isNext.passed;
    late.open();
    const [first, second] = decisionsIn(await run.result);
    expect(first).toMatchObject({ absent: ["Cid"], votes: { Ann: "p1", Ben: "p1" } });
    expect(second).toMatchObject({ absent: [], votes: { Ann: "p1", Ben: "p1", Cid: "p1" } });
    expect(second?.minutes.filter(({ by, round }) => by === "Cid" && round === 1)).toHaveLength(1);
  });

  it("and moderates it, asks again what it has asked", async () => {
    const { roles } = openCrew(await readCrew(text), ports);
    let retire = (): Promise<unknown> => Promise.resolve();
    const model = talkative((nth) => (nth === 3 ? retire() : undefined));
    const team = new Team({ roles, model, journal: memoryJournal(), concurrency: 1 });
    const run = team.run("first", { id: "r" });
    retire = () => run.retire("Mia");
    expect(decisionsIn(await run.result)).toEqual([]);
    await team.hireInto("r", "Mia");
    expect(decisionsIn(await team.resume("r").result).map(({ chosen }) => chosen)).toEqual(["p1"]);
  });

  it("is opened once where its moderator comes back with a new call", async () => {
    const { roles } = openCrew(await readCrew(text), ports);
    const team = new Team({ roles, model: talkative(), journal: memoryJournal() });
    await team.run("first", { id: "r" }).result;
    await team.retireFrom("r", "Mia");
    await team.hireInto("r", "Mia");
    const result = await team.resume("r", { add: ["second"] }).result;
    expect(decisionsIn(result)).toHaveLength(2);
    expect(result.messages.filter(({ speech = "" }) => speech.startsWith("I open"))).toHaveLength(2);
  });
});

describe("an agent in a meeting", () => {
  const AGENT = (CREW + meetingOf()).replace("- name: Ben", "- name: Ben\n    tools: [planning]\n    watch: [Kick]");

  it("speaks and votes by one question each, and works with its tools on the decision", async () => {
    const { decisions, result } = await held(AGENT, () => () => undefined);
    expect(decisions.map(({ chosen, votes, calls }) => [chosen, Object.keys(votes), calls])).toEqual([["p1", [...NAMES], 9]]);
    expect(result.messages.filter(({ sentFrom, causeBy }) => sentFrom === "Ben" && causeBy === "Ben")).toHaveLength(1);
  });

  it("has no fault, and is bounded before it starts", async () => {
    const { roles } = openCrew(await readCrew(AGENT), ports);
    const { faults, roles: bounds } = await checkCrew({ roles, model: { id: "small", price: { input: 1, output: 1 } } });
    expect(faults).toEqual([]);
    expect(bounds.find(({ name }) => name === "Ben")?.calls).toBeGreaterThan(20);
  });
});
