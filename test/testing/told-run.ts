import { join } from "node:path";
import type { ChatModel } from "../../src/model/chat-model.ts";
import type { RoleContext } from "../../src/role/context.ts";
import type { Said } from "../../src/role/role.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import type { RunResult } from "../../src/runtime/run-result.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { type Cassette, readCassette, saveCassette } from "../../src/testing/cassette.ts";
import { answering } from "../runtime/town.ts";
import { eventsOf } from "../team/recorded.ts";
import { scratchFolder } from "../workspace/scratch.ts";

export const price = { input: 3, output: 7 };

/** Waits for nothing, and lets nobody wait too long. */
export const hasty = { now: () => 0, timer: (ms: number, fire: () => void) => (ms < 30_000 ? (setImmediate(fire), () => {}) : () => {}) };

export type React = (rc: RoleContext) => Promise<Said>;

export interface Told {
  readonly result: RunResult;
  readonly events: readonly RunEvent[];
  readonly cassette: Cassette;
}

/** The path of a new cassette. */
export function newPath(): string {
  return join(scratchFolder(), "r.cassette.json");
}

/** A run of one role, and the cassette of it as it comes from its file. */
export async function told(react: React, model: ChatModel, options: TeamOptions = {}): Promise<Told> {
  const journal = memoryJournal();
  const team = new Team({ seed: "s", clock: hasty, ...options, model, journal, roles: [answering("Ann", react)] });
  const result = await team.run("go", { id: "r" }).result;
  const path = newPath();
  await saveCassette(journal, "r", path);
  return { result, events: await eventsOf(journal, "r"), cassette: await readCassette(path) };
}
