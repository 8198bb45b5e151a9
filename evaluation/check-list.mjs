import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The folder of the evaluation. */
export const HERE = fileURLToPath(new URL(".", import.meta.url));

/** The ids of all ideas, in alphabetical order. */
export function ideaIds() {
  return readdirSync(`${HERE}ideas`).toSorted();
}

/**
 * Reads an idea: the user's words and its check list.
 *
 * A check list has `size`, `stack`, `start` (the way in which the product is started: `{ bin }`, `{ script }`, `{ module }` or `{ page }`),
 * `quality` (the names of checks that only some products need), `repository` and `keeps` (for a change: the project, and the files that it
 * has no reason to touch), and `checks`. A check `says` what it is about and has files that are `given`, and `steps` or the steps on a `page`.
 */
export async function loadIdea(id) {
  const folder = `${HERE}ideas/${id}`;
  if (!/^[a-z-]+$/.test(id) || !existsSync(folder)) throw new Error(`Expected one of ${ideaIds().join(", ")}, got "${id}".`);
  const { list } = await import(`./ideas/${id}/checks.mjs`);
  return { id, idea: readFileSync(`${folder}/idea.md`, "utf8").trim(), ...list };
}
