import { relative } from "node:path";
import { unescape } from "node:querystring";
import type { Clock } from "../kernel/clock.ts";
import { AbortedError } from "../kernel/errors.ts";
import { systemCode } from "../kernel/system-error.ts";
import { type ExitCode, type Interruption, interruptionCode } from "./errors.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

/** The value of a variable without surrounding space. An empty one counts as unset: shells and CI systems unset variables that way. */
export function valueIn(env: Variables, name: string): string | undefined {
  const text = env[name]?.trim() ?? "";
  return text === "" ? undefined : text;
}

export type Sink = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

export type HostSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

export interface Host {
  readonly version: string;
  readonly env: Variables;
  readonly cwd: string;
  readonly clock: Clock;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: Sink;
  readonly stderr: Sink;
  onSignal(listener: (signal: HostSignal) => void): () => void;
  onExit(listener: () => void): () => void;
  exit(code: ExitCode): void;
}

/** True when a person can be asked: they see the question, can type the answer, and no CI system pretends to be one. */
export function canAsk(host: Host): boolean {
  return host.stdin.isTTY === true && host.stderr.isTTY === true && !isCI(host.env);
}

export function canDraw(host: Host): boolean {
  return host.stderr.isTTY === true && host.env["TERM"] !== "dumb" && !isCI(host.env);
}

function isCI({ CI = "" }: Variables): boolean {
  return !["", "0", "false"].includes(CI);
}

const REASONS: Readonly<Record<Interruption, string>> = {
  SIGINT: "Ctrl-C was pressed",
  SIGTERM: "the process was asked to end",
  SIGHUP: "the terminal was closed",
  pipe: "the reader of the output is gone",
};

/**
 * Turns signals and closed pipes into one abort signal. It owns the first interruption.
 *
 * Interruptions.I1 the first interruption aborts the signal and does nothing else (`raise`). Interruptions.I2 a second SIGINT or SIGTERM ends
 * the process at once, with the code of the first interruption (`raise`). Interruptions.I3 a closed pipe or terminal never ends the process at
 * once (`raise`): the system and the shell both report a closed terminal.
 */
export class Interruptions {
  readonly #host: Host;
  readonly #abort = new AbortController();
  readonly #stopListening: () => void;
  #first: Interruption | undefined;

  constructor(host: Host) {
    this.#host = host;
    const offSignal = host.onSignal((signal) => this.raise(signal));
    const onError = (error: unknown): void => {
      if (systemCode(error) === "EPIPE") this.raise("pipe");
    };
    host.stdout.on("error", onError);
    this.#stopListening = () => {
      offSignal();
      host.stdout.removeListener("error", onError);
    };
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get first(): Interruption | undefined {
    return this.#first;
  }

  raise(interruption: Interruption): void {
    if (this.#first === undefined) {
      this.#first = interruption;
      this.#abort.abort(new AbortedError(REASONS[interruption]));
    } else if (interruption !== "pipe" && interruption !== "SIGHUP") {
      this.#host.exit(interruptionCode(this.#first));
    }
  }

  raised(): Promise<void> {
    return new Promise((resolve) => {
      if (this.signal.aborted) resolve();
      else this.signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  close(): void {
    this.#stopListening();
  }
}

export function addressSecrets(text: string): readonly string[] {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  const passwords = [url?.password ?? "", url?.searchParams.get("password") ?? ""].filter((password) => password !== "");
  return passwords.length === 0 ? [] : [text.trim(), ...passwords, ...passwords.map((one) => unescape(one))];
}

const KEY_NAME = /_API_KEY$|^AWS_(?:SECRET_ACCESS_KEY|SESSION_TOKEN|BEARER_TOKEN_BEDROCK)$/;

export function secretsIn(env: Variables): readonly string[] {
  const names = [...Object.keys(env).filter((name) => KEY_NAME.test(name)), env["TROUPE_API_KEY_NAME"] ?? ""];
  return names.map((name) => env[name] ?? "").filter((key) => key !== "");
}

export function folderName(host: Host, folder: string): string {
  const path = relative(host.cwd, folder);
  return path === "" ? "." : path.startsWith("..") ? folder : path;
}
