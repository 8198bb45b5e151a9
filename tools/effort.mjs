// node tools/effort.mjs soak|kill|fallible [options of vitest]
// `soak` runs the tests that `npm test` runs with small numbers, with larger ones, and those that are long by nature, which come first. It takes
// some minutes, on a slow machine more: no test of it begins after TROUPE_SOAK_MINUTES (40), and a file that did not begin counts as one skipped test.
// `kill` kills processes at every point. Takes some minutes.
// `fallible` lets the company work with a fallible model two hundred times. Takes half an hour.
import { npm } from "./npm.mjs";

const KILLS = ["test/durability", "test/memory/kill.test.ts", "test/cli/killed.test.ts"];

const TARGETS = {
  soak: { effort: "soak", files: [] },
  kill: { effort: "kill", files: KILLS },
  fallible: { effort: "kill", files: ["test/evaluation/fallible-soak.test.ts"] },
};

const [name, ...options] = process.argv.slice(2);
const target = TARGETS[name];
if (target === undefined) throw new Error(`Expected ${Object.keys(TARGETS).join(", ")}, got ${name}.`);
const { effort, files } = target;
const { TROUPE_SOAK_MINUTES: minutes = "40" } = process.env;
const env = { ...process.env, TROUPE_EFFORT: effort, TROUPE_SOAK_ENDS: String(Date.now() + Number(minutes) * 60_000) };
const { status } = npm(["test", "--", ...files, ...options], { stdio: "inherit", env });
process.exit(status ?? 1);
