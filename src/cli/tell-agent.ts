import type { StepEnded, StepStarted } from "../run/event.ts";
import type { Run } from "../team/run.ts";
import { shown } from "./screen/text.ts";
import type { Session } from "./session.ts";

/** Characters of a call and of its result that a line shows. */
const CALL = 200;
const RESULT = 160;
/** Text of a model that is held back until its line is whole. */
const LONGEST_LINE = 4_000;

/**
 * Tells a person what an agent says and does while it works: its words line by line as they come, its calls, and the first line of what
 * came of each. Its last words are the answer, which is told with the result.
 */
export function tellAgent(session: Session, run: Run): void {
  const { screen } = session;
  const { style } = screen;
  let text = "";
  const calls = new Map<string, string>();
  const tell = (line: string): void => screen.say(line);
  const say = (lines: readonly string[]): void => {
    for (const line of lines) if (line.trim() !== "") tell(`  ${shown(line, LONGEST_LINE)}`);
  };
  run.on("model.delta", (delta) => {
    const lines = `${text}${delta.text}`.slice(-LONGEST_LINE).split("\n");
    text = lines.pop() ?? "";
    say(lines);
  });
  run.on("step.started", (started) => {
    if (started.kind !== "tool" || started.in !== undefined) return;
    const line = `${style.active(shown(started.name, 60))} ${style.faint(shown(argumentsOf(started), CALL))}`;
    calls.set(started.key, line);
    tell(line);
  });
  run.on("step.ended", (ended) => {
    if (!calls.delete(ended.key)) {
      if (hasCalls(ended)) say([text]);
      text = "";
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
