import { describe, expect, test } from "vitest";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { createMessage } from "../../src/message/message.ts";
import type { MicroUsd } from "../../src/model/money.ts";
import type { Role } from "../../src/role/role.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { answering, contents, listener } from "../runtime/town.ts";
import { appendingBy, eventsOf } from "./recorded.ts";

/** Answers everything from outside with its own name and what it heard. */
function echo(name = "Ann", watch: readonly string[] = ["UserRequirement"]): Role {
  return answering(name, (rc) => rc.news.map(({ content }) => rc.message(`${name}: ${content}`)), { watch });
}

function teamOf(options: TeamOptions = {}): { readonly team: Team; readonly journal: Journal } {
  const journal = options.journal ?? memoryJournal();
  return { team: new Team({ seed: "s", roles: [echo()], ...options, journal }), journal };
}

/** A role that works until it is let go. */
function busy(name: string): { readonly role: Role; readonly atWork: Promise<void>; readonly go: () => void } {
  let [go, begun] = [(): void => {}, (): void => {}];
  const mayGo = new Promise<void>((resolve) => (go = resolve));
  const atWork = new Promise<void>((resolve) => (begun = resolve));
  const role = answering(name, async (rc) => {
    if (rc.news.some(({ content }) => content === "idea")) {
      await rc.step("work", {}, async () => {
        begun();
        await mayGo;
        return null;
      });
    }
    return rc.message(`${name} heard ${contents(rc.news).join(", ")}`);
  });
  return { role, atWork, go };
}

const typesOf = (events: readonly RunEvent[]): readonly string[] => events.map(({ type }) => type);

describe("a message into a run under way", () => {
  test.each(["rounds", "eager"] as const)("under %s it is recorded at once and read at the role's next turn", async (scheduler) => {
    const { role, atWork, go } = busy("Bea");
    const { team, journal } = teamOf({ roles: [role], scheduler });
    const run = team.run("idea", { id: "r" });
    const told: string[] = [];
    run.on("message", ({ message }) => void told.push(message.content));
    await atWork;
    const receipt = await run.publish("faster");
    expect(receipt).toMatchObject({ recipients: ["Bea"], waits: false });
    expect(receipt.message).toMatchObject({ id: "user#2", content: "faster", causeBy: "UserRequirement", sentFrom: "" });
    expect((await eventsOf(journal, "r")).at(-1)).toMatchObject({ type: "message", message: { content: "faster" } });
    go();
    const result = await run.result;
    expect(contents(result.outputs)).toEqual(["Bea heard idea", "Bea heard faster"]);
    expect(told).toEqual(["idea", "faster"]);
    expect(typesOf(await eventsOf(journal, "r")).filter((type) => type === "run.ended")).toHaveLength(1);
  });

  test("waits for the start of the run, and keeps the order of the calls", async () => {
    const { team } = teamOf();
    const run = team.run("idea", { id: "r" });
    await Promise.all(["one", "two", "three"].map((text) => run.publish(text)));
    expect(contents((await run.result).messages.filter(({ sentFrom }) => sentFrom === ""))).toEqual(["idea", "one", "two", "three"]);
  });

  test.each(["rounds", "eager"] as const)("Run.H3 under %s none is lost, however near the end it comes", async (scheduler) => {
    const fates = new Set<boolean>();
    for (let ticks = 0; ticks < 40; ticks += 1) {
      const { team, journal } = teamOf({ scheduler });
      const run = team.run("idea", { id: "r" });
      const receipt = new Promise((resolve) => {
        const publishLate = async (): Promise<void> => {
          for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
          resolve(run.publish(createMessage("late", { id: "late" })));
        };
        run.on("role.idle", () => void publishLate());
      });
      const result = await run.result;
      const { waits } = (await receipt) as { readonly waits: boolean };
      fates.add(waits);
      const isHeard = contents(result.outputs).includes("Ann: late");
      expect(isHeard, `${ticks} ticks after the last turn`).toBe(!waits);
      const events = await eventsOf(journal, "r");
      expect(events.filter((event) => event.type === "message" && event.message.id === "late")).toHaveLength(1);
      const end = await team.resume("r").result;
      expect(contents(end.outputs)).toEqual(["Ann: idea", "Ann: late"]);
      expect(typesOf(await eventsOf(journal, "r")).filter((type) => type === "run.ended")).toHaveLength(waits ? 2 : 1);
    }
    expect(fates).toEqual(new Set([false, true]));
  });
});

