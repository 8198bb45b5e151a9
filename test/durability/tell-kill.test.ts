import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { sqlite } from "../../src/adapters/sqlite.ts";
import { createMessage } from "../../src/message/message.ts";
import { defineRole } from "../../src/role/role.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { Team } from "../../src/team/team.ts";
import { scratchFolder } from "../cli/fake-host.ts";
import { positionsOf } from "../long.ts";
import { start } from "./kills.ts";

/*
 * SIGKILL of a run after a durable write while another process tells it something. `npm test` kills it right after it has recorded the message,
 * before it can answer, and `npm run long -- kill` after each write.
 */

const CHILD = fileURLToPath(new URL("tell-child.mjs", import.meta.url));
const scratch = scratchFolder();
/** Durable writes of an unkilled run: a little more than there are. */
const WRITES = 4;
/** The write that has the message; the one after it has all that follows. */
const MESSAGE = 2;

async function recorded(journal: Journal): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  if ((await journal.runs()).length > 0) for await (const event of journal.read("r", 0)) events.push(event);
  return events;
}

test.each(positionsOf(WRITES, [MESSAGE]))(
  "a message reaches a run once that is killed after %i writes",
  { tags: ["kill"] },
  async (killAt) => {
    const store = join(mkdtempSync(join(scratch, "tell-")), "runs.db");
    const first = start({ store, killAt }, CHILD);
    const journal = sqlite({ path: store });
    await vi.waitUntil(async () => (await recorded(journal)).length > 0, { timeout: 60_000, interval: 10 });
    // The team of the child: the process of the teller only records the message, if no other process has the run.
    const ann = defineRole({ name: "Ann", react: (rc) => rc.message("never") });
    const receipt = await new Team({ journal, roles: [ann] }).send("r", createMessage("wish", { id: "wish" }));
    expect(receipt).toMatchObject({ message: { content: "wish" }, recipients: ["Ann"] });
    const { signal } = await first.ended;
    if (killAt <= MESSAGE + 1) expect(signal).toBe("SIGKILL");
    const { stdout, stderr } = await start({ store }, CHILD).ended;
    if (stdout === "") throw new Error(`the last process told nothing: ${stderr}`);
    const told = JSON.parse(stdout) as { readonly status: string; readonly heard: readonly string[] };
    expect([told.status, told.heard.join("; ").match(/wish/g)]).toEqual(["finished", ["wish"]]);
    const events = await recorded(journal);
    expect(events.filter((event) => event.type === "message" && event.message.id === "wish")).toHaveLength(1);
    await journal.close();
  },
);
