import { throwIfAborted } from "../kernel/abort.ts";
import { JournalError, MemoryError } from "../kernel/errors.ts";
import type { Sink } from "./host.ts";
import type { TextStyle } from "./screen/layout.ts";
import { bytesText, columnsOf, shown, styleFor, wantsColor } from "./screen/text.ts";
import type { Session } from "./session.ts";

/** Separators, control and format characters: JSON leaves them as they are, but readers of lines and terminals act on them. */
const UNSEEN = /[\u007f-\u009f\u2028\u2029\p{Cf}]/gu;

/** A value as one line of JSON, with its line end and with invisible characters escaped. */
export function jsonLine(value: unknown): string {
  return `${escapedJson(JSON.stringify(value))}\n`;
}

/** JSON with every invisible character written as `\uXXXX`: the same value, safe for terminals and readers of lines. */
export function escapedJson(json: string): string {
  return json.replace(UNSEEN, (character) => {
    const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
  });
}

/**
 * Writes lines at the pace of the reader. It owns the wait for the stream to take more.
 *
 * Lines.L1 (`write`) a line that the stream does not take at once is waited for.
 * Lines.L2 (`#isGone`) once the reader is gone nothing more is written, nobody waits, and nothing is reported: the stream itself does that.
 */
class Lines {
  readonly #sink: Sink;
  #isGone = false;
  #proceed: () => void = () => {};

  constructor(sink: Sink) {
    this.#sink = sink;
    const gone = (): void => {
      this.#isGone = true;
      this.#proceed();
    };
    sink.on("error", gone);
    sink.on("close", gone);
    sink.on("drain", () => this.#proceed());
  }

  /** Resolves when the stream takes more. To be awaited before the next call. @param line without its end */
  async write(line: string): Promise<void> {
    if (this.#isGone) return;
    if (this.#sink.write(`${line}\n`)) return;
    await new Promise<void>((resolve) => (this.#proceed = resolve));
  }
}

/** Writes values as lines of JSON, at the pace of the reader: see {@link Lines}. */
export class JsonLines extends Lines {
  override write(value: unknown): Promise<void> {
    return super.write(escapedJson(JSON.stringify(value)));
  }
}

/**
 * Writes lines to standard output at the pace of its reader. They must be safe for a terminal.
 *
 * @throws ControlError when an interruption comes; a reader that is gone is one.
 */
export async function printLines({ host, interruptions }: Session, lines: AsyncIterable<string> | Iterable<string>): Promise<void> {
  const out = new Lines(host.stdout);
  for await (const line of lines) {
    await out.write(line);
    throwIfAborted(interruptions.signal);
  }
}

/** Reports what a command did: as one line of JSON with `--json`, else as a sentence on the screen. */
export async function report({ json, screen }: Session, sentence: string, facts: object): Promise<void> {
  if (json === undefined) screen.say(sentence);
  else await json.write(facts);
}

/** Shrinks a store and prints its sizes. A store that cannot be shrunk is a warning: the removal is done. */
export async function printCompaction(
  { screen, json }: Session,
  compact: () => Promise<{ readonly before: number; readonly after: number }>,
  facts: object,
  done: string,
): Promise<void> {
  try {
    const { before, after } = await compact();
    await json?.write({ type: "compacted", ...facts, before, after });
    if (json === undefined) screen.say(`${done}; the store has ${bytesText(after)} now, and had ${bytesText(before)}.`);
  } catch (error) {
    const isUnwritable = error instanceof JournalError || error instanceof MemoryError;
    if (!(isUnwritable && ["JOURNAL_UNWRITABLE", "MEMORY_UNWRITABLE"].includes(error.code))) throw error;
    await json?.write({ type: "compacted", ...facts, before: null, after: null });
    screen.print([screen.style.warn(`${done}, but the store could not be made smaller: ${shown(error.message, 300)}`)]);
  }
}

export function resultStyle({ host, output }: Pick<Session, "host" | "output">): TextStyle {
  const isTTY = host.stdout.isTTY === true;
  const style = styleFor(wantsColor({ isOff: output.isColorOff, env: host.env, isTTY }));
  return { style, width: isTTY ? columnsOf(host.stdout) - 1 : Infinity };
}
