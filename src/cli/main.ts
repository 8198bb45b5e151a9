#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { systemClock } from "../kernel/clock.ts";
import { errorLines, exitCodeOfError, toldError } from "./errors.ts";
import type { ExitCode } from "./exit-code.ts";
import type { Host, HostSignal } from "./host.ts";
import { runProgram } from "./program.ts";
import { styleFor, wantsColor } from "./screen/style.ts";

const SIGNALS: readonly HostSignal[] = ["SIGINT", "SIGTERM"];

const host: Host = {
  version: ownVersion(),
  env: process.env,
  cwd: process.cwd(),
  clock: systemClock,
  stdin: process.stdin,
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

// A reader that closed its pipe has seen enough. Whoever works notices by a listener of its own and ends in good order.
process.stdout.on("error", ignoreClosedPipe);
process.stderr.on("error", ignoreClosedPipe);
process.exit(await flushed(await main(process.argv.slice(2))));

async function main(words: readonly string[]): Promise<ExitCode> {
  try {
    return await runProgram(host, words);
  } catch (error) {
    const told = toldError(error, host.env);
    const isColorOff = words.includes("--no-color");
    const style = styleFor(wantsColor({ isOff: isColorOff, env: host.env, isTTY: host.stderr.isTTY === true }));
    const isVerbose = words.includes("--verbose") || words.includes("-v");
    host.stderr.write(`${errorLines(told, { style, isVerbose }).join("\n")}\n`);
    if (words.includes("--json")) host.stdout.write(`${JSON.stringify({ type: "error", code: told.code, message: told.message })}\n`);
    return exitCodeOfError(error);
  }
}

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}

/** Waits until both streams have given away what they hold: ending the process would drop it where pipes are slow. */
async function flushed(code: ExitCode): Promise<ExitCode> {
  const written = (stream: NodeJS.WriteStream): Promise<void> => new Promise((resolve) => void stream.write("", () => resolve()));
  await Promise.all([written(process.stdout), written(process.stderr)]);
  return code;
}

/** The version in the package's own manifest, two folders up in the source and three in the build. */
function ownVersion(): string {
  for (const up of ["../../package.json", "../../../package.json"]) {
    try {
      const { name, version } = JSON.parse(readFileSync(new URL(up, import.meta.url), "utf8")) as { readonly name?: unknown; readonly version?: unknown };
      if (name === "troupe" && typeof version === "string") return version;
    } catch {
      // Not there: the other place has it.
    }
  }
  return "unknown";
}
