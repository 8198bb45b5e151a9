import type { Sink } from "./host.ts";

/**
 * Writes lines at the pace of the reader. Once the reader is gone it writes nothing more and says nothing: that the pipe closed is told by
 * the stream itself.
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

  /** Whether nobody reads any more. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Resolves when the stream takes more. To be awaited before the next call. @param line without its end */
  async write(line: string): Promise<void> {
    if (this.#isGone) return;
    if (this.#sink.write(`${line}\n`)) return;
    await new Promise<void>((resolve) => (this.#proceed = resolve));
  }
}
