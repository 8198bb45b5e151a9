#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { systemClock } from "../kernel/clock.ts";
import { TroupeError, UsageError } from "../kernel/errors.ts";
import { errorLines, exitCodeOfError, toldError } from "./errors.ts";
import type { ExitCode } from "./exit-code.ts";
import type { Host, HostSignal } from "./host.ts";
import { jsonLine } from "./ndjson.ts";
import { runProgram } from "./program.ts";
import { styleFor, wantsColor } from "./screen/style.ts";

const SIGNALS: readonly HostSignal[] = ["SIGINT", "SIGTERM", "SIGHUP"];
const words = process.argv.slice(2);

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
  exit: (code) => process.exit(code),
};

// A reader that closed its pipe has seen enough: whoever works notices by a listener of its own and ends in good order.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // A terminal that was closed; a file that cannot be written is another matter.
  const isClosed = error.code === "EIO" && process.stdout.isTTY;
  if (error.code === "EPIPE" || isClosed) return;
  process.exit(tell(new TroupeError("OUTPUT_UNWRITABLE", `Expected to write to standard output, but ${error.message}.`, { cause: error })));
});
// Without a reader for errors there is nobody to tell of it.
process.stderr.on("error", () => {});
process.on("uncaughtException", (error) => process.exit(tell(error)));

process.exit(await flushed(await runProgram(host, words).catch(tell)));

/** Tells an error and gives the code to end with. */
function tell(error: unknown): ExitCode {
  const told = toldError(error, host.env);
  const style = styleFor(wantsColor({ isOff: words.includes("--no-color"), env: host.env, isTTY: host.stderr.isTTY === true }));
  const isVerbose = words.includes("--verbose") || words.includes("-v");
  host.stderr.write(`${errorLines(told, { style, isVerbose }).join("\n")}\n`);
  if (words.includes("--json")) host.stdout.write(jsonLine({ type: "error", code: told.code, message: told.message }));
  return exitCodeOfError(error);
}

/** Waits until both streams have given away what they hold: ending the process would drop it where pipes are slow. */
async function flushed(code: ExitCode): Promise<ExitCode> {
  const written = (stream: NodeJS.WriteStream): Promise<void> => new Promise((resolve) => void stream.write("", () => resolve()));
  await Promise.all([written(process.stdout), written(process.stderr)]);
  return code;
}

/** @throws UsageError `CWD_GONE` where the folder the command was started in was removed since. */
function workingFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new UsageError("CWD_GONE", "Expected to be in a folder, but the current one does not exist any more. Go to another one: cd ~", {
      cause: error,
    });
  }
}

/** The version in the package's own manifest, two folders up in the source and three in the build. */
function ownVersion(): string {
  for (const up of ["../../package.json", "../../../package.json"]) {
    try {
      const { name, version } = JSON.parse(readFileSync(new URL(up, import.meta.url), "utf8")) as {
        readonly name?: unknown;
        readonly version?: unknown;
      };
      if (name === "troupe" && typeof version === "string") return version;
    } catch {
      // Not there: the other place has it.
    }
  }
  return "unknown";
}
