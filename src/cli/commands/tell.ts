import { UsageError } from "../../kernel/errors.ts";
import { createMessage, type Message } from "../../message/message.ts";
import type { RunState } from "../../runtime/record/run-state.ts";
import type { Run } from "../../team/run.ts";
import type { ResumeOptions } from "../../team/team-options.ts";
import type { Team } from "../../team/team.ts";
import type { ExitCode } from "../errors.ts";
import type { Host } from "../host.ts";
import { refuseFixed } from "../option-values.ts";
import type { Flags } from "../options.ts";
import { shown } from "../screen/text.ts";
import type { Session } from "../session.ts";
import { idList, withHeldRun } from "../stored-run.ts";
import { readText } from "../text-file.ts";
import { continueRun, endOf } from "./resume.ts";

const NAMED = 20;

export async function tell(session: Session, flags: Flags, id: string, ...words: string[]): Promise<ExitCode> {
  refuseFixed(flags);
  const { screen, host } = session;
  const text = await textOf(host, id, words, flags.file);
  return withHeldRun(session, flags, id, (store, run) => {
    const { runId, state } = run;
    const message = messageFor(state, text, flags.to);
    screen.say(screen.style.strong(`Telling run ${shown(runId, 100)}, ${endOf(state)}: ${shown(text, 200)}`));
    const begin = (team: Team, o: ResumeOptions): Run => {
      const resumed = team.resume(runId, { ...o, add: [message] });
      resumed.on("message", ({ to }) => {
        if (to.length > 0) screen.say(screen.style.faint(`It goes to ${idList([...to], NAMED)}.`));
        else screen.say(screen.style.warn("No role hears it: none watches what a user says. Name one: --to <role>."));
      });
      return resumed;
    };
    return continueRun(session, { store, run, flags, hasMessage: true, begin });
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
  const expected = `Expected the name of a role of the run, got --to ${shown(to, 60)}`;
  throw new UsageError("ROLE_UNKNOWN", `${expected}. There are: ${idList([...roles.keys()], NAMED)}.`);
}
