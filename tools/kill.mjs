// Kills runs at every point, where `npm test` tries some of them, and says how often. Takes some minutes.
import { npm } from "./npm.mjs";

const env = { ...process.env, TROUPE_KILLS: "all" };
const { status } = npm(["test", "--", "test/durability", "test/memory/kill.test.ts"], { stdio: "inherit", env });
process.exit(status ?? 1);
