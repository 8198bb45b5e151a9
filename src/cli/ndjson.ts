import type { Sink } from "./host.ts";

/** Separators, control and format characters: JSON leaves them alone, readers of lines and terminals do not. */
const UNSEEN = /[\u007f-\u009f\u2028\u2029\p{Cf}]/gu;

/** A value as one line of JSON, its end included, in which every character that is not seen is written as `\uXXXX`. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value).replace(UNSEEN, escaped)}\n`;
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

/**
 * Writes values as lines of JSON, at the pace of the reader. Once the reader is gone it writes nothing more and says nothing: that the
 * pipe closed is told by the stream itself.
 */
export class JsonLines {
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

  /** Resolves when the stream takes more. To be awaited before the next call. */
  async write(value: unknown): Promise<void> {
    if (this.#isGone) return;
    if (this.#sink.write(jsonLine(value))) return;
    await new Promise<void>((resolve) => (this.#proceed = resolve));
  }
}
