import { UsageError } from "./errors.js";
import { formatNames } from "./formats/index.js";

export const USAGE = `Usage: rowtable [options] [file...]

  --format NAME    ${formatNames().join(", ")} (default box)
  --columns A,B    these columns in this order
  --sort A         sorts by a column; -A the other way round
  --no-header      leaves out the header
  --help           prints this
`;

/** Reads the command line into options of renderTable, with `files` and `help`. */
export function parseArguments(words) {
  const options = { format: "box", columns: undefined, sort: undefined, header: true, help: false, files: [] };
  const left = [...words];
  const value = (name) => {
    if (left.length === 0) throw new UsageError(`${name} needs a value`);
    return left.shift();
  };
  while (left.length > 0) {
    const word = left.shift();
    if (word === "--format") options.format = formatOf(value(word));
    else if (word === "--columns") options.columns = value(word).split(",");
    else if (word === "--sort") options.sort = value(word);
    else if (word === "--no-header") options.header = false;
    else if (word === "--help") options.help = true;
    else if (word.startsWith("--")) throw new UsageError(`unknown option ${word}`);
    else options.files.push(word);
  }
  return options;
}

function formatOf(name) {
  if (formatNames().includes(name)) return name;
  throw new UsageError(`unknown format ${name}`);
}
