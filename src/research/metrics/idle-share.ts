import { iterable, object, takes } from "../../kernel/argument.ts";
import type { RunEvent } from "../../index.ts";

/**
 * Returns the share of turns in which a role that was hired did nothing, over all rounds of a run: 0 where every role acts in every round.
 * Undefined where the run has no rounds.
 *
 * @param events of one run, with `run.started`
 * @throws UsageError `ARGUMENT_INVALID` for what is no event
 * @example
 * import { defineRole, Environment, type RunEvent } from "troupe";
 * import { idleShare } from "troupe/research";
 *
 * const ann = defineRole({ name: "Ann", watch: ["UserRequirement"], step: () => undefined });
 * const ben = defineRole({ name: "Ben", watch: ["Nothing"], step: () => undefined });
 * const world = new Environment({ seed: 1 }).addRoles([ann, ben]);
 * const events: RunEvent[] = [];
 * for (const type of ["run.started", "act.ended", "round.ended"] as const) world.on(type, (event) => void events.push(event));
 * world.publishMessage("go");
 * await world.run();
 * console.log(idleShare(events)); // 0.5
 */
export function idleShare(events: Iterable<RunEvent>): number | undefined {
  takes("idleShare", "events", events, iterable("events of a run"));
  const team = new Set<string>();
  let active = new Set<string>();
  let [acted, turns] = [0, 0];
  for (const event of events) {
    takes("idleShare", "an event", event, object("an event"));
    switch (event.type) {
      case "run.started":
      case "role.hired":
        for (const { name } of event.roles) team.add(name);
        break;
      case "role.retired":
        team.delete(event.role);
        break;
      case "act.ended":
      case "act.failed":
        active.add(event.role);
        break;
      case "round.ended":
        // A role that left during the round could have acted in it.
        turns += new Set([...team, ...active]).size;
        acted += active.size;
        active = new Set();
        break;
      default:
        break;
    }
  }
  return turns === 0 ? undefined : 1 - acted / turns;
}
