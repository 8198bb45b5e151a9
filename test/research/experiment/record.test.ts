import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { sqlite } from "../../../src/adapters/sqlite.ts";
import { type ChatModel, createMessage, defineAction, defineRole, Environment, type RunEvent, Team } from "../../../src/index.ts";
import { experiment, policyModel, readExperiment, replayCell, runExperiment } from "../../../src/research/index.ts";
import { cutsOf } from "../../long.ts";
import { scratchFolder } from "../../workspace/scratch.ts";

/** A model that counts the questions which it is asked, and answers each the same every time. */
function countingModel(price = { input: 1, output: 2 }): ChatModel & { readonly asked: string[] } {
  const asked: string[] = [];
  const model = policyModel({
    id: "counting",
    price,
    answer: ({ messages }) => {
      const text = String(messages.at(-1)?.content);
      asked.push(text);
      return { content: `${text.length % 3}`, usage: { inputTokens: 100, outputTokens: 100 } };
    },
  });
  return Object.assign(model, { asked });
}

/** Dollars of a call. */
const CALL = 0.0003;
const STEPS = 2;

/** Two roles that ask a model in every step and pass on a number. */
const askers = ["Ann", "Ben"].map((name, place, names) =>
  defineRole({
    name,
    watch: [],
    async react(rc) {
      const n = Number(rc.news[0]?.content);
      const answer = await rc.ask(`${name} ${"?".repeat(n)}`);
      await rc.ask(`${name} again ${answer}`);
      return n < STEPS ? rc.message(String(n + 1), { sendTo: names[1 - place] ?? "" }) : undefined;
    },
  }),
);

/** A role that acts in each round, without mail. */
const ticker = defineRole({
  name: "Ticker",
  acts: "each round",
  state: z.object({ ticks: z.number().default(0) }),
  steps: ({ ticks }) => ({ ticks: ticks + 1 }),
});

const begin = (world: { readonly world: Environment }): void => {
  for (const { name } of askers) world.world.publishMessage(createMessage("1", { sendTo: name }));
};

interface Kind {
  readonly of: "environment" | "wrapped" | "team";
  readonly scheduler: "rounds" | "sequential";
}

function study({ of, scheduler }: Kind, model: ChatModel) {
  const common = { model, scheduler } as const;
  return experiment({
    name: "asking",
    params: { n: [1] },
    rounds: 9,
    world: ({ seed, run, concurrency }) => {
      if (of === "team") {
        const Ask = defineAction({ name: "Ask", run: async (ctx) => `${await ctx.ask("One?")}, ${await ctx.ask("Two?")}` });
        const roles = ["Cid", "Dot"].map((name) => defineRole({ name, actions: [Ask] }));
        const team = new Team({ seed, roles, ...common, journal: run.journal });
        return { world: undefined, run: (o) => team.run("go", { ...o, id: run.id }) };
      }
      const world = new Environment({ seed, concurrency, ...common, ...run }).addRoles(askers);
      if (of === "wrapped") world.addRole(ticker);
      return of === "environment" ? Object.assign(world, { world }) : { world, run: (o) => world.run(o), on: world.on.bind(world) };
    },
    begin: (world) => (world.world === undefined ? undefined : begin(world as { readonly world: Environment })),
    collect: {
      asked: ({ calls }) => calls,
      delivered: ({ delivered }) => delivered,
      ticks: ({ state }) => Number(state("Ticker")?.["ticks"] ?? -1),
    },
    measure: ({ result }) => ({ said: result.messages.length, last: result.messages.at(-1)?.content ?? "" }),
  });
}

const KINDS: readonly Kind[] = [
  { of: "environment", scheduler: "rounds" },
  { of: "environment", scheduler: "sequential" },
  { of: "wrapped", scheduler: "rounds" },
  { of: "team", scheduler: "rounds" },
];

async function eventsIn(path: string): Promise<readonly RunEvent[]> {
  const journal = sqlite({ path });
  const events: RunEvent[] = [];
  for await (const event of journal.read("asking-0-0", 0)) events.push(event);
  await journal.close();
  return events;
}

/** A folder as a kill leaves it: the manifest, no finished run, and the first events of the record. */
async function cutFolder(whole: string, events: readonly RunEvent[]): Promise<string> {
  const out = scratchFolder();
  copyFileSync(join(whole, "manifest.json"), join(out, "manifest.json"));
  writeFileSync(join(out, "cells.jsonl"), "");
  mkdirSync(join(out, "records"));
  const journal = sqlite({ path: join(out, "records/0-0.db") });
  await journal.create("asking-0-0");
  const { epoch } = await journal.claim("asking-0-0");
  await journal.append("asking-0-0", epoch, 0, events);
  await journal.close();
  return out;
}

const tablesOf = (out: string): readonly string[] => ["rows.jsonl", "series.jsonl"].map((file) => readFileSync(join(out, file), "utf8"));
const answersIn = (events: readonly RunEvent[]): number =>
  events.filter((event) => event.type === "step.ended" && event.retry !== true).length;
const startsIn = (events: readonly RunEvent[]): number => events.filter(({ type }) => type === "step.started").length;

