import { describe, expect, test } from "vitest";
import type { RoleContext } from "../../../src/role/context.ts";
import { defineRole } from "../../../src/role/role.ts";
import type { EdgePolicy } from "../../../src/runtime/edges/edge-policy.ts";
import { memoryJournal } from "../../../src/runtime/record/memory-journal.ts";
import { Team } from "../../../src/team/team.ts";
import { eventsOf } from "../../team/recorded.ts";

/** Begins a step that nobody waits for. */
function beginLoose(rc: Pick<RoleContext, "step">, until: Promise<void>): void {
  void rc.step("loose", {}, () => until.then(() => 1)).catch(() => {});
}

function opening(): { readonly opened: Promise<void>; open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

describe("RoleTurn.T3 what depends on the state of the run is found when the end is recorded", () => {
  test("delays and edges, where another role has ended since the body did: a replay finds the same", async () => {
    const late = opening();
    const passed: [string, number][] = [];
    const seen: EdgePolicy = { name: "seen", pairs: ["Ann->*"], decide: ({ message, tick }) => void passed.push([message.content, tick]) };
    const ann = defineRole({
      name: "Ann",
      watch: ["UserRequirement"],
      react: (rc) => {
        beginLoose(rc, late.opened);
        rc.publish(rc.message("now", { sendTo: "Cid" }));
        rc.publishAfter(50, rc.message("later", { sendTo: "Cid" }));
      },
    });
    const bob = defineRole({ name: "Bob", watch: ["UserRequirement"], react: (rc) => rc.message("quick", { sendTo: "<none>" }) });
    const cid = defineRole({ name: "Cid", watch: [], react: () => undefined });
    const journal = memoryJournal();
    const team = new Team({ roles: [ann, bob, cid], journal, scheduler: "eager", seed: 1, edges: [seen] });
    const run = team.run("go", { id: "one" });
    run.on("act.ended", ({ role }) => {
      if (role === "Bob") late.open();
    });
    expect((await run.result).status).toBe("finished");
    const ends = (await eventsOf(journal, "one")).flatMap((event) => (event.type === "act.ended" ? [event] : []));
    expect(ends.slice(0, 2).map(({ role, said }) => [role, ...said.map(({ due }) => due)])).toEqual([
      ["Bob", undefined],
      ["Ann", undefined, 51],
    ]);
    expect(passed).toEqual([
      ["now", 1],
      ["later", 1],
    ]);
    expect((await team.replay("one").result).status).toBe("finished");
  });
});
