const THOUSAND = 1_000;

/** The last three digits of a count behind other digits; made when needed. */
const endings: (string | undefined)[] = Array.from({ length: THOUSAND }, () => undefined);
/** The latest number of thousands, and its text. */
let latestThousands = 0;
let thousandsText = "";

/**
 * Returns a whole number of 0 or more as decimal text, for counters. Numbers converted by the engine stay in its own cache for long, and
 * collecting thousands of them costs more than this.
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
