import { describe, expect, test } from "vitest";
import { createMessage, defineRole, Environment, type Message, type Role, Team, UsageError } from "../../src/index.ts";
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

  test("[MetaGPT: a second role of one name replaced the first, which went on collecting mail that no one read] it is refused", async () => {
    const first = listener("Ann");
    const environment = town([first]);
    expect(() => environment.addRole(listener("Ann", { watch: ["Gossip"] }))).toThrow(
      expect.objectContaining({ name: "UsageError", code: "ROLE_DUPLICATE" }) as UsageError,
    );
    expect(environment.getRole("Ann")?.role).toBe(first);
    expect(environment.publishMessage("hello").recipients).toEqual(["Ann"]);
    expect(environment.publishMessage(createMessage("psst", { causeBy: "Gossip" })).recipients).toEqual([]);
    await environment.run();
    expect(remembered(environment, "Ann")).toEqual(["hello"]);
    expect(() => new Team({ roles: [first] }).hire(listener("Ann"))).toThrow(UsageError);
  });
});

describe("one message, many recipients", () => {
  test("[MetaGPT: recipients shared one object that each could change for all others] it cannot be changed", async () => {
    const refusals: unknown[] = [];
    const vandal = answering("Ann", (rc) => {
      const [message] = rc.news as [Message & { content: string; sendTo: string[]; instructContent: { files: string[] } }];
      for (const change of [
        () => (message.content = "something else"),
        () => message.sendTo.push("Mallory"),
        () => message.instructContent.files.pop(),
        () => Object.assign(message, { persisted: true }),
      ]) {
        try {
          change();
        } catch (error) {
          refusals.push(error);
        }
      }
    });
    const environment = town([vandal, listener("Bob")]);
    environment.publishMessage(createMessage("as it was", { instructContent: { files: ["a.js"] } }));
    await environment.run();
    expect(refusals).toHaveLength(4);
    for (const memory of [environment.getRole("Ann")?.memory, environment.getRole("Bob")?.memory, environment.history]) {
      expect(memory?.get()).toMatchObject([{ content: "as it was", sendTo: ["<all>"], instructContent: { files: ["a.js"] } }]);
    }
  });

  test("[MetaGPT: the history held each message twice, as it came and as it was rewritten] once, as it was said", async () => {
    const environment = town([answering("Ann", (rc) => rc.message("for Bob", { sendTo: "Bob" })), listener("Bob")]);
    environment.publishMessage(createMessage("for Ann", { sendTo: "Ann" }));
    const { messages } = await environment.run();
    expect(contents(messages)).toEqual(["for Ann", "for Bob"]);
    expect(contents(environment.history)).toEqual(["for Ann", "for Bob"]);
  });

  test("[MetaGPT: publishing wrote a further recipient into the sender's own message] what is given stays as it was", async () => {
    const given = createMessage("for Ann", { id: "given", sendTo: ["Ann"], sentFrom: "Zoe" });
    const before = JSON.stringify(given);
    const environment = town([listener("Ann"), listener("Bob"), listener("Mike")]);
    expect(environment.publishMessage(given).recipients).toEqual(["Ann"]);
    await environment.run();
    expect(JSON.stringify(given)).toBe(before);
    expect(environment.history.get()).toMatchObject([{ id: "given", sendTo: ["Ann"], sentFrom: "Zoe" }]);
    expect(remembered(environment, "Mike")).toEqual([]);
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

  test("[MetaGPT: the error came as a bare Exception with a traceback for its text] it comes with its code and its cause", async () => {
    const cause = new RangeError("rain");
    const environment = town([
      answering("Fails", () => {
        throw cause;
      }),
    ]);
    environment.publishMessage("go");
    const { error } = await environment.run();
    expect(error).toMatchObject({ code: "ACTION_FAILED", cause });
    expect(error?.message).not.toMatch(/\n\s+at /);
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
