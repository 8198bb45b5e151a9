import type { RunClient } from "../../client/client.ts";
import type { RunEvent } from "../../runtime/record/event.ts";
import { isNewer, newerVersion } from "./offline-source.ts";
import type { RunActions, RunSource, RunWatcher } from "./run-source.ts";

/** Runs of one page of the list. */
const PAGE = 100;

/** A source of the runs of a server. Asks once for its team: without roles, runs can only be read. */
export async function liveSource(client: RunClient, signal: AbortSignal): Promise<RunSource> {
  const { roles, reserve } = await client.team({ signal });
  return {
    kind: "live",
    ...(roles.length === 0 ? {} : { actions: actionsOf(client, [...reserve, ...roles]) }),
    runs: async (cursor, aborted) => client.list({ limit: PAGE, signal: aborted, ...(cursor === undefined ? {} : { cursor }) }),
    async standing(run, aborted) {
      const summary = await client.read(run, { signal: aborted });
      return { summary, questions: summary.questions ?? [] };
    },
    watch: (run, watcher, aborted) => watch(client, run, watcher, aborted),
  };
}

async function watch(client: RunClient, run: string, watcher: RunWatcher, signal: AbortSignal): Promise<void> {
  let tries = 0;
  let coming: RunEvent[] = [];
  // Many events come in one piece of the stream. The page draws them together.
  const flush = (): void => {
    const events = coming;
    coming = [];
    if (events.length > 0) watcher.events(events);
  };
  const onState = ({ connected }: { readonly connected: boolean }): void => {
    tries = connected ? 0 : tries + 1;
    const why = "The server cannot be reached. The page tries again by itself.";
    watcher.connection(connected ? { state: "live" } : { state: "lost", tries, why });
  };
  try {
    for await (const event of client.events(run, { follow: true, signal, onState, onNotice: watcher.notice })) {
      if (isNewer(event.v)) throw new Error(newerVersion(event.v));
      if (coming.push(event) === 1) setTimeout(flush);
    }
  } finally {
    flush();
  }
}

function actionsOf(client: RunClient, definitions: readonly string[]): RunActions {
  const done = async (work: Promise<unknown>): Promise<void> => {
    await work;
  };
  return {
    answer: (run, question, answer) => done(client.answer(run, question, answer)),
    publish: (run, content, sendTo) => client.publish(run, { content, ...(sendTo.length === 0 ? {} : { sendTo }) }),
    pause: (run) => done(client.pause(run)),
    proceed: (run) => done(client.proceed(run)),
    stop: (run) => done(client.stop(run)),
    resume: (run) => done(client.resume(run)),
    definitions,
    hire: (run, role, as) => done(client.hire(run, as === undefined ? role : { role, as })),
    retire: (run, name) => done(client.retire(run, name)),
    fork: async (run, at, change) => (await client.fork(run, { at, change })).id,
  };
}
