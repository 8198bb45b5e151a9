import { AbortedError, UsageError } from "../kernel/errors.ts";
import { formatUsd } from "../model/money.ts";
import { canAsk } from "./host.ts";
import { promptLine } from "./prompt.ts";
import type { Session } from "./session.ts";
import { column, shown } from "./screen/text.ts";

/** What a person is asked to agree to. */
export interface Bargain {
  readonly idea: string;
  /** What works on it. Default: a company. */
  readonly by?: "company" | "agent";
  /** Whether the idea may be a slip: then no answer means no. */
  readonly isDoubtful: boolean;
  readonly model: string;
  /** Micro-dollars; undefined when nothing binds. */
  readonly budget: number | undefined;
  /** What binds besides: `20 rounds`, `30 steps`. */
  readonly bounds: string;
  readonly folder: string;
  /** How tests run; of an agent, its tools and what is asked for. */
  readonly tests: string;
}

/** Characters of an idea that are shown. */
const IDEA = 300;

/**
 * Has a paid run confirmed where a person can be asked. Elsewhere it goes on: the caps bind it.
 *
 * @throws AbortedError when the person says no, ends the input, or presses Ctrl-C.
 */
export async function confirmPaidRun(session: Session, bargain: Bargain): Promise<void> {
  const { host, screen, interruptions } = session;
  if (!canAsk(host)) return;
  const isAgent = bargain.by === "agent";
  const rows: readonly (readonly [string, string])[] = [
    [isAgent ? "Task" : "Idea", shown(bargain.idea, IDEA)],
    ["Model", shown(bargain.model)],
    ["Cap", `${bargain.budget === undefined ? "none: the price is not known" : formatUsd(bargain.budget)}, ${bargain.bounds}`],
    ["Folder", shown(bargain.folder)],
    [isAgent ? "Tools" : "Tests", shown(bargain.tests)],
  ];
  screen.insist([screen.style.strong("This asks a model and may cost money:")]);
  for (const [label, text] of rows) screen.insist([`  ${screen.style.faint(column(label, 6))}  ${text}`], 10);
  const question = bargain.isDoubtful ? "One word only. Is that your idea? [y/N] " : "Start? [Y/n] ";
  const answer = await screen.aside(() => promptLine(host, interruptions, question));
  if (isYes(answer, !bargain.isDoubtful)) return;
  throw new AbortedError("it was not confirmed, and nothing was started");
}

/**
 * Where nobody can be asked, a single word that is no idea of the bundle may be a mistyped command.
 *
 * @throws UsageError `IDEA_DOUBTFUL`
 */
export function refuseDoubtful(idea: string): never {
  const word = shown(idea, 60);
  throw new UsageError(
    "IDEA_DOUBTFUL",
    `Expected an idea of more than one word, for "${word}" may be a mistyped command and nobody is here to ask. If it is your idea, say: troupe run ${word}, or add --yes.`,
  );
}

/**
 * Has something that cannot be undone confirmed, unless the user said yes beforehand.
 *
 * @throws AbortedError when the person says no; UsageError `UNCONFIRMED` where nobody can be asked
 */
export async function confirmRemoval({ host, screen, interruptions }: Session, question: string, isAgreed: boolean): Promise<void> {
  if (isAgreed) return;
  if (!canAsk(host)) {
    throw new UsageError("UNCONFIRMED", `Expected a yes to: ${question} Nobody is here to be asked, so say --yes.`);
  }
  const answer = await screen.aside(() => promptLine(host, interruptions, `${question} [y/N] `));
  if (!isYes(answer, false)) throw new AbortedError("it was not confirmed, and nothing was changed");
}

/** Whether an answer means yes. Undefined: the input ended. */
export function isYes(answer: string | undefined, byDefault: boolean): boolean {
  if (answer === undefined) return false;
  const word = answer.trim().toLowerCase();
  return word === "" ? byDefault : word === "y" || word === "yes";
}
