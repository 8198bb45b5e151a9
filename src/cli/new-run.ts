import { freshRunId } from "../kernel/id.ts";
import type { Json } from "../kernel/json.ts";
import { aboutFor } from "./about.ts";
import type { Production } from "./production.ts";
import { sealOf } from "./seal.ts";
import type { Session } from "./session.ts";

/** What a run that begins is made of. */
export interface NewRun extends Pick<Production, "settings" | "chosen" | "sandbox" | "folder" | "store"> {
  readonly idea: string;
}

/** A run that begins with an idea. */
export function newRun({ host, interruptions }: Session, parts: NewRun): Production {
  const { idea, settings, store } = parts;
  const { signal } = interruptions;
  const { rounds } = settings;
  const runId = freshRunId(host.clock.now());
  let about: Json = null;
  return {
    ...parts,
    runId,
    past: undefined,
    prepare: async ({ agent }) => {
      about = aboutFor({ ...parts, settings: { ...settings, agent }, version: host.version, seal: await sealOf(store, runId) });
    },
    begin: ({ team }) => team.run(idea, { id: runId, rounds, signal, about }),
  };
}
