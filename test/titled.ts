/** Characters of a title that tell the case. */
const LONGEST = 70;

/** Puts before the values of each case a short form of them, for the title of its test: `it.each(titled(cases))("takes %s", (_case, value) => ...)`. */
export function titled<const T>(cases: readonly T[]): [string, ...(T extends readonly unknown[] ? T : [T])][] {
  return cases.map((one) => {
    const values = (Array.isArray(one) ? one : [one]) as T extends readonly unknown[] ? T : [T];
    const text = values.map(textOf).join(", ");
    return [text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`, ...values];
  });
}

function textOf(value: unknown): string {
  if (value instanceof Error) return String(value);
  return JSON.stringify(value) ?? String(value);
}
