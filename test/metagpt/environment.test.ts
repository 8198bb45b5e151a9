import { describe, expect, test } from "vitest";
import { createMessage, defineRole, Environment, type Role, Team } from "../../src/index.ts";
import { answering, contents, listener, remembered, town } from "../runtime/town.ts";

describe("hiring", () => {
  test("[MetaGPT: add_roles went twice over what it was given, so roles of a generator had no addresses] they hear", async () => {
    function* crew(): Generator<Role> {
      yield listener("Ann");
      yield listener("Bob", { watch: [] });
    }
    const environment = new Environment().addRoles(crew());
    expect(environment.publishMessage(createMessage("hello", { sendTo: ["<all>", "Bob"] })).recipients).toEqual(["Ann", "Bob"]);
    await environment.run();
    expect([remembered(environment, "Ann"), remembered(environment, "Bob")]).toEqual([["hello"], ["hello"]]);
    expect(new Team({ roles: crew() }).roleNames).toEqual(["Ann", "Bob"]);
  });
});

describe("a role that fails", () => {
  test("[MetaGPT: the error left the round at once, its siblings running on] they have ended when the run has, and are heard", async () => {
    let steps = 0;
    const slow = answering("Slow", async (rc) => {
      for (let i = 0; i < 20; i += 1) await rc.step("work", i, () => Promise.resolve((steps += 1)));
      return rc.message("done at last");
    });
    const environment = town([
      answering("Fails", () => {
        throw new Error("rain");
      }),
      slow,
    ]);
    environment.publishMessage("go");
    const { status, error, messages } = await environment.run();
    expect(steps).toBe(20);
    expect([status, error?.message]).toEqual(["failed", expect.stringMatching(/^An action of Fails failed: rain\. /)]);
    expect(contents(messages)).toEqual(["go", "done at last"]);
    for (let i = 0; i < 5; i += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(steps).toBe(20);
  });

  test("[MetaGPT: the error path raised ValueError when the message was in no memory] it leaves memory and mail alone", async () => {
    let isRaining = true;
    const environment = town([
      defineRole({
        name: "Ann",
        react: (rc) => {
          rc.memory.clear();
          if (isRaining) throw new Error("rain");
          return rc.message("sun");
        },
      }),
    ]);
    environment.publishMessage("go");
    expect((await environment.run()).error?.message).toContain("rain");
    expect([remembered(environment, "Ann"), contents(environment.getRole("Ann")?.inbox ?? [])]).toEqual([[], ["go"]]);
    isRaining = false;
    expect((await environment.run()).output?.content).toBe("sun");
  });
});
