import { describe, expect, test } from "vitest";
import { TeamChange } from "../../src/message/address.ts";
import { createMessage, type Message } from "../../src/message/message.ts";
import { defineAction } from "../../src/role/action.ts";
import { defineRole, type Role, type RoleOptions } from "../../src/role/role.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import { fold } from "../../src/runtime/record/apply.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { answering, contents, listener } from "../runtime/town.ts";
import { eventsOf, journalWith } from "./recorded.ts";

/** Answers everything from outside with its own name and what it heard. */
function echo(name: string, watch: readonly string[] = ["UserRequirement"]): Role {
  return answering(name, (rc) => rc.news.map(({ content }) => rc.message(`${name}: ${content}`)), { watch });
}

function teamOf(options: TeamOptions = {}): { readonly team: Team; readonly journal: Journal } {
  const journal = options.journal ?? memoryJournal();
  return { team: new Team({ seed: "s", roles: [echo("Ann")], ...options, journal }), journal };
}

/** A role whose first activation works, within a step, until it is let go. */
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

async function isReplayed(team: Team, journal: Journal): Promise<void> {
  const replay = team.replay("r");
  const again: RunEvent[] = [];
  for await (const event of replay) again.push(event);
  const { error } = await replay.result;
  expect(error).toBeUndefined();
  expect(canonical(again)).toBe(canonical(await eventsOf(journal, "r")));
}

describe("a role that is hired on the way", () => {
  test.each(["rounds", "eager"] as const)("under %s gets what is said from then on, and the run replays", async (scheduler) => {
    const { role, atWork, go } = busy("Bea");
    const { team, journal } = teamOf({ roles: [role], scheduler });
    const run = team.run("idea", { id: "r" });
    await atWork;
    await run.hire(echo("Cid"));
    expect((await eventsOf(journal, "r")).at(-1)).toMatchObject({ type: "role.hired", roles: [{ name: "Cid" }] });
    expect((await run.publish("more")).recipients).toEqual(["Bea", "Cid"]);
    go();
    const result = await run.result;
    expect(contents(result.outputs).toSorted()).toEqual(["Bea heard idea", "Bea heard more", "Cid: more"]);
    expect(team.roleNames).toEqual(["Bea"]);
    await isReplayed(team, journal);
  });

  test("belongs to the run after its end too: it is resumed in this team, and in another with its definition", async () => {
    const { team, journal } = teamOf();
    const run = team.run("idea", { id: "r" });
    await run.result;
    await run.hire(echo("Bob"), { name: "Bert" });
    await team.send("r", "more");
    expect(contents((await team.resume("r").result).outputs)).toEqual(["Ann: idea", "Ann: more", "Bob: more"]);
    const copy = await journalWith("r", await eventsOf(journal, "r"));
    const without = teamOf({ journal: copy }).team;
    expect((await without.resume("r", { add: ["again"] }).result).error).toMatchObject({
      code: "TEAM_CHANGED",
      message: expect.stringContaining("Bert is missing") as string,
    });
    const other = teamOf({ journal: copy, reserve: [echo("Bob")] });
    expect(contents((await other.team.resume("r", { add: ["again"] }).result).outputs).slice(-2)).toEqual(["Ann: again", "Bob: again"]);
    await isReplayed(other.team, copy);
    expect(contents((await other.team.run("fresh").result).outputs)).toEqual(["Ann: fresh"]);
  });

  test("is hired into a run by its name, under way or at rest, and another process finds it in roles and in reserve", async () => {
    const { role, atWork, go } = busy("Ann");
    const options = { roles: [role], reserve: [echo("Bob")] };
    const { team, journal } = teamOf(options);
    const run = team.run("idea", { id: "r" });
    await atWork;
    await team.hireInto("r", "Bob");
    go();
    await run.result;
    const other = teamOf({ ...options, journal }).team;
    await other.hireInto("r", "Ann", { name: "Anne" });
    await expect(other.hireInto("r", "Bob")).rejects.toMatchObject({ code: "ROLE_DUPLICATE" });
    await expect(other.hireInto("r", "Zoe")).rejects.toMatchObject({
      code: "ROLE_UNKNOWN",
      message: expect.stringContaining("There are: Bob, Ann.") as string,
    });
    await other.retireFrom("r", "Bob");
    await expect(other.retireFrom("r", "Bob")).rejects.toMatchObject({ code: "ROLE_UNKNOWN" });
    const third = teamOf({ ...options, journal }).team;
    expect(contents((await third.resume("r", { add: ["more"] }).result).outputs).slice(-2)).toEqual(["Ann heard more", "Ann heard more"]);
    await isReplayed(teamOf({ ...options, journal }).team, journal);
  });

  test("may be hired by a colleague within a step, who can write to it at once", async () => {
    const deps: { hire?: () => Promise<void> } = {};
    const chief = answering("Ann", async (rc) => {
      const before = rc.introduction;
      const early = rc.message("too early", { sendTo: "Bob" });
      await rc.step("hire", {}, async () => {
        await deps.hire?.();
        return null;
      });
      return [early, rc.message(`${before.includes("Bob")} ${rc.introduction.includes("Bob")}`, { sendTo: "Bob" })];
    });
    const { team, journal } = teamOf({ roles: [chief, listener("Cid", { watch: [] })], description: "a shop" });
    const run = team.run("idea", { id: "r" });
    deps.hire = () => run.hire(echo("Bob", []));
    expect(contents((await run.result).outputs)).toEqual(["Bob: too early", "Bob: false true"]);
    await isReplayed(team, journal);
  });

  test("RoleState.R3, Directory.D3 an activation that had begun before knows the team of then, also when it runs again", async () => {
    const { team, journal } = teamOf({ roles: [], description: "a shop" });
    let [go, begun] = [(): void => {}, (): void => {}];
    const mayGo = new Promise<void>((resolve) => (go = resolve));
    const atWork = new Promise<void>((resolve) => (begun = resolve));
    // It waits for something that is no step: nothing in the record shows when it read its introduction.
    const slow = answering("Ann", async (rc) => {
      begun();
      await mayGo;
      return rc.message(`${rc.introduction.includes("Bob")}`, { sendTo: "<all>" });
    });
    team.hire(slow);
    const run = team.run("idea", { id: "r" });
    await atWork;
    await run.hire(echo("Bob", ["Ann"]));
    go();
    expect(contents((await run.result).outputs)).toEqual(["false"]);
    expect((await eventsOf(journal, "r")).find(({ type }) => type === "act.ended")).toMatchObject({ teamAt: 0 });
    await isReplayed(team, journal);
  });
});

