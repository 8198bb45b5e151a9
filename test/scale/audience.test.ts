import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Ears } from "../../src/runtime/ears.ts";
import { Environment } from "../../src/runtime/environment.ts";
import { createMessage } from "../../src/message/message.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import type { Observed } from "../../src/runtime/record/event.ts";
import { nothing } from "../../src/runtime/record/role-life.ts";
import { type HiredAs, RoleState } from "../../src/runtime/record/role-state.ts";
import { collectGarbage } from "../kernel/garbage.ts";
import { audience, say } from "./players.ts";
import { allocatedBy, heapOfEach, workOf } from "./work.ts";

/** Bytes of heap of one role that waits, whatever its definition says: about 170, and 30 of them for its name. */
const MOST_BYTES_OF_A_ROLE = 256;
/** For one message from outside that one role hears: 72, and 820 to 870. */
const MOST_BLOCKS_OF_A_MESSAGE = 80;
const MOST_BYTES_OF_A_MESSAGE = 1_300;
/** For one of many who observe a message and act upon it: 101. */
const MOST_BLOCKS_OF_A_HEARER = 130;
/** What stays in one of many who heard a message and remember it: 16 in the lists of who hears it, where a memory of its own has 200. */
const MOST_BYTES_OF_WHAT_IS_HEARD = 80;

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

  it("from outside takes a few blocks of code, and a bounded number of bytes", async () => {
    const environment = audience({ listeners: 1, deaf: 10 });
    const blocks = (await publishing(environment, 200)) / 200;
    const bytes = await allocatedBy(() => {
      for (let k = 0; k < 2_000; k += 1) environment.publishMessage(createMessage("go", { causeBy: say }));
    });
    expect(blocks).toBeGreaterThan(10);
    expect(blocks).toBeLessThan(MOST_BLOCKS_OF_A_MESSAGE);
    expect(bytes / 2_000).toBeLessThan(MOST_BYTES_OF_A_MESSAGE);
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
    expect(few).toBeLessThan(MOST_BLOCKS_OF_A_HEARER);
    expect(await acting(2_000)).toBeLessThan(few * 1.5);
  });
});

describe("one message to many who remember it", () => {
  it("leaves nothing in each of them but that message", async () => {
    // So many that what else a process makes meanwhile is little beside what stays in them.
    const listeners = 100_000;
    const environment = audience({ listeners });
    environment.publishMessage("go");
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    await environment.run();
    collectGarbage();
    expect((process.memoryUsage().heapUsed - before) / listeners).toBeLessThan(MOST_BYTES_OF_WHAT_IS_HEARD);
    expect(environment.getRole(`L${listeners - 1}`)?.memory.size).toBe(1);
  });
});

describe("a message to many step functions", () => {
  it("is acted upon without one of them being looked up by its name", async () => {
    const environment = crowd(500, defineRole({ name: "One", step: (state) => ({ ...state, heard: true }) }));
    const { roles } = environment.state;
    environment.publishMessage("go");
    const found: string[] = [];
    roles.get = (name) => {
      found.push(name);
      return Map.prototype.get.call(roles, name) as RoleState | undefined;
    };
    await environment.run();
    expect(environment.getRole("R499")?.state).toEqual({ heard: true });
    expect(new Set(found)).toEqual(new Set(["R499"]));
  });
});

describe("nobody listens", () => {
  /** Keeps which types somebody had something to tell about. */
  class Watched extends Ears {
    readonly told = new Set<string>();

    override hears(type: Observed["type"]): boolean {
      this.told.add(type);
      return super.hears(type);
    }
  }

  async function toldIn(listen: boolean): Promise<readonly string[]> {
    const ears = new Watched();
    const environment = new Environment({ seed: "scale" }, { ears }).addRole(defineRole({ name: "Speaker", actions: [say] }));
    if (listen) environment.on("warning", () => {});
    environment.publishMessage("go");
    await environment.run();
    return [...ears.told].toSorted();
  }

  it("nothing is made to be told, of whatever type (EA1)", async () => {
    expect(await toldIn(false)).toEqual([]);
  });

  it("would be seen: with a listener there are notices", async () => {
    expect(await toldIn(true)).toEqual(expect.arrayContaining(["action.started", "message.output", "role.active", "role.idle"]));
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
  /** So many that what else a process makes meanwhile, some 300 KB, is less than the bytes between two kinds of them. */
  const MANY = 100_000;
  const message = createMessage("go");
  const both = [message, createMessage("gone")];
  const changed = { seen: 1 };

  it.each([
    ["little", 1],
    ["much", 50],
  ])("holds no more than its name, its place and what it is hired as, if its definition says %s", async (_, much) => {
    const role = rich(much);
    const bytes = await heapOfEach(ROLES, () => crowd(ROLES, role));
    expect(bytes).toBeGreaterThan(50);
    expect(bytes).toBeLessThan(MOST_BYTES_OF_A_ROLE);
  });

  it("is hired at the same cost, however much its definition says: what that says is looked at once", async () => {
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

  it.each<[string, (role: RoleState) => void]>([
    [
      "has heard one message, taken it and changed its state, than that state",
      (role) => {
        role.hear(message, false);
        role.takeNext();
        role.custom = changed;
        role.passOn();
      },
    ],
    [
      "has heard one message and remembers it",
      (role) => {
        role.hear(message, false);
        role.remember([message]);
        role.takeNext();
        role.passOn();
      },
    ],
    [
      "has heard one message, answered it and remembers both, than a list of them",
      (role) => {
        role.hear(message, true);
        role.remember(both);
        role.takeNext();
        role.passOn();
      },
    ],
    [
      "is told that it has not failed",
      (role) => {
        Object.assign(role, { failures: 0, strikes: 0, isolated: 0, retake: undefined, open: undefined, carry: nothing.carry });
      },
    ],
  ])("holds no more when it %s", async (_, live) => {
    const hired: HiredAs = { fingerprint: "", traits: {}, state: {} };
    const heapOfRoles = (lived: (role: RoleState) => void): Promise<number> =>
      heapOfEach(MANY, () =>
        Array.from({ length: MANY }, (_role, place) => {
          const role = new RoleState("", place, hired);
          lived(role);
          return role;
        }),
      );
    const untouched = await heapOfRoles(() => {});
    expect(untouched).toBeGreaterThan(50);
    expect(untouched).toBeLessThan(136);
    expect((await heapOfRoles(live)) - untouched).toBeLessThan(4);
  });
});
