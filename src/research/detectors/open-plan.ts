import { listed } from "../../kernel/value-text.ts";
import { type RunEnded, type Detector, type Found, type SeenRun, MOST_NAMED } from "./finding.ts";

/** Finds a run that finished while the plan of a role has tasks that are not done. */
export class OpenPlan implements Detector {
  ended({ status }: RunEnded, run: SeenRun): readonly Found[] {
    if (status !== "finished") return [];
    return [...run.state.roles.values()].flatMap(({ name, plan }) => {
      const open = plan.tasks.filter(({ status: state }) => state === "open").map(({ id }) => id);
      if (open.length === 0 || !run.isJudged(name)) return [];
      const text = `The run finished while the plan of ${name} has ${open.length} of ${plan.tasks.length} tasks open: ${listed(open, MOST_NAMED)}.`;
      return [{ failure: "open-plan" as const, roles: [name], messages: [], text }];
    });
  }
}
