import { expect, it } from "vitest";
import { z } from "zod";
import { defineAction } from "../../src/role/action.ts";
import { Environment } from "../../src/runtime/environment.ts";
import { defineRole } from "../../src/role/role.ts";
import { allocatedBy, workOf } from "./work.ts";

const CROWD = 200;
const TIMES = 5;
/** For a turn, of which a good part is the schema's: 205 blocks of ours, and 4,930 bytes where 6,730 were when numbers were copied and compared as texts. */
const MOST_BLOCKS_OF_A_TURN = 260;
const MOST_BYTES_OF_A_TURN = 5_800;

/** So many who count what they hear in their state, and add a number of their own chance. */
function crowd(): Environment {
  const count = defineAction({
    name: "Count",
    run: (rc) => {
      const { seen, sum } = rc.state as { readonly seen: number; readonly sum: number };
      rc.state = { seen: seen + 1, sum: sum + Math.floor(rc.random() * 1_000) };
    },
  });
  const state = z.object({ seen: z.number().default(0), sum: z.number().default(0) });
  const one = defineRole({ name: "One", profile: "", actions: [count], state });
  const environment = new Environment({ seed: "scale" });
  for (let place = 0; place < CROWD; place += 1) environment.addRole(one, { name: `C${place}` });
  return environment;
}

async function ticked(environment: Environment): Promise<number> {
  for (let time = 0; time < TIMES; time += 1) {
    environment.publishMessage("tick");
    await environment.run();
  }
  return Number(environment.getRole("C0")?.state["seen"]);
}

it("a role that changes a typed state and draws a number does so in a few blocks of code, and a bounded number of bytes", async () => {
  expect(await ticked(crowd())).toBe(TIMES);
  const [first, second] = [crowd(), crowd()];
  const blocks = (await workOf(() => ticked(first))) / (CROWD * TIMES);
  const bytes = (await allocatedBy(() => ticked(second))) / (CROWD * TIMES);
  expect(blocks).toBeGreaterThan(10);
  expect(blocks).toBeLessThan(MOST_BLOCKS_OF_A_TURN);
  expect(bytes).toBeLessThan(MOST_BYTES_OF_A_TURN);
});
