import { EVENT_VERSION, type RunEvent } from "../../runtime/record/event.ts";
import type { RunSource, RunSummary } from "./run-source.ts";

/** A source of the runs whose events came with the page. It reaches no network. */
export function offlineSource(runs: readonly (readonly RunEvent[])[]): RunSource {
  const known = new Map(runs.flatMap((events) => (events[0] === undefined ? [] : [[events[0].runId, events]])));
  return {
    kind: "offline",
    runs: () => Promise.resolve([...known.values()].map(summaryOf)),
    watch(run, watcher) {
      const events = known.get(run);
      if (events === undefined) watcher.connection({ state: "refused", why: `This file has no run ${run}.` });
      else {
        const newer = events.find(({ v }) => v > EVENT_VERSION);
        if (newer !== undefined) watcher.connection({ state: "refused", why: newerVersion(newer.v) });
        else {
          watcher.events(events);
          watcher.connection({ state: "offline" });
        }
      }
      return Promise.resolve();
    },
  };
}

/** Says that a record was written by a newer version than this page reads. */
export function newerVersion(found: number): string {
  return `Expected events of version ${EVENT_VERSION}, got version ${found}. A newer version of Troupe wrote this run. Open it with that version.`;
}

function summaryOf(events: readonly RunEvent[]): RunSummary {
  const [first, last] = [events[0], events.at(-1)];
  const started = first?.type === "run.started" ? first : undefined;
  const about = (started?.about ?? {}) as { readonly idea?: unknown };
  const isEnded = last?.type === "run.ended";
  return {
    id: first?.runId ?? "",
    status: isEnded ? last.status : "open",
    idea: typeof about.idea === "string" ? about.idea : (started?.team ?? ""),
    team: started?.team ?? "",
    events: events.length,
    started: first?.time ?? 0,
    ...(isEnded ? { ended: last.time } : {}),
    cost: events.reduce((sum, event) => sum + (event.type === "step.ended" ? (event.cost ?? 0) : 0), 0),
    calls: events.filter((event) => event.type === "step.started" && event.kind === "model").length,
    tokens: 0,
    roles: started?.roles.map(({ name }) => name) ?? [],
    ...(started?.parent === undefined ? {} : { parent: started.parent }),
  };
}
