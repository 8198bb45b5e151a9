import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import type { Json } from "../../src/kernel/json.ts";
import { createMessage, type Message } from "../../src/message/message.ts";
import { defineRole } from "../../src/role/role.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { Team } from "../../src/team/team.ts";
import { sourceProgram } from "../kernel/source-program.ts";
import { codeOf } from "../../src/testing/contracts/contract-kit.ts";
import { startProgram } from "./program-process.ts";
import { connection, journalAt, meddle, newFile, readOut } from "./sqlite-setup.ts";

/** Journals of as many processes over one file, whose run `a` the first may own. */
async function processes(count: number): Promise<{ readonly file: string; readonly all: readonly Journal[] }> {
  const file = newFile();
  const all = Array.from({ length: count }, () => journalAt(file));
  await all[0]?.create("a");
  return { file, all };
}

async function rowsIn(file: string): Promise<number> {
  const db = await connection(file);
  const count = Number(db.first("SELECT count(*) FROM commands")?.[0]);
  db.close();
  return count;
}

async function waitsIn(file: string, count: number): Promise<void> {
  await vi.waitUntil(async () => (await rowsIn(file)) === count, { timeout: 60_000, interval: 10 });
}

const never = (): Promise<Json> => new Promise(() => undefined);

describe("a command for the owner of a run in another process", () => {
  it("SqliteCommands.C1 reaches it once, also when many send at the same time, and leaves no row", async () => {
    const { file, all } = await processes(3);
    const [owner, one, other] = all as [Journal, Journal, Journal];
    const got: Json[] = [];
    await owner.claim("a", { command: async (command) => got.push(command) });
    const numbers = Array.from({ length: 20 }, (_, n) => n);
    await Promise.all(numbers.map(async (n) => (n % 2 === 0 ? one : other).command?.("a", n)));
    expect(got.toSorted((a, b) => Number(a) - Number(b))).toEqual(numbers);
    await waitsIn(file, 0);
  });

  it("SqliteCommands.C1 is taken by the next owner if the one before died without it", async () => {
    const { file, all } = await processes(3);
    const [former, sender, next] = all as [Journal, Journal, Journal];
    await former.claim("a");
    const answer = sender.command?.("a", "x");
    await waitsIn(file, 1);
    await former.close();
    await next.claim("a", { command: async (command) => ["the next", command] });
    expect(await answer).toEqual(["the next", "x"]);
  });

  it("SqliteCommands.C4 is not given to the next owner if the one before took it, and the sender learns that", async () => {
    const { all } = await processes(3);
    const [former, sender, next] = all as [Journal, Journal, Journal];
    let took = (): void => {};
    const isTaken = new Promise<void>((resolve) => (took = resolve));
    await former.claim("a", { command: () => (took(), never()) });
    const answer = codeOf(async () => sender.command?.("a", "x"));
    await isTaken;
    await former.close();
    const got: Json[] = [];
    await next.claim("a", { command: async (command) => got.push(command) });
    expect([await answer, await sender.command?.("a", "y"), got]).toEqual(["RUN_UNOWNED", 1, ["y"]]);
  });

  it("SqliteCommands.C4 is refused when the owner dies with nobody after it", async () => {
    const { file, all } = await processes(2);
    const [former, sender] = all as [Journal, Journal];
    await former.claim("a");
    const answer = codeOf(async () => sender.command?.("a", "x"));
    await waitsIn(file, 1);
    await former.close();
    expect(await answer).toBe("RUN_UNOWNED");
    await waitsIn(file, 0);
  });

  it("SqliteCommands.C2 SqliteCommands.C3 waits with a limited number of others, and not after its sender has given up", async () => {
    const { file, all } = await processes(2);
    const [owner, sender] = all as [Journal, Journal];
    await owner.claim("a");
    const stop = new AbortController();
    const sent = Array.from({ length: 101 }, () => codeOf(async () => sender.command?.("a", "x", { signal: stop.signal })));
    expect(await Promise.race(sent)).toBe("JOURNAL_FULL");
    await waitsIn(file, 100);
    stop.abort();
    expect((await Promise.all(sent)).filter((code) => code === "ABORTED")).toHaveLength(100);
    await waitsIn(file, 0);
    const got: Json[] = [];
    await owner.claim("a", { command: async (command) => got.push(command) });
    expect([await sender.command?.("a", "y"), got]).toEqual([1, ["y"]]);
  });

  it("SqliteCommands.C2 reaches it from a killed sender, but not too late; the next one removes it", async () => {
    const { file, all } = await processes(2);
    const [owner, sender] = all as [Journal, Journal];
    const row = (id: string, expires: number): string =>
      `INSERT INTO commands (id, number, expires, command) VALUES ('${id}', 1, ${expires}, '"${id}"')`;
    await meddle(file, row("late", 1), row("in time", Date.now() + 60_000));
    const got: Json[] = [];
    await owner.claim("a", { command: async (command) => got.push(command) });
    await vi.waitUntil(() => got.length > 0, { timeout: 60_000, interval: 10 });
    expect(await rowsIn(file)).toBe(2);
    await sender.command?.("a", "next");
    await waitsIn(file, 1);
    expect(got).toEqual(["in time", "next"]);
  });

  it("SqliteCommands.C5 keeps no owner's process alive that has nothing else to do", async () => {
    const { file } = await processes(1);
    const child = startProgram(await sourceProgram(fileURLToPath(new URL("sqlite-child.ts", import.meta.url))), {
      do: "leave",
      file,
      run: "a",
    });
    expect(await child.ended).toBe(0);
    expect(child.lines).toEqual(["claimed"]);
  });
});