describe("a run with a record", () => {
  it.each(KINDS)(
    "CellRecord.C1 UseWatch.W3 of $of, $scheduler, continues wherever it is cut, and asks no answer again",
    { tags: "kill" },
    async (kind) => {
      const whole = scratchFolder();
      const first = countingModel();
      await runExperiment(study(kind, first), { out: whole });
      const events = await eventsIn(join(whole, "records/0-0.db"));
      expect(answersIn(events)).toBe(first.asked.length);
      for (const length of cutsOf(events.length).filter((at) => at > 0)) {
        const past = events.slice(0, length);
        const out = await cutFolder(whole, past);
        const model = countingModel();
        const { spent, lost, uncertain } = await runExperiment(study(kind, model), { out });
        const where = `cut at ${length}, after ${past.at(-1)?.type ?? ""}`;
        expect(tablesOf(out), where).toEqual(tablesOf(whole));
        expect(model.asked.length, where).toBe(first.asked.length - answersIn(past));
        const inFlight = startsIn(past) - answersIn(past);
        expect((await readExperiment(out)).manifest.world?.scheduler, where).toBe(kind.scheduler);
        expect(lost.usd, where).toBeCloseTo(inFlight * CALL, 9);
        expect([spent.calls, uncertain], where).toEqual([first.asked.length, inFlight]);
      }
    },
  );

  it("is read again from its record: no model is asked, its row is computed again, and its record stays as it is", async () => {
    const out = scratchFolder();
    const model = countingModel();
    const sweep = study({ of: "environment", scheduler: "rounds" }, model);
    await runExperiment(sweep, { out });
    const asked = model.asked.length;
    const events = await eventsIn(join(out, "records/0-0.db"));
    const replay = await replayCell(sweep, { cell: 0, out });
    expect([replay.isRecorded, replay.changed, model.asked.length]).toEqual([true, [], asked]);
    expect(replay.events).toEqual(events);
    expect(await eventsIn(join(out, "records/0-0.db"))).toEqual(events);
    const other = experiment({ ...sweep.options, measure: () => ({ said: 0, last: "" }) });
    expect((await replayCell(other, { cell: 0, out })).changed).toEqual(["said", "last"]);
    // A program that now asks for more than its record has is refused before it asks.
    await runExperiment(experiment({ ...sweep.options, rounds: 1 }), { out: join(out, "short") });
    const before = model.asked.length;
    const refused = { code: "EXPERIMENT_RECORD", message: expect.stringContaining("program was changed") as string };
    await expect(replayCell(sweep, { cell: 0, out: join(out, "short") })).rejects.toMatchObject(refused);
    expect(model.asked.length).toBe(before);
    // Without a record the run is made again.
    await runExperiment(sweep, { out: join(out, "none"), record: false });
    expect((await replayCell(sweep, { cell: 0, out: join(out, "none") })).isRecorded).toBe(false);
    for (const folder of [out, join(out, "none")]) expect(readdirSync(join(folder, "records"))).toEqual(["0-0.db"]);
    expect(model.asked.length).toBe(before + asked * 2);
  });

  it("of another version is refused with its number, and one that was made another way with the difference", async () => {
    const whole = scratchFolder();
    const sweep = study({ of: "environment", scheduler: "rounds" }, countingModel());
    await runExperiment(sweep, { out: whole });
    const events = await eventsIn(join(whole, "records/0-0.db"));
    const newer = await cutFolder(whole, events.slice(0, 8));
    const database = new Database(join(newer, "records/0-0.db"));
    database.exec("PRAGMA user_version = 99");
    database.close();
    expect((await runExperiment(sweep, { out: newer })).rows[0]?.["error"]).toMatch(/JOURNAL_NEWER: .*99/);
    const out = await cutFolder(whole, events.slice(0, 8));
    const other = study({ of: "environment", scheduler: "sequential" }, countingModel());
    const { rows } = await runExperiment(other, { out });
    expect(rows[0]?.["error"]).toMatch(/TEAM_CHANGED: .*scheduler was "rounds" and is "sequential"/);
  });

  it("is told to keep none where the program does not take it, and asks a model that is not free", async () => {
    const plain = (model: ChatModel) =>
      experiment({
        params: { n: [1, 2] },
        world: ({ seed }) => new Environment({ seed, model }).addRoles(askers),
        begin: (world) => begin({ world }),
      });
    const { warnings } = await runExperiment(plain(countingModel()), { out: scratchFolder() });
    expect(warnings).toEqual([expect.stringContaining("keep no record")]);
    expect((await runExperiment(plain(countingModel({ input: 0, output: 0 })), { out: scratchFolder() })).warnings).toEqual([]);
  });

  it("counts a run once that failed and continued", async () => {
    const out = scratchFolder();
    const model = countingModel();
    let isFaulty = true;
    const failing = experiment({
      ...study({ of: "environment", scheduler: "rounds" }, model).options,
      measure: () => {
        if (isFaulty) throw new RangeError("It falls.");
        return {};
      },
    });
    await runExperiment(failing, { out });
    isFaulty = false;
    const asked = model.asked.length;
    const { failed, spent } = await runExperiment(failing, { out, again: true });
    expect([failed, spent.calls, model.asked.length]).toEqual([0, asked, asked]);
    expect((await readExperiment(out)).spent).toEqual(spent);
  });
});
