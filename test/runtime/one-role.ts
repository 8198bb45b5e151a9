import type { RoleContext } from "../../src/role/context.ts";
import type { Said } from "../../src/role/role.ts";
import type { RunEvent, StepEnded, StepStarted } from "../../src/runtime/record/event.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import type { RunResult } from "../../src/runtime/run-result.ts";
import { answering } from "./town.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";

/** A run, and what its journal has of it. */
export interface Recorded {
  readonly result: RunResult;
  readonly events: RunEvent[];
  readonly steps: (StepStarted | StepEnded)[];
}

/** One role that lives like this, in a team whose events are kept. */
export async function lived(react: (rc: RoleContext) => Said | Promise<Said>, options: TeamOptions = {}): Promise<Recorded> {
  const journal = memoryJournal();
  const team = new Team({ seed: "s", ...options, journal, roles: [answering("Ann", react)] });
  const result = await team.run("go", { id: "r" }).result;
  const events = await eventsOf(journal, "r");
  return { result, events, steps: events.filter((event) => event.type === "step.started" || event.type === "step.ended") };
}

/** The same role goes on from a part of a record. */
export async function goneOn(react: (rc: RoleContext) => Said | Promise<Said>, events: readonly RunEvent[]): Promise<RunResult> {
  return new Team({ seed: "s", journal: await journalWith("r", events), roles: [answering("Ann", react)] }).resume("r").result;
}
