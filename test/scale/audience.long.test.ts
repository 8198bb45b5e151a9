// @module-tag numbers
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Environment } from "../../src/runtime/environment.ts";
import { createMessage } from "../../src/message/message.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { audience, say } from "./players.ts";
import { heapOfEach } from "./heap.ts";
import { workOf } from "./work.ts";

/** Bytes of heap of one role that waits, with a shared definition. */
const MOST_BYTES_OF_A_ROLE = 256;

async function publishing(environment: Environment, times: number): Promise<number> {
  for (let k = 0; k < 3; k += 1) environment.publishMessage(createMessage("go", { causeBy: say }));
  return workOf(() => {
    for (let k = 0; k < times; k += 1) environment.publishMessage(createMessage("go", { causeBy: say }));
  });
}

describe("a message to many", () => {
  it("costs as much as it has recipients, not as there are roles", async () => {
    const few = await publishing(audience({ listeners: 1, deaf: 10 }), 20);
    const many = await publishing(audience({ listeners: 1, deaf: 5_000 }), 20);
    expect(few).toBeGreaterThan(20);
    expect(many).toBeLessThan(few * 1.5);
  });

  it("costs no more for each recipient when there are more of them", async () => {
    const each = async (listeners: number): Promise<number> => (await publishing(audience({ listeners }), 5)) / (5 * listeners);
    const few = await each(100);
    expect(few).toBeGreaterThan(0.5);
    expect(await each(5_000)).toBeLessThan(few * 1.5);
  });

  it("is observed and acted upon at the same cost by each, however many they are", async () => {
    const acting = async (listeners: number): Promise<number> => {
      const environment = audience({ listeners });
      environment.publishMessage("go");
      return (await workOf(() => environment.run())) / listeners;
    };
    await acting(10);
    const few = await acting(200);
    expect(few).toBeGreaterThan(10);
    expect(await acting(2_000)).toBeLessThan(few * 1.5);
  });
});

/** So many hired by one definition. */
function crowd(n: number, role: Role): Environment {
  const environment = new Environment({ seed: "scale" });
  for (let place = 0; place < n; place += 1) environment.addRole(role, { name: `R${place}` });
  return environment;
}

/** A definition that says so much of everything a definition can say. */
function rich(much: number): Role {
  const names = Array.from({ length: much }, (_, place) => `name${place}`);
  return defineRole({
    name: "Rich",
    profile: "Worker",
    goal: "g".repeat(much),
    addresses: names,
    memoryLimit: 1_000,
    memory: { recall: { k: 1 } },
    state: z.object(Object.fromEntries(names.map((name) => [name, z.number().default(0)]))),
    reactions: names.map((name) => ({ on: [name, `${name} too`], do: say })),
  });
}

describe("a role that waits", () => {
  const ROLES = 20_000;

  it.each([
    ["little", 1],
    ["much", 50],
  ])("holds no more than its name, its place and what it is hired as, if its definition says %s", async (_, much) => {
    const role = rich(much);
    const bytes = await heapOfEach(ROLES, () => crowd(ROLES, role));
    expect(bytes).toBeGreaterThan(50);
    expect(bytes).toBeLessThan(MOST_BYTES_OF_A_ROLE);
  });

  it("Directory.D2 HiredRoles.H2 is hired at the same cost, however much its definition says: what that says is looked at once", async () => {
    const hiring = async (much: number): Promise<number> => {
      const role = rich(much);
      crowd(1, role);
      const [one, all] = [await workOf(() => crowd(1, role)), await workOf(() => crowd(ROLES, role))];
      return (all - one) / (ROLES - 1);
    };
    const little = await hiring(1);
    expect(little).toBeGreaterThan(5);
    expect(await hiring(30)).toBeLessThan(little * 1.5);
  });
});
