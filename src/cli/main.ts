#!/usr/bin/env node
import { systemClock } from "../kernel/clock.ts";
import { TroupeError, UsageError } from "../kernel/errors.ts";
import { systemCode } from "../kernel/system-error.ts";
import { thrownText } from "../kernel/value-text.ts";
import { ownVersion } from "../research/experiment/manifest.ts";
import { failed } from "./error-report.ts";
import type { ExitCode } from "./errors.ts";
import type { Host, HostSignal } from "./host.ts";
import { main } from "./program.ts";

const SIGNALS: readonly HostSignal[] = ["SIGINT", "SIGTERM", "SIGHUP"];
const words = process.argv.slice(2);
let hasEnded = false;

const host: Host = {
  version: ownVersion(),
  env: process.env,
  get cwd() {
    return workingFolder();
  },
  clock: systemClock,
  get stdin() {
    return process.stdin;
  },
  stdout: process.stdout,
  stderr: process.stderr,
  onSignal(listener) {
    for (const signal of SIGNALS) process.on(signal, listener);
    return () => {
      for (const signal of SIGNALS) process.removeListener(signal, listener);
    };
  },
  onExit(listener) {
    process.on("exit", listener);
    return () => process.removeListener("exit", listener);
  },
  exit: end,
};

// The command has a listener of its own for a closed pipe or terminal.
process.stdout.on("error", (error) => {
  const code = systemCode(error);
  if (code === "EPIPE" || (code === "EIO" && process.stdout.isTTY)) return;
  const text = `Expected to write to standard output, but ${thrownText(error)}.`;
  endWith(new TroupeError("OUTPUT_UNWRITABLE", text, { cause: error }));
});
// Errors of stderr cannot be printed anywhere.
process.stderr.on("error", () => {});
process.on("uncaughtException", endWith);
// The process ends early where nothing is left to wait for, or where a module of the user ends it.
process.on("exit", (code) => {
  if (hasEnded || code !== 0) return;
  const text =
    "Expected the command to end with a result, but its process ended before. Look for process.exit in the modules that it loads.";
  process.exitCode = failed(host, words, new TroupeError("COMMAND_UNFINISHED", text));
});

end(await flushed(await main(host, words)));

function end(code: ExitCode): never {
  hasEnded = true;
  process.exit(code);
}

function endWith(error: unknown): never {
  end(failed(host, words, error));
}

/** Waits until both streams are written: ending the process would drop their buffers where pipes are slow. */
async function flushed(code: ExitCode): Promise<ExitCode> {
  const written = (stream: NodeJS.WriteStream): Promise<void> => new Promise((resolve) => void stream.write("", () => resolve()));
  await Promise.all([written(process.stdout), written(process.stderr)]);
  return code;
}

function workingFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    const text = "Expected to be in a folder, but the current one does not exist any more. Go to another one: cd ~";
    throw new UsageError("CWD_GONE", text, { cause: error });
  }
}
