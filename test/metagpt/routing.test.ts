import { describe, expect, test } from "vitest";
import {
  Action,
  type Address,
  addressOf,
  createMessage,
  defineAction,
  defineRole,
  Environment,
  ROUTE_TO_SELF,
  UsageError,
  UserRequirement,
} from "../../src/index.ts";
import { answering, contents, listener, remembered, town } from "../runtime/town.ts";

const Report = defineAction({ name: "Report" });
const Gossip = defineAction({ name: "Gossip" });

describe("names", () => {
  describe.each<[string, unknown]>([
    ["a number", 5],
    ["a truth value", true],
    ["null", null],
    ["an object without a name", {}],
    ["a list", ["Bob"]],
  ])("[MetaGPT: any value became an address, 5 was builtins.int and None builtins.NoneType] %s is none", (_what, value) => {
    const address = value as Address;

    test("by itself", () => {
      expect(() => addressOf(address)).toThrow(UsageError);
    });

    test("as a recipient", () => {
      expect(() => createMessage("x", { sendTo: ["Bob", address] })).toThrow(UsageError);
    });

    test("as something to watch", () => {
      expect(() => new Environment().addRole(defineRole({ name: "Bob", watch: [address] }))).toThrow(UsageError);
    });
  });

  test("[MetaGPT: an object that can be called has no __name__, and routing broke on it] it goes by its name", () => {
    const call = Object.assign((): string => "called", { actionName: "Call" });
    const message = createMessage("x", { causeBy: call });
    expect(town([listener("Ann", { watch: ["Call"] })]).publishMessage(message).recipients).toEqual(["Ann"]);
  });

  test("[MetaGPT: an action was its module and class, elsewhere another] a class, an instance and a name are one address", () => {
    class Draft extends Action {}
    for (const watch of [Draft, new Draft(), "Draft"]) {
      for (const causeBy of [Draft, new Draft(), "Draft"]) {
        const environment = town([listener("Ann", { watch: [watch] })]);
        expect(environment.publishMessage(createMessage("x", { causeBy })).recipients).toEqual(["Ann"]);
      }
    }
  });
});

describe("what a role hears", () => {
  test("[MetaGPT: a broadcast that nobody watched was taken from every inbox and vanished] it is told, and kept in the history", async () => {
    const environment = town([listener("Ann", { watch: [Report] })]);
    const unheard: string[] = [];
    environment.on("message.unheard", ({ message }) => unheard.push(message.content));
    expect(environment.publishMessage(createMessage("psst", { causeBy: Gossip })).recipients).toEqual([]);
    expect(environment.getRole("Ann")?.inbox).toEqual([]);
    expect(unheard).toEqual(["psst"]);
    await environment.run();
    expect(contents(environment.history)).toEqual(["psst"]);
  });

  test("[MetaGPT: nor did the one who started the run learn of it] from a role it is an output of the run", async () => {
    const environment = town([answering("Ann", (rc) => rc.message("psst", { causeBy: Gossip })), listener("Bob", { watch: [Report] })]);
    environment.publishMessage("go");
    const { outputs, output } = await environment.run();
    expect(contents(outputs)).toEqual(["psst"]);
    expect(output?.causeBy).toBe("Gossip");
  });

  test.each<[string, Address]>([
    ["profile", "Clerk"],
    ["further address", "night-shift"],
    ["name", "Ann"],
  ])(
    "[MetaGPT: mail to an address that is no name was dropped unless its cause was watched] mail to its %s comes",
    async (_what, sendTo) => {
      const environment = town([listener("Ann", { profile: "Clerk", addresses: ["night-shift"], watch: [Report] }), listener("Bob")]);
      expect(environment.publishMessage(createMessage("for you", { causeBy: Gossip, sendTo })).recipients).toEqual(["Ann"]);
      await environment.run();
      expect(remembered(environment, "Ann")).toEqual(["for you"]);
    },
  );

  test("[MetaGPT: a message to <self> was dropped in the same way] the sender acts on it", async () => {
    const heard: string[] = [];
    const environment = town([
      answering("Ann", (rc) => {
        heard.push(...contents(rc.news));
        return heard.length < 3 ? rc.message(`note ${heard.length}`, { causeBy: Gossip, sendTo: ROUTE_TO_SELF }) : undefined;
      }),
      listener("Bob", { observeAll: true }),
    ]);
    environment.publishMessage(createMessage("go", { sendTo: "Ann" }));
    await environment.run();
    expect(heard).toEqual(["go", "note 1", "note 2"]);
    expect(remembered(environment, "Bob")).toEqual([]);
  });

  test("[MetaGPT: the sender heard its own broadcast, and only the duplicate check kept it from acting] it does not get it", async () => {
    let activations = 0;
    const echo = answering(
      "Ann",
      (rc) => {
        activations += 1;
        rc.memory.clear();
        return rc.message("again", { causeBy: Gossip });
      },
      { watch: [UserRequirement, Gossip] },
    );
    const environment = town([echo]);
    environment.publishMessage("go");
    const { status, rounds } = await environment.run({ rounds: 5 });
    expect([status, rounds, activations]).toEqual(["finished", 1, 1]);
  });

  test("[as in MetaGPT] a message that comes twice is acted on once, whether it still waits or is remembered", async () => {
    let activations = 0;
    const environment = town([answering("Ann", () => void (activations += 1))]);
    const message = createMessage("once");
    environment.publishMessage(message);
    environment.publishMessage(message);
    expect(environment.getRole("Ann")?.inbox).toHaveLength(1);
    await environment.run();
    environment.publishMessage(message);
    await environment.run();
    expect(activations).toBe(1);
    expect(remembered(environment, "Ann")).toEqual(["once"]);
  });
});

describe("what publishing reports", () => {
  test("[MetaGPT: publish_message said True, whoever heard it] the receipt names who hears it", () => {
    const environment = town([listener("Ann"), listener("Bob"), listener("Cid", { watch: [Report] })]);
    expect(environment.publishMessage("all").recipients).toEqual(["Ann", "Bob"]);
    expect(environment.publishMessage(createMessage("one", { sendTo: "Cid" })).recipients).toEqual(["Cid"]);
    expect(environment.publishMessage(createMessage("none", { causeBy: Gossip })).recipients).toEqual([]);
  });

  test("[MetaGPT: an address that no one has was one line in a log, and True] it is a dead letter of the result", async () => {
    const environment = town([answering("Ann", (rc) => rc.message("hello", { sendTo: ["Bob", "Nobody"] })), listener("Bob")]);
    environment.publishMessage(createMessage("go", { sendTo: "Ann" }));
    const { deadLetters } = await environment.run();
    expect(deadLetters.map(({ message, reason }) => [message.content, reason])).toEqual([
      ["hello", { kind: "no such address", address: "Nobody" }],
    ]);
    expect(remembered(environment, "Bob")).toEqual(["hello"]);
  });
});
