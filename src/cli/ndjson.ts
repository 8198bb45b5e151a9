import type { Sink } from "./host.ts";
import { Lines } from "./lines.ts";

/** Separators, control and format characters: JSON leaves them alone, readers of lines and terminals do not. */
const UNSEEN = /[\u007f-\u009f\u2028\u2029\p{Cf}]/gu;

/** A value as one line of JSON, its end included, in which every character that is not seen is written as `\uXXXX`. */
export function jsonLine(value: unknown): string {
  return `${seen(JSON.stringify(value))}\n`;
}

/** A text of JSON with every character that is not seen written as `\uXXXX`: the same value, fit for a terminal and for readers of lines. */
export function seen(json: string): string {
  return json.replace(UNSEEN, escaped);
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

/** Writes values as lines of JSON, at the pace of the reader: see {@link Lines}. */
export class JsonLines {
  readonly #lines: Lines;

  constructor(sink: Sink) {
    this.#lines = new Lines(sink);
  }

  /** Resolves when the stream takes more. To be awaited before the next call. */
  write(value: unknown): Promise<void> {
    return this.#lines.write(seen(JSON.stringify(value)));
  }
}
