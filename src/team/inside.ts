import type { BudgetPool } from "../kernel/budget.ts";
import { meterFor } from "../model/ask.ts";
import type { Scope } from "../kernel/scope.ts";
import { checkScope } from "../memory/memory-scope.ts";
import { presentMeter, runInside, unmetered } from "../model/meter.ts";
import type { TeamParts } from "./drive.ts";
import type { RunWork } from "./runs.ts";

/**
 * Returns the work of a run as a part of the activation or the call of a tool that starts it, if one does: it is bounded, recorded and replayed with
 * that. A run whose pools are those of the step that starts it is no part of it, but its spending is.
 */
export function inside({ name, options }: TeamParts, pools: readonly (BudgetPool | undefined)[], work: RunWork): RunWork {
  const meter = meterFor(options.model, pools);
  return (controls) => runInside(meter, { kind: "team", name, request: {} }, () => work(controls));
}

/** Returns whose words a new run has: those of the run that it is inside of, unless it says otherwise. @throws UsageError as `checkScope` */
export function scopeHere(what: string, given: Scope | undefined): { readonly scope?: Scope } {
  checkScope(what, given);
  const scope = given ?? presentMeter()?.scope;
  return scope === undefined ? {} : { scope };
}

/** Returns the work of a run that is no part of what starts it. */
export function alone(work: RunWork): RunWork {
  return (controls) => unmetered(() => work(controls));
}
