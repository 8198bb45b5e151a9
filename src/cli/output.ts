import type { Sink } from "./host.ts";

/** Separators, control and format characters: JSON leaves them as they are, but readers of lines and terminals act on them. */
const UNSEEN = /[\u007f-\u009f\u2028\u2029\p{Cf}]/gu;

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
 * Lines.L2 (`#isGone`) once the reader is gone nothing more is written or awaited, and nothing is reported: the stream itself does that.
 */
export class Lines {
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
  async write(line: string): Promise<void> {
    if (this.#isGone) return;
    if (this.#sink.write(`${line}\n`)) return;
    await new Promise<void>((resolve) => (this.#proceed = resolve));
  }
}

export class JsonLines extends Lines {
  override write(value: unknown): Promise<void> {
    return super.write(escapedJson(JSON.stringify(value)));
  }
}
