import { StringDecoder } from "node:string_decoder";

/** Collects the text of a stream up to a number of bytes; what comes later is dropped and a mark says so. */
export class CappedText {
  readonly #limit: number;
  readonly #decoder = new StringDecoder("utf8");
  readonly #pieces: string[] = [];
  #bytes = 0;
  #cut = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether something was dropped. */
  get isCut(): boolean {
    return this.#cut;
  }

  get text(): string {
    return this.#pieces.join("");
  }

  /** Takes the next bytes of the stream. */
  add(chunk: Buffer): void {
    if (this.#cut) return;
    const room = this.#limit - this.#bytes;
    this.#bytes += Math.min(chunk.length, room);
    this.#pieces.push(this.#decoder.write(chunk.subarray(0, room)));
    if (chunk.length <= room) return;
    this.#cut = true;
    this.#pieces.push(`\n[output cut after ${this.#limit} bytes]\n`);
  }
}
