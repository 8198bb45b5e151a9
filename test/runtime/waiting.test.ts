import { describe, expect, test } from "vitest";
import { defineAction } from "../../src/role/action.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { contents, town } from "./town.ts";

/** A promise that begins its work when somebody waits for it, as those of database clients do. */
function lazily<T>(work: () => T, asked: string[]): Promise<T> {
  return Object.assign(new Promise<T>(() => {}), {
    then: (...settle: Parameters<Promise<T>["then"]>) => {
      asked.push("then");
      return Promise.resolve(work()).then(...settle);
    },
  });
}

describe("a promise with a then of its own is waited for by that", () => {
  test.each<[string, (asked: string[]) => Role]>([
    [
      "what observes",
      (asked) => defineRole({ name: "Ann", observe: (rc) => lazily(() => rc.inbox, asked), react: (rc) => rc.message("said") }),
    ],
    ["what reacts", (asked) => defineRole({ name: "Ann", react: (rc) => lazily(() => rc.message("said"), asked) })],
    ["an action", (asked) => defineRole({ name: "Ann", actions: [defineAction({ name: "Say", run: () => lazily(() => "said", asked) })] })],
  ])("%s", async (_where, made) => {
    const asked: string[] = [];
    const environment = town([made(asked)]);
    environment.publishMessage("go");
    await environment.run();
    expect(contents(environment.history)).toEqual(["go", "said"]);
    expect(asked).toEqual(["then"]);
  });
});

test("the run waits to the end for a role that observes late and reacts later", async () => {
  const ann = defineRole({
    name: "Ann",
    observe: async (rc) => rc.inbox,
    react: async (rc) => {
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
      return rc.message("said");
    },
  });
  const environment = town([ann]);
  environment.publishMessage("go");
  await environment.run();
  expect(contents(environment.history)).toEqual(["go", "said"]);
});
