import type { StepEnded, StepStarted } from "../runtime/record/event.ts";
import type { Run } from "../team/run.ts";
import { shown } from "./screen/text.ts";
import type { Session } from "./session.ts";

/** Characters of a call and of its result that a line shows. */
const CALL = 200;
const RESULT = 160;
/** Characters of one line of a text, and of the whole. */
const LONGEST_LINE = 4_000;
const LONGEST_TEXT = 100_000;

/**
 * Tells a person what an agent says and does while it works: its words with its calls, what came of each, and which were not allowed. What it
 * says without a call is its answer, which is told once, with the result; so its words are told when it is known that calls come with them.
 */
export function tellAgent(session: Session, run: Run): void {
  const { screen } = session;
  const { style } = screen;
  /** What each answer of the model says so far, by the key of its step. */
  const said = new Map<string, string>();
  const calls = new Map<string, string>();
  const tell = (line: string): void => screen.say(line);
  run.on("model.delta", ({ step, text }) => void said.set(step, `${said.get(step) ?? ""}${text}`.slice(0, LONGEST_TEXT)));
  run.on("model.void", ({ step }) => void said.delete(step));
  run.on("warning", ({ text }) => screen.showWarning(text));
  run.on("step.started", (started) => {
    if (started.kind !== "tool" || started.in !== undefined) return;
    const line = `${style.active(shown(started.name, 60))} ${style.faint(shown(argumentsOf(started), CALL))}`;
    calls.set(started.key, line);
    tell(line);
  });
  run.on("step.ended", (ended) => {
    if (!calls.delete(ended.key)) {
      const lines = hasCalls(ended) ? (said.get(ended.key) ?? "").split("\n") : [];
      for (const line of lines) if (line.trim() !== "") tell(`  ${shown(line, LONGEST_LINE)}`);
      if (ended.retry !== true) said.delete(ended.key);
      return;
    }
    const { outcome, words } = resultOf(ended);
    const shownWords = shown(words, RESULT);
    tell(`  ${outcome === "ok" ? style.faint(shownWords) : style.warn(shownWords)}`);
  });
}

function argumentsOf({ request }: StepStarted): string {
  const { args } = request as { readonly args?: unknown };
  return JSON.stringify(args ?? {});
}

/** Whether a model's answer calls tools: only then are its words not the result. */
function hasCalls({ value }: StepEnded): boolean {
  const { toolCalls } = (value ?? {}) as { readonly toolCalls?: unknown };
  return Array.isArray(toolCalls) && toolCalls.length > 0;
}

function resultOf({ value, error }: StepEnded): { readonly outcome: string; readonly words: string } {
  if (error !== undefined) return { outcome: "failed", words: error.message };
  const { outcome = "ok", result = {} } = (value ?? {}) as {
    readonly outcome?: string;
    readonly result?: { readonly output?: unknown; readonly error?: string };
  };
  const said = result.error ?? result.output ?? "";
  const text = typeof said === "string" ? said : JSON.stringify(said);
  return { outcome, words: text.split("\n").find((line) => line.trim() !== "") ?? "(nothing)" };
}
