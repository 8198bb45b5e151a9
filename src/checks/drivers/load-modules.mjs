/* Imports the files that its arguments name. Ends with code 86 where one throws, else with 85: no module ends so by itself. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

try {
  for (const file of process.argv.splice(2)) await import(pathToFileURL(resolve(file)).href);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(86);
}
process.exit(85);
