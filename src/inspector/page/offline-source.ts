import type { RunEvent } from "../../runtime/record/event.ts";
import { questionIn } from "../../runtime/record/questions.ts";
import { askedIn, type RunSummary, type RunTally, TallyFold } from "../../runtime/record/run-summary.ts";
import { refuseNewer, type RunSource, type RunStanding } from "./run-source.ts";

export function offlineSource(runs: readonly (readonly RunEvent[])[]): RunSource {
  const known = new Map(runs.flatMap((events) => (events[0] === undefined ? [] : [[events[0].runId, events]])));
  const eventsOf = (run: string): readonly RunEvent[] => {
    const events = known.get(run);
    if (events === undefined) throw new Error(`Expected a run of this file, got ${run}. Go back to the list of runs.`);
    return events;
  };
  const tallies = new Map<string, RunTally>();
  const tallyOf = (run: string): RunTally => {
    const tally = tallies.get(run) ?? tallied(eventsOf(run));
    tallies.set(run, tally);
    return tally;
  };
  const summaryOf = (run: string): RunSummary => tallyOf(run).summary;
  return {
    kind: "offline",
    runs: () => Promise.resolve({ runs: [...known.keys()].map(summaryOf) }),
    standing: async (run) => Promise.resolve({ summary: summaryOf(run), questions: questionsOf(tallyOf(run)) }),
    async watch(run, watcher) {
      const events = eventsOf(run);
      events.forEach(refuseNewer);
      watcher.events(events);
      watcher.connection({ state: "offline" });
      return Promise.resolve();
    },
  };
}

/** No one answers here, so the step names the question. */
function questionsOf(tally: RunTally): RunStanding["questions"] {
  return askedIn(tally).map((step) => ({ id: `${step.act} ${step.key}`, ...questionIn(step) }));
}

function tallied(events: readonly RunEvent[]): RunTally {
  const fold = new TallyFold(events[0]?.runId ?? "");
  for (const event of events) fold.add(event);
  return fold.tally;
}
