import type { Sink } from "./host.ts";

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
    // Separators that JSON leaves alone and some readers of lines do not.
    const line = JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
    if (this.#sink.write(`${line}\n`)) return;
    await new Promise<void>((resolve) => (this.#proceed = resolve));
  }
}
