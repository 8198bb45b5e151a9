// node tools/effort.mjs soak|kill [options of vitest]
// `soak` runs the tests that `npm test` runs with small numbers, with larger ones. `kill` kills processes at every point. Takes some minutes.
import { npm } from "./npm.mjs";

const KILLS = ["test/durability", "test/memory/kill.test.ts", "test/cli/killed.test.ts"];

const [effort, ...options] = process.argv.slice(2);
if (effort !== "soak" && effort !== "kill") throw new Error(`Expected soak or kill, got ${effort}.`);
const files = effort === "kill" ? KILLS : [];
const env = { ...process.env, TROUPE_EFFORT: effort };
const { status } = npm(["test", "--", ...files, ...options], { stdio: "inherit", env });
process.exit(status ?? 1);
