// npm run long -- GROUP [options of vitest]
// Runs the long tests of a group: fleet, pages, company, kill, numbers, science or site. Each takes minutes; `kill` and `fleet` take an hour.
// Properties try larger numbers with a fresh seed, which is printed; TROUPE_SEED repeats one.
import { randomInt } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { npm } from "./npm.mjs";

const GROUPS = ["fleet", "pages", "company", "kill", "numbers", "science", "site"];

const [group, ...options] = process.argv.slice(2);
if (!GROUPS.includes(group)) {
  process.stderr.write(`Expected a group of long tests (${GROUPS.join(", ")}), got ${group ?? "none"}: npm run long -- numbers\n`);
  process.exit(2);
}
const { TROUPE_SEED: seed = String(randomInt(2 ** 31)) } = process.env;
const folder = mkdtempSync(join(tmpdir(), "troupe-long-"));
const figures = join(folder, "figures");
const env = { ...process.env, TROUPE_LONG: group, TROUPE_SEED: seed, TROUPE_FIGURES: figures };
const began = performance.now();
const codes = [npm(["test", "--", ...options], { stdio: "inherit", env }).status];
if (group === "science" && options.length === 0)
  codes.push(npm(["run", "science"], { stdio: "inherit", env: { ...env, SEED: seed } }).status);
const minutes = ((performance.now() - began) / 60_000).toFixed(1);
process.stdout.write(`\n${group}: ${minutes} minutes, seed ${seed}\n${linesOf(figures)}`);
rmSync(folder, { recursive: true });
process.exit(codes.every((code) => code === 0) ? 0 : 1);

function linesOf(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