describe("a message into a run that has ended", () => {
  test("is recorded behind its end, starts nothing, and is read when the run is resumed", async () => {
    const { team, journal } = teamOf();
    const run = team.run("idea", { id: "r" });
    await run.result;
    const told: string[] = [];
    run.on("message", ({ message }) => void told.push(message.content));
    const before = typesOf(await eventsOf(journal, "r"));
    expect(await run.publish("more")).toMatchObject({ recipients: ["Ann"], waits: true });
    expect(await team.send("r", "and more")).toMatchObject({ message: { id: "user#3" }, waits: true });
    expect(told).toEqual(["more"]);
    expect(typesOf(await eventsOf(journal, "r"))).toEqual([...before, "message", "message"]);
    const result = await team.resume("r").result;
    expect(contents(result.outputs)).toEqual(["Ann: idea", "Ann: more", "Ann: and more"]);
    expect(result.status).toBe("finished");
  });

  test("Runs.U3 many at once, and a resume among them: all are recorded, none twice", async () => {
    const { team, journal } = teamOf();
    await team.run("idea", { id: "r" }).result;
    const texts = Array.from({ length: 20 }, (_, n) => `wish ${n}`);
    const sent = texts.map((text, n) => {
      if (n === 10) void team.resume("r");
      return team.send("r", text);
    });
    await Promise.all(sent);
    await team.resume("r").result;
    const result = await team.resume("r").result;
    expect(contents(result.outputs)).toEqual(["Ann: idea", ...texts.map((text) => `Ann: ${text}`)]);
    expect((await eventsOf(journal, "r")).filter(({ type }) => type === "message")).toHaveLength(21);
  });
});

test("MemoryJournal.K4 a run that was told something after its end is not forgotten", async () => {
  const journal = memoryJournal({ limit: 1 });
  const { team } = teamOf({ journal });
  await team.run("idea", { id: "r" }).result;
  await team.send("r", "more");
  await team.run("another", { id: "other" }).result;
  expect(contents((await team.resume("r").result).outputs)).toEqual(["Ann: idea", "Ann: more"]);
});

describe("a message that comes again", () => {
  test("is known by its id, and its first receipt is returned", async () => {
    const { team, journal } = teamOf();
    await team.run("idea", { id: "r" }).result;
    const wish = createMessage("blue", { id: "wish-1" });
    const first = await team.send("r", wish);
    const again = await team.send("r", createMessage("blue", { id: "wish-1" }));
    expect(again).toEqual({ ...first, message: first.message });
    await team.resume("r").result;
    expect(await team.send("r", wish)).toMatchObject({ recipients: ["Ann"], waits: false });
    expect((await eventsOf(journal, "r")).filter(({ type }) => type === "message")).toHaveLength(2);
  });

  test("is refused when it says something else", async () => {
    const { team, journal } = teamOf();
    await team.run("idea", { id: "r" }).result;
    await team.send("r", createMessage("blue", { id: "wish-1" }));
    const events = (await eventsOf(journal, "r")).length;
    await expect(team.send("r", createMessage("red", { id: "wish-1" }))).rejects.toMatchObject({ code: "MESSAGE_KNOWN" });
    expect(await eventsOf(journal, "r")).toHaveLength(events);
  });
});

describe("whom a message reaches", () => {
  const crew = (): Role[] => [echo("Ann"), echo("Fay", ["UserFeedback"])];

  test("a text is feedback where a role watches it, unless it is the idea", async () => {
    const { team } = teamOf({ roles: crew() });
    await team.run("idea", { id: "r" }).result;
    const { message, recipients } = await team.send("r", "larger buttons");
    expect([message.causeBy, recipients]).toEqual(["UserFeedback", ["Fay"]]);
  });

  test("a message that names no cause gets the one that its recipient watches", async () => {
    const { team } = teamOf({ roles: crew() });
    await team.run("idea", { id: "r" }).result;
    const causeFor = async (sendTo: string): Promise<string> => (await team.send("r", createMessage("x", { sendTo }))).message.causeBy;
    expect([await causeFor("Ann"), await causeFor("Fay")]).toEqual(["UserRequirement", "UserFeedback"]);
    const named = await team.send("r", createMessage("x", { causeBy: "UserRequirement" }));
    expect(named.recipients).toEqual(["Ann"]);
  });
});

