import { fileURLToPath, pathToFileURL } from "node:url";
import { ownFolders } from "../own-version.ts";

/** Limit on the causes of an error that are followed. */
const MOST_CAUSES = 10;
/** Limit on the characters of a stack that are read. */
const MOST_READ = 10_000;

/**
 * Returns the file, line and column of a program at which an error was thrown: the first line of the stack of its first cause that is neither of
 * Node.js nor of a package. Undefined where no line is.
 */
export function placeOfError(thrown: unknown): string | undefined {
  let error = thrown;
  for (let n = 0; n < MOST_CAUSES && error instanceof Error && error.cause instanceof Error; n += 1) error = error.cause;
  const stack: unknown = error instanceof Error ? error.stack : undefined;
  if (typeof stack !== "string") return undefined;
  const own = ownFolders();
  const place = stack
    .slice(0, MOST_READ)
    .split("\n")
    .map((line) => /^\s+at (?:async |.*\()?((?:file:\/\/)?\/[^()]*:\d+:\d+)\)?$/.exec(line)?.[1])
    .find((found) => found !== undefined && isOfProgram(found, own));
  return place?.startsWith("file:") === true ? fileURLToPath(place) : place;
}

function isOfProgram(place: string, own: readonly string[]): boolean {
  const address = place.startsWith("file:") ? place : pathToFileURL(place).href;
  return !address.includes("/node_modules/") && !own.some((folder) => address.startsWith(folder));
}
