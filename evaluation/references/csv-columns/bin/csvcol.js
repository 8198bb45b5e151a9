#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { parseCsv, writeCsv } from "../src/csv.js";
import { columnsOf, ColumnError } from "../src/columns.js";

const USAGE = `Usage: csvcol <command> [file]

  pick A,B       prints these columns, in this order
  drop A,B       prints all other columns
  rename A=B     renames a header

Without a file, or with -, standard input is read.
`;

function main([command, what, file = "-"]) {
  if (command === "--help") return process.stdout.write(USAGE);
  if (!["pick", "drop", "rename"].includes(command) || what === undefined) throw new ColumnError("expected pick, drop or rename; see csvcol --help");
  const rows = parseCsv(read(file));
  process.stdout.write(writeCsv(columnsOf(rows, command, what)));
}

function read(file) {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw new ColumnError(`cannot read ${file}: ${error.code}`);
  }
}

try {
  main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof ColumnError)) throw error;
  process.stderr.write(`csvcol: ${error.message}\n`);
  process.exitCode = 2;
}
