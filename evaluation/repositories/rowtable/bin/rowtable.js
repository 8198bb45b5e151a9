#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { parseArguments, USAGE } from "../src/arguments.js";
import { TableError } from "../src/errors.js";
import { renderTable } from "../src/index.js";
import { readRows } from "../src/read-rows.js";

function main(words) {
  const options = parseArguments(words);
  if (options.help) return process.stdout.write(USAGE);
  const files = options.files.length === 0 ? [0] : options.files;
  const rows = files.flatMap((file) => readRows(textOf(file), file === 0 ? "<stdin>" : file));
  process.stdout.write(renderTable(rows, options));
}

function textOf(file) {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new TableError(`cannot read ${file}: ${error.code}`);
  }
}

try {
  main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof TableError)) throw error;
  process.stderr.write(`rowtable: ${error.message}\n`);
  process.exitCode = error.exitCode;
}
