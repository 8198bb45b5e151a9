import { UsageError } from "../../kernel/errors.ts";
import { listed } from "../../kernel/value-text.ts";
import { createMessage, type Message } from "../../message/message.ts";
import type { MessagePublished } from "../../runtime/record/event.ts";
import type { RunState } from "../../runtime/record/run-state.ts";
import type { ExitCode } from "../errors.ts";
import type { Host } from "../host.ts";
import { refuseFixed } from "../option-values.ts";
import type { Flags } from "../options.ts";
import { shown } from "../screen/text.ts";
import type { Session } from "../session.ts";
import { type Store, withRuns } from "../store.ts";
import { holdingRun, loadRun } from "../stored-run.ts";
import { readText } from "../text-file.ts";
import { assertNotEmpty, continueRun, endOf } from "./resume.ts";

const NAMED = 20;

export function tell(session: Session, flags: Flags, id: string, ...words: string[]): Promise<ExitCode> {
  refuseFixed(flags);
  return withRuns(session, flags, async (store) => {
    const text = await textOf(session.host, id, words, flags.file);
    return holdingRun(store, id, (runId) => told(session, store, runId, text, flags));
  });
}

async function told(session: Session, store: Store, runId: string, text: string, flags: Flags): Promise<ExitCode> {
  const { screen, interruptions } = session;
  const run = await loadRun(store.journal, runId, { signal: interruptions.signal });
  assertNotEmpty(run);
  const message = messageFor(run.state, text, flags.to);
  screen.say(screen.style.strong(`Telling run ${shown(runId, 100)}, ${endOf(run.state)}: ${shown(text, 200)}`));
  return continueRun(session, {
    store,
    run,
    flags,
    isTold: true,
    begin: (team, o) => {
      const goneOn = team.resume(runId, { ...o, add: [message] });
      goneOn.on("message", (event) => sayWhoHears(session, event));
      return goneOn;
    },
  });
}

async function textOf(host: Host, id: string, words: readonly string[], file: string | undefined): Promise<string> {
  const [word, ...others] = words;
  const command = `troupe tell ${shown(id, 60)}`;
  if (others.length > 0) {
    const whole = shown(words.join(" "), 200);
    throw new UsageError("TEXT_UNQUOTED", `Expected one text, got ${words.length} words. Put it in quotes: ${command} "${whole}"`);
  }
  if (word !== undefined && file !== undefined) {
    throw new UsageError("TEXT_TWICE", "Expected one text, got one on the command line and one by --file. Leave one out.");
  }
  const source = file ?? (word === "-" ? "-" : undefined);
  const text = (source === undefined ? (word ?? "") : await readText(host, source, "the text")).trim();
  if (text !== "") return text;
  throw new UsageError("TEXT_MISSING", `Expected a text to tell the run, got none. Say: ${command} "make the buttons larger"`);
}

function messageFor({ roles }: RunState, text: string, to: string | undefined): Message | string {
  if (to === undefined) return text;
  if (roles.has(to)) return createMessage(text, { sendTo: to });
  const names = listed(
    [...roles.keys()].map((name) => shown(name, 60)),
    NAMED,
  );
  throw new UsageError("ROLE_UNKNOWN", `Expected the name of a role of the run, got --to ${shown(to, 60)}. There are: ${names}.`);
}

function sayWhoHears({ screen }: Session, { to }: MessagePublished): void {
  if (to.length === 0) screen.say(screen.style.warn("No role hears it: none watches what a user says. Name one: --to <role>."));
  else
    screen.say(
      screen.style.faint(
        `It goes to ${listed(
          [...to].map((name) => shown(name, 60)),
          NAMED,
        )}.`,
      ),
    );
}