describe("a change of the team", () => {
  test("TeamChanges.T1 is a message to roles that watch it, under the name of the role, and the run replays", async () => {
    const { role, atWork, go } = busy("Bea");
    const { team, journal } = teamOf({ roles: [role, echo("Cleo", [TeamChange.name])] });
    const run = team.run("idea", { id: "r" });
    await atWork;
    await run.hire(echo("Bob", []));
    await run.retire("Bob");
    go();
    const { messages, outputs } = await run.result;
    expect(messages.filter(({ causeBy }) => causeBy === TeamChange.name)).toMatchObject([
      { sentFrom: "Bob", content: "Bob has joined the team.", instructContent: { role: "Bob", change: "hired" } },
      { sentFrom: "Bob", content: "Bob has left the team.", instructContent: { role: "Bob", change: "retired" } },
    ]);
    expect(contents(outputs)).toContain("Cleo: Bob has left the team.");
    await isReplayed(team, journal);
  });

  test("is no message where no role watches it, or the only one that did is retired", async () => {
    const { team, journal } = teamOf({ roles: [echo("Ann"), echo("Cleo", [TeamChange.name])] });
    const run = team.run("idea", { id: "r" });
    await run.result;
    await run.retire("Cleo");
    await run.hire(echo("Bob", []));
    expect((await eventsOf(journal, "r")).filter(({ type }) => type === "message")).toHaveLength(1);
  });

  const heardOf = (messages: readonly Message[]): readonly string[] =>
    messages.filter(({ causeBy, sentFrom }) => causeBy === "Cleo" && sentFrom === "Cleo").map(({ content }) => content);
  const watcher = (name: string, o: Partial<RoleOptions> = {}): Role =>
    answering(name, (rc) => rc.news.map(({ content }) => rc.message(content)), { watch: [TeamChange.name], ...o });

  test("TeamChanges.T1 is heard of where the process dies right after it, or the run is forked there", async () => {
    const { team, journal } = teamOf({ roles: [echo("Ann"), echo("Bob", []), watcher("Cleo")] });
    const run = team.run("idea", { id: "r" });
    await run.result;
    await run.retire("Bob");
    const events = await eventsOf(journal, "r");
    const at = events.findIndex(({ type }) => type === "role.retired");
    const roles = [echo("Ann"), echo("Bob", []), watcher("Cleo")];
    const cut = await journalWith("r", events.slice(0, at + 1));
    const resumed = new Team({ seed: "s", roles, journal: cut });
    expect(heardOf((await resumed.resume("r", { add: ["more"] }).result).messages)).toEqual(["Bob has left the team."]);
    await isReplayed(resumed, cut);
    const forked = team.fork("r", { at: at + 1, id: "f" });
    expect(heardOf((await forked.result).messages)).toEqual(["Bob has left the team."]);
  });

  test("is heard of, also twice, where the run is resumed with another team", async () => {
    const { team, journal } = teamOf({ roles: [echo("Ann"), echo("Bob", []), watcher("Cleo")] });
    await team.run("idea", { id: "r" }).result;
    const other = new Team({ seed: "s", journal, roles: [echo("Ann"), watcher("Cleo"), echo("Dan", [])] });
    let messages: readonly Message[] = [];
    for (const one of [other, team, other]) ({ messages } = await one.resume("r", { add: ["more"], onTeamChange: "continue" }).result);
    const [others, both] = [
      ["Bob has left the team.", "Dan has joined the team."],
      ["Dan has left the team.", "Bob has joined the team."],
    ];
    expect(heardOf(messages)).toEqual([...others, ...both, ...others]);
  });

  test("is no news where a role that was hired unheard is left out again", async () => {
    const { team, journal } = teamOf();
    const run = team.run("idea", { id: "r" });
    await run.result;
    await run.hire(echo("Bob", []));
    const other = new Team({ seed: "s", journal, roles: [echo("Ann"), watcher("Cleo")] });
    const { messages } = await other.resume("r", { add: ["more"], onTeamChange: "continue" }).result;
    expect(heardOf(messages)).not.toContain("Bob has joined the team.");
  });

  test("is news of those who watch it, and of no role whose profile is a watcher's name", async () => {
    const ann = answering("Ann", () => undefined, { profile: "Cleo" });
    const { team, journal } = teamOf({ roles: [ann, watcher("Cleo")] });
    const run = team.run("idea", { id: "r" });
    await run.result;
    await run.hire(watcher("Bob"));
    expect((await eventsOf(journal, "r")).at(-1)).toMatchObject({ type: "message", to: ["Cleo", "Bob"] });
  });

  test("is recorded and warned of where a watcher's mailbox is full, and the others hear of it", async () => {
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (text: string) => void warnings.push(text) };
    const { team, journal } = teamOf({ roles: [echo("Ann"), watcher("Cleo"), watcher("Max", { mailbox: { limit: 1 } })], logger });
    const run = team.run("idea", { id: "r" });
    await run.result;
    for (const name of ["Bob", "Bert"]) await run.hire(echo(name, []));
    expect((await eventsOf(journal, "r")).filter(({ type }) => type === "role.hired")).toHaveLength(2);
    expect(warnings.join()).toContain("Max does not hear that Bert has joined the team.");
    expect(heardOf((await team.resume("r").result).messages)).toEqual(["Bob has joined the team.", "Bert has joined the team."]);
  });
});

