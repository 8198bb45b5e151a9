import { StringDecoder } from "node:string_decoder";

/** Collects the text of a stream up to a number of bytes; what comes later is dropped and a mark says so. */
export class CappedText {
  readonly #limit: number;
  readonly #listen: ((text: string) => void) | undefined;
  readonly #decoder = new StringDecoder("utf8");
  readonly #pieces: string[] = [];
  #bytes = 0;
  #cut = false;

  /** @param listen hears the same text as it comes, the mark included, and nothing after it */
  constructor(limit: number, listen?: (text: string) => void) {
    this.#limit = limit;
    this.#listen = listen;
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
    this.#take(this.#decoder.write(chunk.subarray(0, room)));
    if (chunk.length <= room) return;
    this.#cut = true;
    this.#take(`\n[output cut after ${this.#limit} bytes]\n`);
  }

  #take(text: string): void {
    if (text === "") return;
    this.#pieces.push(text);
    this.#listen?.(text);
  }
}
