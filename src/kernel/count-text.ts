const THOUSAND = 1_000;

/** The last three digits of a count as they are written behind others; made when needed. */
const endings: (string | undefined)[] = Array.from({ length: THOUSAND }, () => undefined);
/** How many thousands stood before them last, and as text. */
let latestThousands = 0;
let thousandsText = "";

/**
 * A whole number of 0 or more as decimal text, for numbers that go up one by one. What the engine makes of a number it keeps in a table of its own
 * until many others have come, and to collect thousands of those costs more than all that is done with one.
 */
export function countText(count: number): string {
  if (count < THOUSAND) return String(count);
  const thousands = Math.floor(count / THOUSAND);
  if (latestThousands !== thousands) {
    latestThousands = thousands;
    thousandsText = String(thousands);
  }
  const digits = count % THOUSAND;
  return thousandsText + (endings[digits] ??= String(digits).padStart(3, "0"));
}
