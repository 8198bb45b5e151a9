import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { sqlite } from "../../src/adapters/sqlite.ts";
import { sqliteStore } from "../../src/adapters/sqlite-store.ts";
import { Memory } from "../../src/memory/memory.ts";
import { MemoryStorage } from "../../src/memory/memory-storage.ts";
import { corrupt, duplicate } from "../../src/edges/index.ts";
import { createMessage, type Message, parseMessage, serializeMessage } from "../../src/message/message.ts";
import { MessageQueue } from "../../src/message/message-queue.ts";
import { defineAction } from "../../src/role/action.ts";
import { retry } from "../../src/role/failure-policy.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { Environment } from "../../src/runtime/environment.ts";
import type { EnvironmentOptions } from "../../src/runtime/environment-options.ts";
import { fold } from "../../src/runtime/record/apply.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { exportRun, importRun } from "../../src/runtime/record/transfer.ts";
import { Team } from "../../src/team/team.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";
import { answering, contents, town } from "./town.ts";

const to = (content: string, priority?: number): Message => createMessage(content, { id: content, sendTo: "Ear", priority });
const folder = mkdtempSync(join(tmpdir(), "troupe-priority-"));
afterAll(() => rmSync(folder, { recursive: true }));
const inbox = (environment: Environment): readonly string[] => contents(environment.getRole("Ear")?.inbox ?? []);

/** Notes what it hears, one message at a time where it takes one at a time. */
function ear(heard: string[], o: { readonly steps?: boolean } = {}): Role {
  if (o.steps === true) return defineRole({ name: "Ear", watch: [], step: (_state, { content }) => void heard.push(content) });
  return answering("Ear", (rc) => void heard.push(...contents(rc.news)), { watch: [] });
}

describe("the priority of a message", () => {
  test("MessageQueue.Q1 orders mailboxes: smaller numbers first, equal ones in order of arrival; 0 is none", async () => {
    const heard: string[] = [];
    const environment = town([ear(heard)]);
    for (const message of [to("a"), to("late", 5), to("first", -1), to("b", 0), to("second", -1)]) environment.publishMessage(message);
    const order = ["first", "second", "a", "b", "late"];
    expect(inbox(environment)).toEqual(order);
    await environment.run();
    expect(heard).toEqual(order);
    expect(to("b", 0)).not.toHaveProperty("priority");
  });

  test.each([false, true])("is that of what roles say, return, issue and step roles say", async (steps) => {
    const heard: string[] = [];
    const say = defineAction({
      name: "Say",
      run: (ctx) => {
        ctx.publish(ctx.message("normal", { sendTo: "Ear" }));
        ctx.publish(to("urgent", -2));
        return ctx.message("soon", { sendTo: "Ear", priority: -1 });
      },
    });
    const plain = defineRole({ name: "Pip", step: (_state, _m, out) => void out.say("plain", { sendTo: "Ear", priority: -3 }) });
    const environment = town([defineRole({ name: "Ann", actions: [say] }), plain, ear(heard, { steps })]);
    environment.publishMessage("go");
    await environment.run();
    expect(heard).toEqual(["plain", "urgent", "soon", "normal"]);
  });

  test.each<[string, unknown]>([
    ["a text", "high"],
    ["NaN", Number.NaN],
    ["Infinity", Infinity],
  ])("%s is refused", (_what, priority) => {
    expect(() => createMessage("x", { priority: priority as number })).toThrow(expect.objectContaining({ code: "MESSAGE_INVALID" }));
  });

  test("given besides a message is refused at every door that publishes", async () => {
    const options = { priority: -1 } as never;
    const refused = { code: "OPTION_UNKNOWN" };
    expect(() => town([ear([])]).publishMessage(to("x"), options)).toThrow(expect.objectContaining(refused));
    const run = new Team({ roles: [answering("Ann", (rc) => void rc.publish(rc.message("x"), options))] }).run("go");
    expect((await run.result).error).toMatchObject(refused);
    await expect(run.publish("x", options)).rejects.toMatchObject(refused);
    const later = answering("Ann", (rc) => void rc.publishAfter(2, rc.message("x"), options));
    expect((await new Team({ roles: [later] }).run("go").result).error).toMatchObject(refused);
  });
});

