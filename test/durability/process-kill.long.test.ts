import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { sqlite } from "../../src/adapters/sqlite.ts";
import { canonical } from "../../src/index.ts";
import { fold } from "../../src/runtime/record/apply.ts";
import { scratchFolder } from "../cli/fake-host.ts";
import { figure } from "../long.ts";
import { eventsOf } from "../team/recorded.ts";
import { start } from "./kills.ts";

/*
 * SIGKILL of a run of Scrum, with its meetings, by real processes on a real disk.
 */

const CHILD = fileURLToPath(new URL("process-child.mjs", import.meta.url));
const scratch = scratchFolder();
/** Durable writes of each process until its death. */
const DEATHS = Array.from({ length: 100 }, (_, nth) => 1 + ((nth * 7) % 12));

async function playedIn(folder: string, deaths: readonly number[]) {
  const store = join(mkdtempSync(join(scratch, folder)), "runs.db");
  let killed = 0;
  for (const killAt of deaths) if ((await start({ store, killAt }, CHILD).ended).signal === "SIGKILL") killed += 1;
  const { stdout, stderr } = await start({ store }, CHILD).ended;
  if (stdout === "") throw new Error(`the last process printed nothing: ${stderr}`);
  const journal = sqlite({ path: store });
  const events = await eventsOf(journal, "r");
  await journal.close();
  return { killed, events, ended: JSON.parse(stdout) as unknown };
}

test("a process ends as without kills, through 100 of them", { tags: ["kill", "long"], timeout: 1_800_000 }, async () => {
  const whole = await playedIn("whole-", []);
  const { killed, events, ended } = await playedIn("killed-", DEATHS);
  expect([ended, killed]).toEqual([{ status: "finished" }, DEATHS.length]);
  expect(canonical(events)).toBe(canonical(whole.events));
  const { board } = fold(events);
  expect(board.count("done")).toBe(board.size);
  const meetings = events.filter((event) => event.type === "act.ended" && JSON.stringify(event).includes('"Planning"')).length;
  figure(`killed ${killed} processes of Scrum: ${board.size} pieces of work, ${events.length} events, ${meetings} turns of plannings`);
});
