import type { Memory } from "../../memory/memory.ts";
import { Plan } from "../../role/plan.ts";
import { NOTHING_SUMMED_UP, type RoleSummary } from "../../memory/summary-levels.ts";
import type { Joins } from "../../role/reaction.ts";
import type { HiredRole } from "./event.ts";
import type { OpenActivation, StepOutcome } from "./run-state.ts";

/** The plan of a role that has none. Shared, because plans in a state are never changed but replaced. */
const emptyPlan: Plan = new Plan({ goal: "" });
const noJoins: Joins = Object.freeze({});
const noCarry: ReadonlyMap<string, StepOutcome> = new Map();
const nonePaid: ReadonlyMap<string, number> = new Map();

/** What only a role holds that has done more than hear, speak and change its state. It is there when some of it is first written. */
export class Life {
  plan: Plan = emptyPlan;
  joins: Joins = noJoins;
  summary: RoleSummary = NOTHING_SUMMED_UP;
  workingMemory: Memory | undefined;
  open: OpenActivation | undefined;
  trouble: Trouble | undefined;
  hiredAgain: Omit<HiredRole, "name"> | undefined;
}

/** What a role reads that has none of it. */
export const nothing: Readonly<Pick<Life, "plan" | "joins" | "summary">> & Readonly<Pick<Trouble, "carry" | "paid">> = {
  plan: emptyPlan,
  joins: noJoins,
  summary: NOTHING_SUMMED_UP,
  carry: noCarry,
  paid: nonePaid,
};

/** What only a role that has failed holds. */
export class Trouble {
  failures = 0;
  strikes = 0;
  isolated = 0;
  carry: ReadonlyMap<string, StepOutcome> = noCarry;
  paid: ReadonlyMap<string, number> = nonePaid;
  retake: number | undefined;
}

/** Its trouble, to be written. */
export function troubleOf(life: Life): Trouble {
  return (life.trouble ??= new Trouble());
}
