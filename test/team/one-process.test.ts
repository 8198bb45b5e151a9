import { expect, test, vi } from "vitest";
import { defineAction } from "../../src/role/action.ts";
import { defineRole } from "../../src/role/role.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { listener } from "../runtime/town.ts";

vi.mock("../../src/fleet/remote-runs.ts", () => {
  throw new Error("loaded what only runs of other processes need");
});

const Ask = defineAction({ name: "Ask", run: (ctx) => ctx.human.ask("Tea or coffee?") });
const team = new Team({ roles: [defineRole({ name: "Ann", actions: [Ask] })], reserve: [listener("Bob")], journal: memoryJournal() });

async function waiting(id: string): Promise<string> {
  const { questions } = await team.run("go", { id }).result;
  return questions[0]?.id ?? "";
}

const entries: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
  run: async (id) => (await team.run("go", { id }).result).status,
  resume: async (id) => waiting(id).then(async () => (await team.resume(id).result).status),
  fork: async (id) => waiting(id).then(async () => (await team.fork(id).result).status),
  replay: async (id) => waiting(id).then(async () => (await team.replay(id).result).status),
  answer: async (id) => (await (await team.answer(id, await waiting(id), "tea")).result).output?.content,
  send: async (id) => waiting(id).then(async () => (await team.send(id, "more")).waits),
  hireInto: async (id) => waiting(id).then(() => team.hireInto(id, "Bob")),
  publish: async (id) => {
    const run = team.run("go", { id });
    run.pause();
    const { waits } = await run.publish("more");
    run.proceed();
    return [waits, (await run.result).status];
  },
  stop: async (id) => {
    const run = team.run("go", { id });
    run.stop();
    return (await run.result).status;
  },
};

const outcomes: Readonly<Record<string, unknown>> = {
  ...{
    run: "waiting",
    resume: "waiting",
    fork: "waiting",
    replay: "waiting",
    answer: "tea",
    send: true,
    publish: [false, "waiting"],
    stop: "stopped",
  },
};

test.each(Object.entries(entries))("a run of one process never loads the runs of others: %s", async (name, entry) => {
  await expect(entry(`one-${name}`)).resolves.toEqual(outcomes[name]);
});
