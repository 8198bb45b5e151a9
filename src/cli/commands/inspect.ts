import { randomBytes } from "node:crypto";
import { offlinePage, readPage } from "../../inspector/page-file.ts";
import { throwIfAborted } from "../../kernel/abort.ts";
import { UsageError } from "../../kernel/errors.ts";
import type { RunEvent } from "../../runtime/record/event.ts";
import { createServer } from "../../server/index.ts";
import type { OpenedTeam, TeamRequest } from "../../server/server-options.ts";
import { Team } from "../../team/team.ts";
import type { Flags } from "../options.ts";
import { plural } from "../screen/amounts.ts";
import { shown } from "../screen/text.ts";
import { exportLines, report, type Session } from "../session.ts";
import { withRuns } from "../store.ts";
import { storedRun, withRun } from "../stored-run.ts";

/** Bytes of the token of one inspection: nobody guesses it. */
const TOKEN_BYTES = 24;
/** Milliseconds that a page which is being sent gets at the end. */
const GRACE = 0;

export function inspect(session: Session, flags: Flags, id?: string): Promise<void> {
  const { host, interruptions } = session;
  const { port = 0 } = flags;
  return withRuns(session, flags, async ({ journal }) => {
    const run = id === undefined ? undefined : await storedRun(journal, id);
    const token = randomBytes(TOKEN_BYTES).toString("base64url");
    const server = createServer({ journal, teams: readOnly, token, page: readPage, recover: false, version: host.version });
    try {
      const { url } = await server.listen({ port });
      const address = `${url}/#token=${token}${run === undefined ? "" : `&run=${encodeURIComponent(run)}`}`;
      const text = `The inspector is at ${address}\nThe address has a token: keep it to yourself. Ctrl-C ends it.`;
      await report(session, text, { type: "inspector", url: address });
      await interruptions.raised();
      return;
    } finally {
      await server.close({ grace: GRACE });
    }
  });
}

/** A team without roles: the page shows no actions, and a request for one is refused. */
async function readOnly({ purpose }: TeamRequest): Promise<OpenedTeam> {
  if (purpose === "look") return Promise.resolve({ team: new Team({ roles: [] }) });
  const text = "Expected a server with a team, but troupe inspect only reads. Use troupe answer, tell, resume or fork, or troupe serve.";
  throw new UsageError("READ_ONLY", text);
}

export function runsHtml(session: Session, flags: Flags, id: string, file?: string): Promise<void> {
  const { html = "" } = flags;
  if (file !== undefined || flags.otlp !== undefined)
    throw new UsageError("OPTION_CONFLICT", `Expected --html alone, got another target besides. Write --html ${shown(html, 100)}`);
  return withRun(session, flags, id, async ({ journal }, runId) => {
    const read = { events: 0 };
    const lines = offlinePage(await readPage(), [counted(journal.read(runId, 0), read, session.interruptions.signal)]);
    const done = (): [string, object] => [
      `Exported run ${shown(runId, 100)}, ${plural(read.events, "event")}, to ${shown(html, 200)}. Open it in a browser.`,
      { runId, events: read.events },
    ];
    await exportLines(session, { file: html, example: `troupe runs export ${shown(runId, 60)} --html run.html`, lines, done });
  });
}

async function* counted(events: AsyncIterable<RunEvent>, read: { events: number }, signal: AbortSignal): AsyncGenerator<RunEvent, void> {
  for await (const event of events) {
    throwIfAborted(signal);
    read.events += 1;
    yield event;
  }
}
