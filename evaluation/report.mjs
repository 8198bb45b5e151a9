/** Makes a table of results: `node evaluation/report.mjs results.jsonl...`. Of several runs of one product on one idea the last one counts. */
import { readFileSync } from "node:fs";

const lines = process.argv.slice(2).flatMap((file) => readFileSync(file, "utf8").trim().split("\n"));
const newest = new Map(lines.map((line) => JSON.parse(line)).map((result) => [`${result.idea} ${result.product}`, result]));
const results = [...newest.values()].toSorted((one, other) => order(one) - order(other) || one.idea.localeCompare(other.idea));

function order({ size, product }) {
  return "SML".indexOf(size) * 10 + ["company", "agent", "waterfall"].indexOf(product) / 10;
}

const percent = (share) => `${Math.round(share * 100)} %`;
const dollars = (amount) => `$${amount.toFixed(4)}`;
const row = (cells) => `| ${cells.join(" | ")} |`;

const head = ["idea", "size", "product", "checks", "exit", "calls", "tokens in", "tokens out", "cacheable", "cost", "seconds"];
console.log(row(head));
console.log(row(head.map(() => "---")));
for (const one of results.toSorted((a, b) => a.idea.localeCompare(b.idea) || order(a) - order(b))) {
  const { idea, size, product, passed, all, exitCode, calls, inputTokens, outputTokens, cacheable, cost, seconds } = one;
  const counts = [calls, inputTokens, outputTokens, percent(cacheable), dollars(cost), Math.round(seconds)];
  console.log(row([idea, size, product, `${passed} / ${all}`, exitCode, ...counts]));
}

const ratio = (one, other) => (other === 0 ? "-" : (one / other).toFixed(2));
const against = ["idea", "size", "against", "checks", "calls", "cost", "seconds"];
console.log(`\nThe company against the others:\n\n${row(against)}\n${row(against.map(() => "---"))}`);
for (const mine of results.filter(({ product }) => product === "company")) {
  for (const other of results.filter(({ idea, product }) => idea === mine.idea && product !== "company")) {
    const checks = `${mine.passed - other.passed >= 0 ? "+" : ""}${mine.passed - other.passed}`;
    const ratios = [ratio(mine.calls, other.calls), ratio(mine.cost, other.cost), ratio(mine.seconds, other.seconds)];
    console.log(row([mine.idea, mine.size, other.product, checks, ...ratios]));
  }
}
