import { EventEmitter } from "eventemitter3";
import { describe, expect, it } from "vitest";
import { Environment } from "../../src/environment/environment.ts";
import { createMessage } from "../../src/message/message.ts";
import { defineRole } from "../../src/role/role.ts";
import { audience, say } from "./players.ts";
import { heapOfEach, workOf } from "./work.ts";

/** Bytes of heap of one role that waits. */
const MOST_BYTES_OF_A_ROLE = 1_700;

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

describe("nobody listens", () => {
  /** Keeps which types somebody had something to tell about. */
  class Watched extends EventEmitter {
    readonly told = new Set<string | symbol>();

    override listenerCount(type: string | symbol): number {
      this.told.add(type);
      return super.listenerCount(type);
    }
  }

  async function toldIn(listen: boolean): Promise<readonly string[]> {
    const emitter = new Watched();
    const environment = new Environment({ seed: "scale" }, { emitter }).addRole(defineRole({ name: "Speaker", actions: [say] }));
    if (listen) environment.on("warning", () => {});
    environment.publishMessage("go");
    await environment.run();
    return [...emitter.told].map(String).toSorted();
  }

  it("no notice is made: only what is recorded anyway is there to be told", async () => {
    expect(await toldIn(false)).toEqual(["act.ended", "message", "round.ended"]);
  });

  it("would be seen: with a listener there are notices", async () => {
    expect(await toldIn(true)).toEqual(expect.arrayContaining(["action.started", "message.output", "role.active", "role.idle"]));
  });
});

describe("a role that waits", () => {
  it("holds a bounded number of bytes", () => {
    const roles = 5_000;
    const bytes = heapOfEach(roles, () => audience({ deaf: roles }));
    expect(bytes).toBeGreaterThan(50);
    expect(bytes).toBeLessThan(MOST_BYTES_OF_A_ROLE);
  });
});
