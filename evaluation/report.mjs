/**
 * Makes a table of results: `node evaluation/report.mjs results.jsonl...`. Of several runs of one product on one idea the last one counts.
 * "asked" counts the checks of the user's words alone. "checks" counts also the qualities of every product, such as tests and a README, which not
 * every user asks for.
 */
import { readFileSync } from "node:fs";
import { loadIdea } from "./check-list.mjs";

const lines = process.argv.slice(2).flatMap((file) => readFileSync(file, "utf8").trim().split("\n"));
const newest = new Map(lines.map((line) => JSON.parse(line)).map((result) => [`${result.idea} ${result.product}`, result]));
const results = [...newest.values()].toSorted((one, other) => order(one) - order(other) || one.idea.localeCompare(other.idea));

function order({ size, product }) {
  return "SML".indexOf(size) * 10 + ["company", "agent", "waterfall"].indexOf(product) / 10;
}

const percent = (share) => `${Math.round(share * 100)} %`;
const dollars = (amount) => `$${amount.toFixed(4)}`;
const row = (cells) => `| ${cells.join(" | ")} |`;

const lists = new Map(await Promise.all(results.map(async ({ idea }) => [idea, (await loadIdea(idea)).checks.length])));

/** Passed and all checks of the user's words. */
function asked({ idea, failed }) {
  const all = lists.get(idea);
  return { passed: all - failed.filter((id) => /^C\d+$/.test(id)).length, all };
}

const head = ["idea", "size", "product", "asked", "checks", "exit", "calls", "tokens in", "tokens out", "cacheable", "cost", "seconds"];
console.log(row(head));
console.log(row(head.map(() => "---")));
for (const one of results.toSorted((a, b) => a.idea.localeCompare(b.idea) || order(a) - order(b))) {
  const { idea, size, product, passed, all, exitCode, calls, inputTokens, outputTokens, cacheable, cost, seconds } = one;
  const counts = [calls, inputTokens, outputTokens, percent(cacheable), dollars(cost), Math.round(seconds)];
  const words = asked(one);
  console.log(row([idea, size, product, `${words.passed} / ${words.all}`, `${passed} / ${all}`, exitCode, ...counts]));
}

const ratio = (one, other) => (other === 0 ? "-" : (one / other).toFixed(2));
const signed = (difference) => `${difference >= 0 ? "+" : ""}${difference}`;
const against = ["idea", "size", "against", "asked", "checks", "calls", "cost", "seconds"];
console.log(`\nThe company against the others:\n\n${row(against)}\n${row(against.map(() => "---"))}`);
for (const mine of results.filter(({ product }) => product === "company")) {
  for (const other of results.filter(({ idea, product }) => idea === mine.idea && product !== "company")) {
    const more = [signed(asked(mine).passed - asked(other).passed), signed(mine.passed - other.passed)];
    const ratios = [ratio(mine.calls, other.calls), ratio(mine.cost, other.cost), ratio(mine.seconds, other.seconds)];
    console.log(row([mine.idea, mine.size, other.product, ...more, ...ratios]));
  }
}