describe("a role that is retired", () => {
  test("leaves its unread mail as dead letters, and has no address any more", async () => {
    const { team, journal } = teamOf({ roles: [echo("Ann"), echo("Bob")] });
    const run = team.run("idea", { id: "r" });
    await run.result;
    await team.send("r", createMessage("for Bob", { sendTo: "Bob", id: "m" }));
    const dead: string[] = [];
    run.on("message.dead", ({ message }) => void dead.push(message.content));
    await run.retire("Bob");
    expect((await eventsOf(journal, "r")).at(-1)).toMatchObject({ type: "role.retired", role: "Bob", keeps: 0 });
    expect(dead).toEqual(["for Bob"]);
    expect((await team.send("r", "more")).recipients).toEqual(["Ann"]);
    expect((await team.send("r", createMessage("late", { sendTo: "Bob" }))).recipients).toEqual([]);
    const result = await team.resume("r").result;
    expect(contents(result.outputs)).toEqual(["Ann: idea", "Bob: idea", "Ann: more"]);
    expect(result.deadLetters.map(({ message, reason }) => [message.content, reason.kind])).toEqual([
      ["for Bob", "retired"],
      ["late", "no such address"],
    ]);
    await isReplayed(team, journal);
    const without = teamOf({ journal }).team;
    expect((await without.resume("r", { add: ["and more"] }).result).status).toBe("finished");
  });

  test.each(["rounds", "eager"] as const)("under %s ends what it is at, and takes effect", async (scheduler) => {
    const { role, atWork, go } = busy("Bea");
    const { team, journal } = teamOf({ roles: [role, echo("Ann", [])], scheduler });
    const run = team.run("idea", { id: "r" });
    await atWork;
    await run.publish("never read");
    await run.retire("Bea");
    expect((await eventsOf(journal, "r")).at(-1)).toMatchObject({ type: "role.retired", role: "Bea", keeps: 1 });
    go();
    const result = await run.result;
    expect([result.status, contents(result.outputs)]).toEqual(["finished", ["Bea heard idea"]]);
    expect(result.deadLetters.map(({ message, reason }) => [message.content, reason])).toEqual([
      ["never read", { kind: "retired", role: "Bea" }],
    ]);
    await isReplayed(team, journal);
    const whole = await eventsOf(journal, "r");
    for (let cut = whole.findIndex(({ type }) => type === "role.retired") + 1; cut < whole.length; cut += 1) {
      const again = busy("Bea");
      again.go();
      const cutOff = teamOf({ roles: [again.role, echo("Ann", [])], scheduler, journal: await journalWith("r", whole.slice(0, cut)) });
      expect((await cutOff.team.resume("r").result).status).toBe("finished");
      expect(canonical(await eventsOf(cutOff.journal, "r"))).toBe(canonical(whole));
    }
  });

  test("is warned of where others watch what nobody causes any more", async () => {
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (text: string) => void warnings.push(text) };
    const Write = defineAction({ name: "Write", run: () => "a poem" });
    const Read = defineAction({ name: "Read", run: () => "read" });
    const wim = defineRole({ name: "Wim", actions: [Write] });
    const rea = defineRole({ name: "Rea", actions: [Read], watch: [Write] });
    const { team } = teamOf({ roles: [wim, rea], logger });
    const run = team.run("idea", { id: "r" });
    await run.result;
    await run.retire("Wim");
    expect(warnings.join()).toContain('Rea watches "Write", which no role of this team can cause');
  });

  test("comes back under its name with what it remembers; another role does not get the name", async () => {
    const counter = answering("Cat", (rc) => rc.message(`${rc.memory.get().length} remembered`));
    const { team, journal } = teamOf({ roles: [echo("Ann", []), counter] });
    const run = team.run("idea", { id: "r" });
    await run.result;
    await run.retire("Cat");
    await expect(run.hire(echo("Cat", ["Else"]))).rejects.toMatchObject({ code: "ROLE_DUPLICATE" });
    await expect(run.hire(echo("Dan"), { name: "Cat" })).rejects.toThrow(/another role of the run had until it was retired/);
    await team.send("r", "unheard");
    await run.hire(counter);
    const { outputs } = await team.resume("r", { add: ["heard"] }).result;
    expect(contents(outputs)).toEqual(["1 remembered", "2 remembered"]);
    await isReplayed(team, journal);
  });
});

