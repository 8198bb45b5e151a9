// A summary that leaves nothing out: which messages it covers, as ranges. So one that is lost, or summed up twice, can be told.

const DOUBLED = "doubled";

/** The messages that a text names. */
export function numbersIn(text) {
  return [...text.matchAll(/\bm(\d+)(?:-m(\d+))?/g)].flatMap(([, first, last = first]) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, n) => Number(first) + n),
  );
}

/** Whether a message was shown for a summary that was in one before. */
export function isDoubled(text) {
  return text.includes(DOUBLED);
}

/** A model's answer to the request for a summary. */
export function countingSummary(request) {
  const asked = request.messages.at(-1).content;
  const [before, material] = asked.split("\nMaterial:\n");
  const items = material.split("\n").map((line) => JSON.parse(line));
  const earlier = numbersIn(before);
  // Summaries of one level may name the same: each is told of those before. What was said is summed up once.
  const said = items.filter(({ role }) => role !== undefined).flatMap(({ text }) => numbersIn(text));
  const isAgain = isDoubled(asked) || new Set([...earlier, ...said]).size < new Set(earlier).size + said.length;
  const all = new Set([...earlier, ...items.flatMap(({ text }) => numbersIn(text))]);
  return `${ranges([...all].toSorted((a, b) => a - b))}${isAgain ? ` ${DOUBLED}` : ""}`;
}

function ranges(sorted) {
  const found = [];
  for (const number of sorted) {
    const open = found.at(-1);
    if (open !== undefined && open.last === number - 1) open.last = number;
    else found.push({ first: number, last: number });
  }
  return found.map(({ first, last }) => `m${first}-m${last}`).join(" ");
}
