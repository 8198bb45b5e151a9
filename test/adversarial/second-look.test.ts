import { describe, expect, it } from "vitest";
import {
  canonical,
  createMessage,
  defineAction,
  defineRole,
  Environment,
  type Message,
  memoryJournal,
  type RunEvent,
  Team,
  usd,
} from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { scriptedModel } from "../../src/testing/index.ts";

const text = (messages: readonly Message[]): string[] => messages.map((message) => message.content);

/** Two roles that answer each other for ever, without ever waiting. */
function rally(): Team {
  const Ping = defineAction({ name: "Ping", run: () => "ping" });
  const Pong = defineAction({ name: "Pong", run: () => "pong" });
  return new Team({
    seed: 1,
    roles: [
      defineRole({ name: "A", reactions: [{ on: ["UserRequirement", Pong], do: Ping }] }),
      defineRole({ name: "B", reactions: [{ on: Ping, do: Pong }] }),
    ],
    journal: memoryJournal(),
  });
}

async function eventsOf(journal: Journal, runId: string): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of journal.read(runId, 0)) events.push(event);
  return events;
}

describe("a run of roles that never wait", () => {
  it.each(["rounds", "eager"] as const)("hears a stop from outside (%s)", async (scheduler) => {
    const team = new Team({
      seed: 1,
      scheduler,
      roles: [defineRole({ name: "A", observeAll: true, react: (rc) => rc.message("again", { sendTo: "<self>" }) })],
      journal: memoryJournal(),
    });
    const run = team.run("go", { rounds: 100_000 });
    setImmediate(() => setImmediate(() => run.stop("enough of this")));
    const result = await run.result;
    expect(result.status).toBe("stopped");
    expect(result.rounds).toBeLessThan(100_000);
    expect(result.error?.message).toContain("enough of this");
  });

  it("is not held up by a pause that comes after the stop", async () => {
    const run = rally().run("go", { rounds: 100_000 });
    setImmediate(() => {
      run.stop();
      run.pause();
    });
    expect((await run.result).status).toBe("stopped");
  });
});

describe("RunLog.W2 durable waits for what was recorded before, and no longer", () => {
  it("lets a step start although others never stop recording", async () => {
    const inner = memoryJournal();
    let appends = 0;
    const slow = new Proxy<Journal>(inner, {
      get(target, name) {
        if (name !== "append") return (Reflect.get(target, name) as () => unknown).bind(target);
        return async (...given: Parameters<Journal["append"]>) => {
          appends += 1;
          await new Promise((resolve) => setImmediate(resolve));
          return target.append(...given);
        };
      },
    });
    let began = -1;
    const chatter = defineRole({ name: "Chatter", react: (rc) => rc.message("again", { sendTo: "<self>" }) });
    const Step = defineAction({ name: "Step", run: (ctx) => ctx.step("look", null, async () => (began = appends)).then(() => undefined) });
    const stepper = defineRole({ name: "Stepper", actions: [Step] });
    const team = new Team({ seed: 1, scheduler: "eager", roles: [chatter, stepper], journal: slow });
    await team.run("go", { rounds: 2_000 }).result;
    expect(began).toBeGreaterThan(0);
    expect(began).toBeLessThan(20);
  });
});

describe("the messages and memories of an activation", () => {
  it("Outbox.O1 a message made elsewhere is sent once, however often it is published", async () => {
    const Say = defineAction({
      name: "Say",
      run: (ctx) => {
        const message = createMessage("once");
        ctx.publish(message);
        ctx.publish(message);
        return message;
      },
    });
    const { outputs } = await new Team({ roles: [defineRole({ name: "A", actions: [Say] })] }).run("go").result;
    expect(text(outputs)).toEqual(["once"]);
  });

  it("MemoryDraft.D1 a message rewritten under its id is remembered as rewritten", async () => {
    const shorten = defineRole({
      name: "A",
      react: (rc) => {
        for (const long of rc.news) {
          rc.memory.delete(long.id);
          rc.memory.add(createMessage("short", { id: long.id }));
        }
      },
    });
    const environment = new Environment().addRole(shorten);
    environment.publishMessage("a very long text");
    await environment.run();
    expect(text(environment.getRole("A")?.memory.get() ?? [])).toEqual(["short"]);
  });

  it("a view of a role is a view: changing its plan changes nothing, here or in any other environment", async () => {
    const idle = defineRole({ name: "A" });
    const [one, two] = [new Environment().addRole(idle), new Environment().addRole(idle)];
    one.getRole("A")?.plan.appendTask({ id: "x", instruction: "injected" });
    expect(one.getRole("A")?.plan.tasks).toEqual([]);
    expect(two.getRole("A")?.plan.tasks).toEqual([]);
  });
});

describe("secrets", () => {
  it("reach neither listeners nor the error of the result", async () => {
    const secret = "hunter2hunter2";
    const heard: string[] = [];
    const leak = defineRole({ name: "A", react: (rc) => rc.message(`pw ${secret}`) });
    const fail = defineRole({
      name: "B",
      react: () => {
        throw new Error(`login ${secret}`);
      },
    });
    const run = new Team({ roles: [leak, fail], secrets: [secret] }).run("go");
    run.on("message.output", ({ message }) => heard.push(message.content));
    const { error } = await run.result;
    expect(heard).toEqual(["pw [secret]"]);
    expect(error?.message).toMatch(/B failed: login \[secret\]/);
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(secret);
  });
});

describe("money", () => {
  it("a run that was started with a budget asks for prices also when a team without one goes on with it", async () => {
    const Ask = defineAction({ name: "Ask", prompt: () => "?" });
    const journal = memoryJournal();
    const roles = [defineRole({ name: "A", actions: [Ask] })];
    const scripted = scriptedModel(["yes"]);
    const { chat, stream } = { chat: scripted.chat.bind(scripted), stream: scripted.stream.bind(scripted) };
    const model = { id: "nobody-knows", chat, stream };
    const first = await new Team({ roles, model, journal, budget: usd(1) }).run("go", { id: "r" }).result;
    expect(first.error?.code).toBe("MODEL_UNPRICED");
    const second = await new Team({ roles, model, journal }).resume("r").result;
    expect(second.error?.code).toBe("MODEL_UNPRICED");
  });
});

describe("canonical", () => {
  it("tells messages apart whose content is another's id", async () => {
    const of = async (id: string): Promise<string> => {
      const journal = memoryJournal();
      await new Team({ seed: 1, journal, roles: [defineRole({ name: "A" })] }).run(createMessage(id, { id, timestamp: 0 }), { id: "r" })
        .result;
      return canonical(await eventsOf(journal, "r"));
    };
    expect(await of("yes")).not.toBe(await of("no"));
  });
});

describe("a run that is asked for twice at once", () => {
  it("is one run: nobody is told to resume what it is resuming", async () => {
    const journal = memoryJournal();
    const role = defineRole({ name: "A", react: (rc) => rc.message("done") });
    const team = new Team({ seed: 1, roles: [role], journal });
    const [one, two] = await Promise.all([team.run("go", { id: "r" }).result, team.run("go", { id: "r" }).result]);
    expect([one.error?.code, two.error?.code]).not.toContain("RUN_EXISTS");
    expect([one.status, two.status]).toContain("finished");
  });
});
