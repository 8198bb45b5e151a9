import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { sqlite } from "../../src/adapters/sqlite.ts";
import type { BoardAnswer } from "../../src/runtime/board/decide.ts";
import { fold } from "../../src/runtime/record/apply.ts";
import { scratchFolder } from "../cli/fake-host.ts";
import { figure } from "../long.ts";
import { eventsOf } from "../team/recorded.ts";
import { start } from "./kills.ts";

/*
 * SIGKILL of a run whose roles share 600 tasks and one note, by real processes on a real disk.
 */

const CHILD = fileURLToPath(new URL("board-child.mjs", import.meta.url));
const scratch = scratchFolder();
/** Durable writes of each process until its death. */
const DEATHS = Array.from({ length: 100 }, (_, nth) => 1 + ((nth * 7) % 12));

test("no task is lost, done twice or owned by two, through 100 kills", { tags: ["kill", "long"], timeout: 1_200_000 }, async () => {
  const store = join(mkdtempSync(join(scratch, "board-")), "runs.db");
  let killed = 0;
  for (const killAt of DEATHS) if ((await start({ store, killAt }, CHILD).ended).signal === "SIGKILL") killed += 1;
  const { stdout, stderr } = await start({ store }, CHILD).ended;
  if (stdout === "") throw new Error(`the last process told nothing: ${stderr}`);
  expect([JSON.parse(stdout), killed]).toEqual([{ status: "finished" }, DEATHS.length]);

  const journal = sqlite({ path: store });
  const events = await eventsOf(journal, "r");
  await journal.close();
  const { board } = fold(events);
  expect([board.size, board.count("done"), board.note("count")?.text]).toEqual([600, 600, "600"]);
  const ends = events.flatMap((event) => (event.type === "step.ended" && event.retry !== true ? [event] : []));
  expect(new Set(ends.map(({ act, key }) => `${act} ${key}`)).size).toBe(ends.length);
  const states = ends.flatMap(({ act, value }) => {
    const { changed, tasks = [] } = (value ?? {}) as Partial<Extract<BoardAnswer, { readonly ok: true }>>;
    if (changed !== true) return [];
    return tasks.flatMap(({ id, owner, state }) => (owner === undefined ? [] : [{ id, owner, kind: state.kind, role: act.split("#")[0] }]));
  });
  const [claims, dones] = ["claimed", "done"].map((kind) => states.filter((one) => one.kind === kind));
  expect(dones?.map(({ id }) => id).toSorted()).toEqual(Array.from({ length: 600 }, (_, n) => `t${n}`).toSorted());
  expect(new Set(claims?.map(({ id, owner }) => `${id} ${owner}`)).size).toBe(600);
  for (const { owner, role } of states) expect(owner).toBe(role);
  figure(`killed ${killed} processes of 600 shared tasks; ${events.length} events`);
});