/** A role that answers what it hears; the idea only when it has been told. */
function listener(told: Promise<void>) {
  return defineRole({
    name: "Ann",
    react: async (rc) => {
      if (rc.news.some(({ content }) => content === "idea")) await told;
      return rc.message(`heard ${rc.news.map(({ content }) => content).join(", ")}`);
    },
  });
}

function heardIn(messages: readonly Message[]): string {
  return messages.flatMap(({ sentFrom, content }) => (sentFrom === "Ann" ? [content] : [])).join("; ");
}

const atOnce = Promise.resolve();

describe("a message for a run that another process drives", () => {
  it("is recorded there, heard at the next step, and repeated from the record", async () => {
    const { all } = await processes(2);
    const [one, other] = all as [Journal, Journal];
    let tell = (): void => {};
    const run = new Team({ journal: one, roles: [listener(new Promise((resolve) => (tell = resolve)))], secrets: ["hunter22"] }).run(
      "idea",
      { id: "r" },
    );
    await run.started;
    const team = new Team({ journal: other, roles: [listener(atOnce)] });
    const [receipt] = await Promise.all([team.send("r", "wish blue hunter22"), team.send("r", "wish red")]);
    expect(receipt).toMatchObject({ recipients: ["Ann"], waits: false });
    tell();
    const { status, messages } = await run.result;
    expect(status).toBe("finished");
    const heard = heardIn(messages);
    expect([heard.match(/wish blue/g), heard.match(/wish red/g), heard.includes("hunter22")]).toEqual([["wish blue"], ["wish red"], false]);
    expect((await team.replay("r").result).error).toBeUndefined();
  });

  it("is recorded once, although its owner died before it had answered", async () => {
    const { all } = await processes(3);
    const [one, other, third] = all as [Journal, Journal, Journal];
    // As a process that dies between the record and the answer: its lock is free and its epoch is not ended.
    const dying: Journal = {
      create: (id) => one.create(id),
      claim: (id, o = {}) => one.claim(id, { ...o, command: async (given) => (await o.command?.(given), await one.close(), never()) }),
      append: (...given) => one.append(...given),
      read: (id, from) => one.read(id, from),
      release: () => never().then(() => undefined),
      runs: () => one.runs(),
      remove: (id) => one.remove(id),
      close: () => one.close(),
    };
    const run = new Team({ journal: dying, roles: [listener(new Promise(() => undefined))] }).run("idea", { id: "r" });
    await run.started;
    const message = createMessage("wish blue", { id: "w" });
    const receipt = await new Team({ journal: other, roles: [listener(atOnce)] }).send("r", message);
    expect(receipt).toMatchObject({ message: { id: "w" }, waits: true });
    const result = await new Team({ journal: third, roles: [listener(atOnce)] }).resume("r").result;
    expect([result.status, result.outputs.map(({ content }) => content).join()]).toEqual([
      "finished",
      expect.stringContaining("wish blue"),
    ]);
    const { events } = await readOut(third, "r");
    expect(events.filter((event) => event.type === "message" && event.message.id === "w")).toHaveLength(1);
  });
});
