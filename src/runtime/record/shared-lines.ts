/** So many lists are shared, of names no longer than that; names of strangers must not fill the memory. */
const MOST = 1_000;

const lines = new Map<string, readonly [string]>();

/** A list of one name. All who ask for a name that is often asked for share the list and the name: a run that is read has a million of some. */
export function sharedLine(name: string): readonly [string] {
  const known = lines.get(name);
  if (known !== undefined) return known;
  const line: readonly [string] = Object.freeze([name]) as readonly [string];
  if (lines.size < MOST && name.length < MOST) lines.set(name, line);
  return line;
}
