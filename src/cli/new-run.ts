import { freshRunId } from "../kernel/id.ts";
import { aboutFor } from "./about.ts";
import type { Production } from "./production.ts";
import { sealOf } from "./seal.ts";
import type { Session } from "./session.ts";

/** What a run that begins is made of. */
export interface NewRun extends Pick<Production, "settings" | "chosen" | "sandbox" | "folder" | "store"> {
  readonly idea: string;
}

/** A run that begins with an idea. */
export async function newRun({ host, interruptions }: Session, parts: NewRun): Promise<Production> {
  const { idea, settings, store } = parts;
  const runId = freshRunId(host.clock.now());
  const about = aboutFor({ ...parts, version: host.version, seal: await sealOf(store, runId) });
  const { signal } = interruptions;
  const { rounds } = settings;
  return { ...parts, runId, past: undefined, begin: ({ team }) => team.run(idea, { id: runId, rounds, signal, about }) };
}
