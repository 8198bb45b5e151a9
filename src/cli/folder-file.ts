import { realpath } from "node:fs/promises";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import { UsageError } from "../kernel/errors.ts";
import type { Host } from "./host.ts";
import { shown } from "./screen/text.ts";

/** True for a path in a folder, or the folder itself. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/**
 * Refuses a file of a folder that a link leads out of: errors quote what a file says, and a link may lead to a secret.
 *
 * @param path from the folder; one outside of it is the user's choice, and its own folder counts
 * @throws UsageError `FILE_ELSEWHERE`
 */
export async function assertInFolder({ cwd }: Pick<Host, "cwd">, path: string): Promise<void> {
  const wanted = resolve(cwd, path);
  const folder = isInside(cwd, wanted) ? cwd : dirname(wanted);
  // A file that is not there is a fault of the one who reads it.
  const [place, top] = await Promise.all([wanted, folder].map((one) => realpath(one).catch(() => undefined)));
  if (place === undefined || top === undefined || isInside(top, place)) return;
  const expected = `Expected ${shown(path, 200)} to be a file of ${shown(folder, 200)}, but it is a link that leads out of it`;
  throw new UsageError("FILE_ELSEWHERE", `${expected}. Name the file itself.`);
}
