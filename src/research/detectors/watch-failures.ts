import type { Observed, RunEvent } from "../../index.ts";
import { aFunction, having, takes } from "../../kernel/argument.ts";
import { EVENT_TYPES } from "../../runtime/record/event-type.ts";
import type { FailureFinding } from "./finding.ts";
import { type FailureOptions, FailureWatch } from "./failure-watch.ts";

/** What can be followed: a run of a team, or an environment. */
export interface FailureSource {
  on<T extends Observed["type"]>(type: T, listener: (observed: Extract<Observed, { readonly type: T }>) => void): () => void;
}

/**
 * Tells of failures while a run is under way: see {@link FailureWatch}. Call it before the run begins, because the watch needs all events. The
 * returned function ends the watch.
 *
 * @param tell called for each finding, such as `(finding) => logger.warn(finding.text)`. An error that it throws is logged, and the run goes on.
 * @throws UsageError `ARGUMENT_INVALID`, `OPTION_INVALID`, `OPTION_UNKNOWN`
 * @example
 * import { createMessage, defineAction, defineRole, Environment } from "troupe";
 * import { watchFailures } from "troupe/research";
 * import { scriptedModel } from "troupe/testing";
 *
 * const Ask = defineAction({ name: "Ask", prompt: () => "Ask the tester.", sendTo: () => ["Tess"] });
 * const office = new Environment({ model: scriptedModel(["Is it done?"]) });
 * office.addRole(defineRole({ name: "Ada", actions: [Ask] }));
 * watchFailures(office, ({ failure, roles }) => console.log(failure, roles)); // lost-request [ 'Ada' ]
 * office.publishMessage(createMessage("Ask whether it is done.", { sendTo: "Ada" }));
 * await office.run();
 */
export function watchFailures(source: FailureSource, tell: (finding: FailureFinding) => void, options: FailureOptions = {}): () => void {
  takes("watchFailures", "source", source, having("a run or an environment", "on"));
  takes("watchFailures", "tell", tell, aFunction);
  const watch = new FailureWatch(options);
  const follow = (event: RunEvent): void => watch.add(event).forEach((finding) => tell(finding));
  const ends = EVENT_TYPES.map((type) => source.on(type, follow));
  return () => ends.forEach((end) => end());
}