describe("what is refused", () => {
  const started = async (options: TeamOptions = {}): Promise<{ readonly team: Team; readonly journal: Journal }> => {
    const made = teamOf(options);
    await made.team.run("idea", { id: "r" }).result;
    return made;
  };

  test("an unknown run, one that has not begun, one of another team, one of another process", async () => {
    const { journal } = await started();
    const unknown = teamOf({ journal }).team.send("nobody's", "x");
    await expect(unknown).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
    await journal.create("empty");
    await expect(teamOf({ journal }).team.send("empty", "x")).rejects.toMatchObject({ code: "RUN_NOT_STARTED" });
    const others = teamOf({ journal, roles: [echo(), listener("New")] }).team.send("r", "x");
    await expect(others).rejects.toMatchObject({ code: "TEAM_CHANGED" });
    const owned = Object.assign(new Error("owned"), { code: "RUN_OWNED" });
    const held: Journal = { ...appendingBy(journal, (...given) => journal.append(...given)), claim: () => Promise.reject(owned) };
    await expect(teamOf({ journal: held }).team.send("r", "x")).rejects.toMatchObject({ code: "RUN_OWNED" });
    expect(typesOf(await eventsOf(journal, "r")).at(-1)).toBe("run.ended");
  });

  test("what is no message, what is too long, and what finds no room", async () => {
    const { team } = await started({ messageLimit: 10, mailbox: { limit: 1 } });
    await expect(team.send("r", 7 as unknown as string)).rejects.toMatchObject({ code: expect.stringMatching(/INVALID/) as string });
    await expect(team.send("r", "x".repeat(11))).rejects.toMatchObject({ code: "MESSAGE_TOO_LONG" });
    await team.send("r", "one");
    await expect(team.send("r", "two")).rejects.toMatchObject({ code: "MAILBOX_FULL" });
    await expect(team.send("r", "x", { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORTED" });
  });
});

describe("the bounds of a run hold across its ends", () => {
  test("its rounds, for each message that comes after an end", async () => {
    const { team } = teamOf();
    const { rounds } = await team.run("idea", { id: "r", rounds: 1 }).result;
    expect(rounds).toBe(1);
    await team.send("r", "more");
    const { status, rounds: inAll, outputs } = await team.resume("r").result;
    expect([status, inAll, contents(outputs)]).toEqual(["finished", 2, ["Ann: idea", "Ann: more"]]);
  });

  const asking = (): Role =>
    answering("Ann", async (rc) => rc.message(await rc.ask(contents(rc.news).join())), { watch: ["UserRequirement"] });
  const model = () =>
    scriptedModel(() => ({ content: "yes", usage: { inputTokens: 0, outputTokens: 10 } }), {
      price: { input: 0, output: 1 },
      maxOutputTokens: 10,
    });

  test("its budget", async () => {
    const { team } = teamOf({ roles: [asking()], model: model() });
    expect((await team.run("idea", { id: "r", budget: 15 as MicroUsd }).result).cost.known).toBe(10);
    await team.send("r", "more");
    const result = await team.resume("r").result;
    expect([result.status, result.cost.known]).toEqual(["budget", 10]);
    expect((await team.resume("r", { budget: 20 as MicroUsd }).result).status).toBe("finished");
  });
});

describe("a resume with messages", () => {
  test("records them with it, and continues", async () => {
    const { team, journal } = teamOf();
    await team.run("idea", { id: "r" }).result;
    const before = (await eventsOf(journal, "r")).length;
    const result = await team.resume("r", { add: ["one", createMessage("two", { sendTo: "Ann" })] }).result;
    expect(contents(result.outputs)).toEqual(["Ann: idea", "Ann: one", "Ann: two"]);
    expect(typesOf(await eventsOf(journal, "r")).slice(before, before + 3)).toEqual(["run.resumed", "message", "message"]);
  });

  test("is refused while the run is under way", async () => {
    const { role, atWork, go } = busy("Bea");
    const { team } = teamOf({ roles: [role] });
    const run = team.run("idea", { id: "r" });
    await atWork;
    expect(() => team.resume("r", { add: ["wish"] })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }) as Error);
    expect(team.resume("r")).toBe(run);
    go();
    await run.result;
    await nextMacrotask();
  });
});
