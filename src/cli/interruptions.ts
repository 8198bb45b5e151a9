import { AbortedError } from "../kernel/errors.ts";
import { interruptionCode, type Interruption } from "./exit-code.ts";
import type { Host } from "./host.ts";

const REASONS: Readonly<Record<Interruption, string>> = {
  SIGINT: "Ctrl-C was pressed",
  SIGTERM: "the process was asked to end",
  SIGHUP: "the terminal was closed",
  pipe: "nobody reads the output any more",
};

/**
 * What asks the command to stop. It owns which interruption came first; who works listens to `signal` and ends in good order.
 *
 * I1 the first interruption aborts the signal and nothing else. I2 a second signal ends the process at once, with the code of the
 * first interruption. I3 a closed pipe or terminal is the first interruption at most: it never ends
 * anything at once. Of a closed terminal the system and the shell both tell.
 */
export class Interruptions {
  readonly #host: Host;
  readonly #abort = new AbortController();
  readonly #stopListening: () => void;
  #first: Interruption | undefined;

  constructor(host: Host) {
    this.#host = host;
    const offSignal = host.onSignal((signal) => this.raise(signal));
    const onError = (error: NodeJS.ErrnoException): void => {
      if (error.code === "EPIPE") this.raise("pipe");
    };
    host.stdout.on("error", onError);
    this.#stopListening = () => {
      offSignal();
      host.stdout.removeListener("error", onError);
    };
  }

  /** Aborts with the first interruption. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** What came first. */
  get first(): Interruption | undefined {
    return this.#first;
  }

  /** As if the signal or the closed pipe had come: a prompt in raw mode gets Ctrl-C as a key. */
  raise(interruption: Interruption): void {
    if (this.#first === undefined) {
      this.#first = interruption;
      this.#abort.abort(new AbortedError(REASONS[interruption]));
    } else if (interruption !== "pipe" && interruption !== "SIGHUP") {
      this.#host.exit(interruptionCode(this.#first));
    }
  }

  /** Listens no more. */
  close(): void {
    this.#stopListening();
  }
}
