// @module-tag numbers
import { expect, it } from "vitest";
import type { Environment } from "../../src/runtime/environment.ts";
import { createMessage } from "../../src/message/message.ts";
import { defineAction } from "../../src/role/action.ts";
import { defineRole } from "../../src/role/role.ts";
import { town } from "../runtime/town.ts";
import { workOf } from "./work.ts";

function hub(): { readonly environment: Environment; readonly heard: () => number } {
  let heard = 0;
  const hear = defineAction({ name: "Hear", run: ({ news }) => void (heard += news.length) });
  return { environment: town([defineRole({ name: "Hub", watch: [], actions: [hear] })]), heard: () => heard };
}

/** Blocks that ran for each of so many messages that one role takes at once. */
async function takingIn(messages: number): Promise<number> {
  const { environment, heard } = hub();
  for (let n = 0; n < messages; n += 1) environment.publishMessage(createMessage("go", { id: `m${n}`, sendTo: "Hub" }));
  const blocks = await workOf(() => environment.run());
  expect(heard()).toBe(messages);
  expect(environment.getRole("Hub")?.memory.size).toBe(messages);
  return blocks / messages;
}

it("one of many messages that a role takes at once costs the same work, however many they are", async () => {
  await takingIn(100);
  const many = await takingIn(2_000);
  expect(many).toBeGreaterThan(2);
  expect(await takingIn(8_000)).toBeLessThan(many * 1.5);
});