describe("a priority is kept by", () => {
  const urgent = to("urgent", -1.5);

  test("JSON, the wire form, a queue and a memory", () => {
    expect(parseMessage(JSON.parse(JSON.stringify(serializeMessage(urgent))))).toEqual(urgent);
    expect(parseMessage({ content: "x", priority: 3 }).priority).toBe(3);
    expect(() => parseMessage({ content: "x", priority: "3" })).toThrow(expect.objectContaining({ code: "MESSAGE_INVALID" }));
    expect(Memory.fromJSON(memoryOf(urgent).toJSON()).get()).toEqual([urgent]);
    const queue = new MessageQueue();
    for (const message of [to("a"), urgent, to("b", 2)]) queue.push(message);
    queue.push(to("own"));
    const again = MessageQueue.fromJSON(JSON.parse(JSON.stringify(queue.toJSON())));
    expect([contents(again.popAll()), contents(queue.popAll())]).toEqual(Array(2).fill(["urgent", "a", "own", "b"]));
  });

  test("events, their rows, export and import, and a resume, replay and fork of them", async () => {
    const heard: string[] = [];
    const said = answering("Ann", (rc) => [rc.message("a", { sendTo: "Ear" }), rc.message("urgent", { sendTo: "Ear", priority: -1 })]);
    const journal = memoryJournal();
    const team = (store = journal): Team => new Team({ roles: [said, ear(heard)], journal: store, seed: "s" });
    await team().run("go", { id: "r" }).result;
    const events = await eventsOf(journal, "r");
    const file = sqlite({ path: join(folder, "runs.db") });
    await importRun(file, exportRun(journal, "r"));
    expect(await eventsOf(file, "r")).toEqual(events);
    for (const again of [() => team().replay("r"), () => team(file).replay("r"), () => team().fork("r", { at: 1 })])
      expect((await again().result).status).toBe("finished");
    for (let cut = 2; cut < events.length - 1; cut += 1)
      expect((await team(await journalWith("r", events.slice(0, cut))).resume("r").result).status).toBe("finished");
    await file.close();
    for (let n = 0; n < heard.length; n += 2) expect(heard.slice(n, n + 2)).toEqual(["urgent", "a"]);
  });

  test("a snapshot, edges that copy, delay and rewrite, and a store of messages", async () => {
    const heard: string[] = [];
    const edges = [duplicate(1), corrupt(1, ({ message }) => ({ content: `${message.content}?` }))];
    const roles = [answering("Ann", (rc) => [rc.message("a", { sendTo: "Ear" }), rc.message("urgent", { sendTo: "Ear", priority: -1 })])];
    const environment = town([...roles, ear(heard)], { edges });
    environment.publishMessage("go");
    await environment.run({ rounds: 1 });
    const restored = await Environment.restore(await environment.snapshot(), { roles: [...roles, ear(heard)], edges });
    expect(inbox(restored)).toEqual(inbox(environment));
    expect(inbox(restored)).toEqual(["urgent?", "urgent?", "a?", "a?"]);
    const open = (): MemoryStorage => new MemoryStorage({ roleId: "Ear", store: sqliteStore({ path: join(folder, "memory.db") }) });
    const storage = open();
    await storage.addBatch([to("a"), urgent]);
    await storage.close();
    const read = open();
    expect((await read.recover()).map(({ priority }) => priority)).toEqual([undefined, -1.5]);
    await read.close();
  });
});

function memoryOf(message: Message): Memory {
  const memory = new Memory();
  memory.add(message);
  return memory;
}

describe("MessageQueue.Q4 what an activation has taken", () => {
  /** Takes its first message and waits, while others come before it. */
  async function lived(react: (heard: string[]) => Role, more: EnvironmentOptions = {}) {
    const heard: string[] = [];
    const journal = memoryJournal();
    const environment = new Environment({ seed: "s", scheduler: "eager", journal, id: "r", ...more });
    environment.addRoles([react(heard)]);
    environment.publishMessage(to("taken"));
    const run = environment.run();
    while (heard.length === 0) await new Promise(setImmediate);
    environment.publishMessage(to("urgent", -1));
    environment.publishMessage(to("normal"));
    const result = await run;
    const events = await eventsOf(journal, "r");
    expect(contents(fold(events).roles.get("Ear")?.memory ?? [])).toEqual(contents(environment.getRole("Ear")?.memory ?? []));
    return { heard, events, result };
  }

  const patient = (heard: string[], o: { readonly step: boolean }): Role =>
    answering(
      "Ear",
      async (rc) => {
        heard.push(contents(rc.news).join("+"));
        const wait = async (): Promise<null> => {
          for (let n = 0; n < 20; n += 1) await new Promise(setImmediate);
          return null;
        };
        await (o.step ? rc.step("wait", {}, wait) : wait());
      },
      { watch: [], state: z.object({}) },
    );

  test.each([true, false])("stays first, also when nothing of it was recorded", async (step) => {
    const { heard, events, result } = await lived((into) => patient(into, { step }));
    expect(result.status).toBe("finished");
    expect(heard).toEqual(["taken", "urgent+normal"]);
    expect(events.flatMap((event) => (event.type === "act.ended" ? [event.take] : []))).toEqual([1, 2]);
  });

  test("is tried again with the same messages", async () => {
    let tries = 0;
    const { heard } = await lived((into) =>
      answering(
        "Ear",
        async (rc) => {
          into.push(contents(rc.news).join("+"));
          for (let n = 0; n < 20; n += 1) await new Promise(setImmediate);
          if ((tries += 1) < 3) throw new Error("not yet");
        },
        { watch: [], onFailure: retry(3) },
      ),
    );
    expect(heard).toEqual(["taken", "taken", "taken", "urgent+normal"]);
  });

  test("a full mailbox drops the oldest of the least urgent ones", () => {
    const environment = town([ear([])], { mailbox: { limit: 3, overflow: "drop-oldest" } });
    for (const message of [to("a", 1), to("b", 1), to("urgent", -1), to("c"), to("d", 1)]) environment.publishMessage(message);
    expect(inbox(environment)).toEqual(["urgent", "c", "d"]);
  });
});
