import { editDistance } from "../../kernel/known-options.ts";

/** Quotes, the marks of Markdown and of mentions, spaces, and characters without a shape. */
const IGNORED = /[\p{Quotation_Mark}`´*_~#@\s\p{Cf}]/gu;
const PUNCTUATION = ".,:;!";

/** Returns an address in a normal form: models vary its Unicode form, letter case, spaces, quotes and Markdown marks. */
export function normalForm(address: string): string {
  const text = address.normalize("NFKC").toLowerCase().normalize("NFKC").trimEnd();
  let end = text.length;
  while (end > 0 && PUNCTUATION.includes(text[end - 1] as string)) end -= 1;
  return text.slice(0, end).replaceAll(IGNORED, "");
}

/** Limits on names in a warning, on compared names, and on the letters of one: some milliseconds of work. */
const MAX_NEAR = 3;
const MAX_COMPARED = 300;
const MAX_LENGTH = 40;

export function nearestText(nearest: readonly string[]): string {
  return nearest.length === 0 ? "" : ` Nearest: ${nearest.map((name) => JSON.stringify(name)).join(", ")}.`;
}

export function nearestTo(address: string, known: ReadonlySet<string>): readonly string[] {
  const wanted = normalForm(address);
  if (known.size > MAX_COMPARED || wanted.length > MAX_LENGTH || wanted === "") return [];
  const near = [...known].flatMap((name) => {
    const form = normalForm(name);
    const slips = form.length > MAX_LENGTH ? Infinity : editDistance(wanted, form);
    const isPart = form.length > 2 && wanted.includes(form);
    return isPart || slips <= Math.max(1, Math.floor(wanted.length / 3)) ? [{ name, slips }] : [];
  });
  return near
    .sort((a, b) => a.slips - b.slips)
    .slice(0, MAX_NEAR)
    .map(({ name }) => name);
}
