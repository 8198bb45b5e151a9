import { readlink, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
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
  const [place, top] = [await placeOf(wanted, MOST_LINKS), await placeOf(folder, MOST_LINKS)];
  if (isInside(top, place)) return;
  const expected = `Expected ${shown(path, 200)} to be a file of ${shown(folder, 200)}, but it is a link that leads out of it`;
  throw new UsageError("FILE_ELSEWHERE", `${expected}. Name the file itself.`);
}

/** As the file system bounds it. */
const MOST_LINKS = 40;

/** Where a path leads, also one of a file that is not there yet: whoever makes it follows the links on the way, and one that leads nowhere. */
async function placeOf(path: string, links: number): Promise<string> {
  const there = await realpath(path).catch(() => undefined);
  const folder = dirname(path);
  if (there !== undefined || folder === path || links === 0) return there ?? path;
  const target = await readlink(path).catch(() => undefined);
  return target === undefined
    ? join(await placeOf(folder, links), basename(path))
    : placeOf(resolve(await placeOf(folder, links), target), links - 1);
}
