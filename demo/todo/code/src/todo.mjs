#!/usr/bin/env node
// The program: gives the real world to main() and passes on its exit code.

import process from "node:process";
import { main } from "./cli.mjs";

// `todo list | head -1` closes the pipe early. That is no fault of anyone.
process.stdout.on("error", (error) => {
  if (error.code !== "EPIPE") throw error;
});

process.exitCode = await main(process.argv.slice(2), {
  env: process.env,
  print: (line) => process.stdout.write(`${line}\n`),
  complain: (line) => process.stderr.write(`todo: ${line}\n`),
  colour: process.stdout.isTTY === true && !process.env.NO_COLOR,
  now: () => new Date().toISOString(),
});
