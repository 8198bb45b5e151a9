import { appendFileSync, writeSync } from "node:fs";
import { graphileDriver } from "../../src/adapters/graphile.ts";
import { postgres } from "../../src/adapters/postgres.ts";
import { defineAction, defineRole, type EffectPort, type Journal, Team } from "../../src/index.ts";
import { effectTeam, remoteEffects, type RunDriver, startWorker } from "../../src/fleet/index.ts";

/** The points at which a process ends itself as SIGKILL does. */
export const points = {
  coordinator: ["before submit", "after submit", "before the answer is stored", "after the answer is stored"],
  worker: ["before the effect", "in the effect", "before the answer is stored", "after the answer is stored"],
} as const;

/** A process that asks for effects, or does them. */
export interface Part {
  readonly url: string;
  readonly schema: string;
  readonly role: keyof typeof points;
  /** The point at which it dies, when it comes there first. */
  readonly dies?: string;
  /** The file to which each effect is written when it begins. */
  readonly done: string;
  readonly runs: number;
}

/** A team that asks for one effect. The work in gold must not be done twice. */
export function asker(journal: Journal, effects?: EffectPort): Team {
  const Forge = defineAction({
    name: "Forge",
    run: (ctx) =>
      ctx.step("forge", { of: ctx.text }, () => Promise.resolve(`a nail of ${ctx.text}`), { idempotent: !ctx.text.startsWith("gold") }),
  });
  const roles = [defineRole({ name: "Finn", actions: [Forge] })];
  return new Team({ journal, roles, seed: "s", poisonAfter: 1_000, ...(effects === undefined ? {} : { effects }) });
}

export async function main(part: Part): Promise<void> {
  const { url, schema, role, runs } = part;
  const dies = (point: string): void => {
    if (point === part.dies) process.kill(process.pid, "SIGKILL");
  };
  const journal = dyingJournal(postgres({ url, schema }), role === "coordinator" ? "run-" : "effect-", dies);
  const driver = dyingDriver(graphileDriver({ url, schema }), dies);
  if (role === "worker") return serve(part, journal, driver, dies);
  const team = asker(journal, remoteEffects({ driver, journal, effects: ["step:forge"] }));
  for (let n = 0; n < runs; n += 1) await ended(team, `run-${n}`, `${n % 2 === 0 ? "iron" : "gold"} ${n}`);
  writeSync(1, "done\n");
  process.exit(0);
}

async function serve({ done }: Part, journal: Journal, driver: RunDriver, dies: (point: string) => void): Promise<void> {
  const forge = effectTeam(
    "step:forge",
    async (request) => {
      const { of } = request as { readonly of: string };
      dies("before the effect");
      appendFileSync(done, `${of}\n`);
      dies("in the effect");
      await new Promise((resolve) => setTimeout(resolve, 100));
      return `a nail of ${of}`;
    },
    { journal, poisonAfter: 1_000 },
  );
  await startWorker({ driver, journal, teams: [forge] });
}

/** A journal whose process dies when a run of its own gets an answer. */
function dyingJournal(journal: Journal, own: string, dies: (point: string) => void): Journal {
  const { append } = journal;
  journal.append = async (runId, epoch, seq, events) => {
    const isAnswer = runId.startsWith(own) && events.some(({ type }) => type === "step.ended");
    if (isAnswer) dies("before the answer is stored");
    await append.call(journal, runId, epoch, seq, events);
    if (isAnswer) dies("after the answer is stored");
  };
  return journal;
}

function dyingDriver(driver: RunDriver, dies: (point: string) => void): RunDriver {
  const { submit } = driver;
  driver.submit = async (job) => {
    dies("before submit");
    await submit.call(driver, job);
    dies("after submit");
  };
  return driver;
}

/** Brings a run to its end. One whose effect is uncertain is resumed, as a person does who has looked. */
async function ended(team: Team, id: string, idea: string): Promise<void> {
  for (let isKnown = false; ; isKnown = true) {
    const { status, error } = await (isKnown ? team.resume(id) : team.run(idea, { id })).result;
    if (status === "finished") return;
    writeSync(2, `${id}: ${status} ${String(error)}\n`);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}
