import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { ExitCode } from "../../src/cli/errors.ts";
import type { Host, HostSignal, Variables } from "../../src/cli/host.ts";
import type { Clock } from "../../src/kernel/clock.ts";
import { SimulatedClock } from "../../src/testing/simulated-clock.ts";
import { afterEachFile } from "../after-file.ts";

/** A stream that keeps what is written to it, and says of itself what it is told to. */
export class FakeStream extends PassThrough {
  readonly isTTY: boolean;
  columns = 80;
  rows = 24;
  text = "";

  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
    this.setEncoding("utf8");
    this.on("data", (chunk: string) => (this.text += chunk));
  }
}

/** Input that a test types. */
export class FakeInput extends PassThrough {
  readonly isTTY: boolean;

  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
  }

  setRawMode(): this {
    return this;
  }
}

/** A process for commands to run in. */
export interface FakeHost extends Host {
  readonly clock: Clock;
  readonly stdin: FakeInput;
  readonly stdout: FakeStream;
  readonly stderr: FakeStream;
  /** Codes that the process was ended with at once. */
  readonly exits: readonly ExitCode[];
  /** As if the system sent a signal. */
  signal(signal: HostSignal): void;
  /** As if the process ended. */
  end(): void;
  /** Resolves when standard error has shown something that matches. */
  shows(pattern: RegExp): Promise<void>;
  /** Types the next line each time a prompt waits for one. */
  answers(...lines: readonly string[]): void;
}

/** The parts of a fake host; the rest is a plain pipe in an empty folder. */
export interface FakeOptions {
  readonly isTTY?: boolean;
  readonly env?: Variables;
  readonly cwd?: string;
  readonly clock?: Clock;
}

/** A process that is none. */
export function fakeHost({ isTTY = false, env = {}, cwd = "/nowhere", clock = new SimulatedClock(1_000) }: FakeOptions = {}): FakeHost {
  const [onSignal, onExit] = [new Set<(signal: HostSignal) => void>(), new Set<() => void>()];
  const exits: ExitCode[] = [];
  const listen = <T>(set: Set<T>, listener: T): (() => void) => {
    set.add(listener);
    return () => set.delete(listener);
  };
  const [stdin, stderr] = [new FakeInput(isTTY), new FakeStream(isTTY)];
  return {
    version: "1.2.3",
    env,
    cwd,
    clock,
    stdin,
    stdout: new FakeStream(isTTY),
    stderr,
    exits,
    onSignal: (listener) => listen(onSignal, listener),
    onExit: (listener) => listen(onExit, listener),
    exit: (code) => void exits.push(code),
    signal: (signal) => onSignal.forEach((listener) => listener(signal)),
    end: () => onExit.forEach((listener) => listener()),
    shows: (pattern) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (pattern.test(stderr.text)) resolve();
        };
        stderr.on("data", look);
        look();
      }),
    answers(...lines) {
      const left = [...lines];
      stderr.on("data", (text: string) => {
        const next = /[>\]] (?:\u001b\[\d*[A-Za-z])*$/.test(text) ? left.shift() : undefined;
        if (next !== undefined) stdin.write(`${next}\n`);
      });
    },
  };
}

const made: string[] = [];
afterEachFile(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A new folder that is gone after the file's tests. */
export function scratchFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "troupe-cli-")));
  made.push(folder);
  return folder;
}
