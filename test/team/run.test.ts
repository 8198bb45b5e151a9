import { describe, expect, test } from "vitest";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import type { Role } from "../../src/role/role.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { answering, contents, listener } from "../runtime/town.ts";
import { eventsOf } from "./recorded.ts";

/** A role that waits in a step until the test lets it go. */
function held(name: string): { role: Role; letGo: () => void; begun: () => boolean } {
  let letGo = (): void => {};
  let begun = false;
  const gate = new Promise<void>((resolve) => (letGo = resolve));
  const role = answering(name, async (rc) => {
    begun = true;
    await rc.step("wait", {}, () => gate);
    return rc.message(`${name} is done`);
  });
  return { role, letGo: () => letGo(), begun: () => begun };
}

function team(roles: Role[], options: TeamOptions = {}): Team {
  return new Team({ seed: "s", ...options, roles });
}

async function seqs(run: AsyncIterable<RunEvent>): Promise<number[]> {
  const seen: number[] = [];
  for await (const event of run) seen.push(event.seq);
  return seen;
}

async function settled(): Promise<void> {
  for (let i = 0; i < 10; i += 1) await nextMacrotask();
}

const chain = (): Role[] => [answering("Ann", (rc) => rc.message("x", { sendTo: "Bob" })), listener("Bob", { watch: [] })];

describe("Run.H1 iterating a run", () => {
  test("every iterator gets every event from 0, in order, and ends with the run: at once, late, two together", async () => {
    const run = team(chain()).run("go");
    const [one, two] = [seqs(run), seqs(run)];
    await run.result;
    const dense = (await one).map((_, place) => place);
    expect(await one).toEqual(dense);
    expect(await two).toEqual(dense);
    expect(await seqs(run)).toEqual(dense);
    expect(dense.length).toBeGreaterThan(5);
  });

  test("an event that became durable while the iterator was reading is told at once, not with the next one", async () => {
    const { role, letGo } = held("Ann");
    const run = team([role]).run("go");
    const seen: string[] = [];
    const reading = (async () => {
      for await (const event of run) {
        seen.push(event.type);
        // The cost of reading one event decides whether the next comes while the journal is read.
        for (let i = 0; i < seen.length % 4; i += 1) await Promise.resolve();
      }
    })();
    await settled();
    expect(seen.at(-1)).toBe("step.started");
    letGo();
    await reading;
  });
});

describe("a run's result", () => {
  test.each(["create", "claim", "append", "read"] as const)("never rejects, also when the journal's %s breaks", async (broken) => {
    const inner = memoryJournal();
    const journal = new Proxy<Journal>(inner, {
      get: (target, name) =>
        name !== broken
          ? (Reflect.get(target, name) as () => unknown).bind(target)
          : () => (broken === "read" ? failingRead() : Promise.reject(new Error(`${broken} broke`))),
    });
    const run = team(chain(), { journal }).run("go", { id: "r" });
    const result = await run.result;
    if (broken === "read") expect(result.status).toBe("failed");
    else expect(result).toMatchObject({ runId: "r", status: "failed", error: { cause: { message: `${broken} broke` } } });
  });

  test("Runs.U2 keeps what was done and paid when the journal breaks on the way", async () => {
    const inner = memoryJournal();
    let appends = 0;
    const append: Journal["append"] = (...args) => ((appends += 1) > 4 ? Promise.reject(new Error("disk full")) : inner.append(...args));
    const journal = new Proxy<Journal>(inner, {
      get: (target, name) => (name === "append" ? append : (Reflect.get(target, name) as () => unknown).bind(target)),
    });
    const roles = Array.from({ length: 5 }, (_, i) =>
      answering(`r${i}`, async (rc) => rc.message(await rc.step("s", {}, () => Promise.resolve(`${i}`)), { sendTo: `r${i + 1}` })),
    );
    const result = await team(roles, { journal, scheduler: "eager" }).run("go").result;
    expect(result).toMatchObject({ status: "failed", error: { cause: { message: "disk full" } } });
    expect(contents(result.messages)).toContain("go");
  });
});

function failingRead(): AsyncIterable<RunEvent> {
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("read broke")) }) };
}

describe("Run.H2 stopping", () => {
  test("stop ends the run with status stopped; what was under way stays open, and continues later", async () => {
    const journal = memoryJournal();
    const { role, letGo } = held("Ann");
    const company = team([role], { journal });
    const run = company.run("go", { id: "r" });
    await settled();
    run.stop("lunch");
    const result = await run.result;
    expect(result).toMatchObject({ status: "stopped", error: { code: "ABORTED" } });
    expect(result.error?.message).toContain("lunch");
    expect((await eventsOf(journal, "r")).filter((event) => event.type.startsWith("act.")).map((event) => event.type)).toEqual([
      "act.started",
    ]);
    letGo();
    expect((await company.resume("r").result).output?.content).toBe("Ann is done");
  });

  test("an aborted signal stops it: before it begins nobody runs, and the idea is kept", async () => {
    const journal = memoryJournal();
    const company = team(chain(), { journal });
    const result = await company.run("go", { id: "r", signal: AbortSignal.abort() }).result;
    expect(result.status).toBe("stopped");
    expect(contents(result.messages)).toEqual(["go"]);
    expect(result.rounds).toBe(0);
    expect((await company.resume("r").result).status).toBe("finished");
  });
});

describe("pausing", () => {
  test("lets nobody new start, within a round too; those under way continue; proceed ends it", async () => {
    const first = held("First");
    const others = Array.from({ length: 3 }, (_, i) => held(`o${i}`));
    const run = team([first.role, ...others.map((other) => other.role)], { concurrency: 1 }).run("go");
    await settled();
    run.pause();
    run.pause();
    first.letGo();
    for (const other of others) other.letGo();
    await settled();
    expect(others.map((other) => other.begun())).toEqual([false, false, false]);
    run.proceed();
    const result = await run.result;
    expect(result.status).toBe("finished");
    expect(result.outputs).toHaveLength(4);
  });
});