describe("what is refused", () => {
  test("an unknown or retired name, the last role, a role twice, and what is no role; nothing is recorded", async () => {
    const { team, journal } = teamOf({ roles: [echo("Ann"), echo("Bob")] });
    const run = team.run("idea", { id: "r" });
    await run.result;
    await run.retire("Bob");
    const before = await eventsOf(journal, "r");
    await expect(run.retire("Zoe")).rejects.toThrow(/"Zoe".*There are: Ann/);
    await expect(run.retire("Bob")).rejects.toThrow(/retired before/);
    await expect(run.retire("Ann")).rejects.toMatchObject({ code: "ROLES_NONE" });
    await expect(run.hire(echo("Ann"))).rejects.toMatchObject({ code: "ROLE_DUPLICATE" });
    await expect(run.hire({ name: "Eve" } as Role)).rejects.toMatchObject({ code: "ROLE_INVALID" });
    await expect(run.hire(echo("Eve"), { name: "<all>" })).rejects.toMatchObject({ code: "ROLE_INVALID" });
    const Write = (): Role => defineRole({ name: "Eve", actions: [defineAction({ name: "Write", run: () => "x" })] });
    await run.hire(Write());
    await expect(run.hire(Write(), { name: "Eva" })).rejects.toMatchObject({ code: "ACTION_DUPLICATE" });
    expect(await eventsOf(journal, "r")).toHaveLength(before.length + 1);
    expect([...fold(await eventsOf(journal, "r")).roles.keys()]).toEqual(["Ann", "Bob", "Eve"]);
  });
});
