import { describe, expect, test } from "vitest";
import type { RoleContext } from "../../src/role/context.ts";
import { createMessage, type Message } from "../../src/message/message.ts";
import { defineRole, type Said } from "../../src/role/role.ts";
import { Environment } from "../../src/runtime/environment.ts";
import { answering, contents, listener, remembered, town } from "../runtime/town.ts";

async function onGo(
  react: (rc: RoleContext) => Said | Promise<Said>,
): Promise<{ status: string; code: string | undefined; said: string[]; environment: Environment }> {
  const environment = town([answering("Ann", react)]);
  environment.publishMessage("go");
  const { status, error, messages } = await environment.run();
  return { status, code: error?.code, said: contents(messages).slice(1), environment };
}

describe("a role that takes more than it was given", () => {
  test("it gets news, inbox and memory as copies, or frozen", async () => {
    const { environment } = await onGo((rc) => {
      rc.memory.get().length = 0;
      expect(() => (rc.news as Message[]).push(createMessage("forged"))).toThrow(TypeError);
      expect(() => ((rc.inbox as Message[]).length = 0)).toThrow(TypeError);
      rc.memory.getByAction("UserRequirement").pop();
      expect(() => ((rc.memory.get()[0] as { content: string }).content = "twisted")).toThrow(TypeError);
    });
    expect(remembered(environment, "Ann")).toEqual(["go"]);
    expect(contents(environment.history)).toEqual(["go"]);
    expect(environment.isIdle).toBe(true);
  });

  test("a message keeps its payload, whatever becomes of the object it was made from", async () => {
    const data = { list: [1] };
    const { environment } = await onGo((rc) => {
      const message = rc.message("x", { instructContent: data, metadata: { list: [1] } });
      data.list.push(2);
      return message;
    });
    expect([...environment.history][1]).toMatchObject({ instructContent: { list: [1] } });
  });

  test("a message that remembers itself under another's id cannot take its place", async () => {
    const { environment } = await onGo((rc) => {
      rc.memory.add(createMessage("forged", { id: rc.news[0]?.id ?? "" }));
      return rc.message("x");
    });
    expect(remembered(environment, "Ann")).toEqual(["go"]);
  });
});

describe("a role that gives back nonsense", () => {
  test.each<[string, (rc: RoleContext) => unknown]>([
    ["a promise in a list", (rc) => [Promise.resolve(rc.message("x"))]],
    ["a list in a list", (rc) => [[rc.message("x")]]],
    ["a function", () => () => 1],
    ["a symbol", () => Symbol("x")],
    ["a message without content", () => ({ causeBy: "x", sendTo: [], parents: [] })],
    ["a message whose content is no text", () => ({ causeBy: "x", sendTo: [], parents: [], content: 5, sentFrom: "" })],
  ])("%s fails its activation by a typed error", async (_what, react) => {
    const { status, code, said } = await onGo((rc) => react(rc) as Said);
    expect(status).toBe("failed");
    expect(code).toMatch(/^(ACTION_RESULT|MESSAGE_INVALID)$/);
    expect(said).toEqual([]);
  });

  test("news that is no list of messages", async () => {
    for (const observed of ["text", 5, [5]]) {
      const environment = town([defineRole({ name: "Ann", observe: () => observed as never, react: () => undefined })]);
      environment.publishMessage("go");
      expect((await environment.run()).status).toBe("failed");
      expect(contents(environment.getRole("Ann")?.inbox ?? [])).toEqual(["go"]);
    }
  });

  test("the same message many times is said once", async () => {
    const { said } = await onGo((rc) => {
      const message = rc.message("once");
      return [message, message, message];
    });
    expect(said).toEqual(["once"]);
  });
});

describe("a memory that is given what is no message", () => {
  test("the activation fails, and nothing of it is kept", async () => {
    for (const forged of ["text", 5, {}, null]) {
      const { status, environment } = await onGo((rc) => {
        rc.memory.add(rc.message("a good one"));
        rc.workingMemory.add(forged as unknown as Message);
      });
      expect(status).toBe("failed");
      expect(contents(environment.getRole("Ann")?.inbox ?? [])).toEqual(["go"]);
      expect(remembered(environment, "Ann")).toEqual([]);
    }
  });
});

describe("values that try to be more than data", () => {
  test("a getter, a toJSON that throws, a proxy: the activation fails, the process does not", async () => {
    const bombs: unknown[] = [
      {
        toJSON: () => {
          throw new Error("boom");
        },
      },
      {
        get bomb(): never {
          throw new Error("boom");
        },
      },
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error("boom");
          },
        },
      ),
    ];
    for (const bomb of bombs) {
      expect((await onGo((rc) => rc.message("x", { instructContent: bomb }))).status).toBe("failed");
      expect((await onGo((rc) => void (rc.state["x"] = bomb))).status).toBe("failed");
      expect((await onGo(async (rc) => void (await rc.step("s", bomb, () => Promise.resolve(1))))).status).toBe("failed");
      expect((await onGo(async (rc) => void (await rc.step("s", {}, () => Promise.resolve(bomb))))).status).toBe("failed");
    }
  });

  test("keys that belong to every object pass through a step unharmed, but not the one that names the prototype", async () => {
    const plain = { constructor: 1, toString: 2, hasOwnProperty: 3 };
    let got: object = {};
    await onGo(async (rc) => void (got = await rc.step("s", plain, () => Promise.resolve(plain))));
    expect(Object.keys(got).toSorted()).toEqual(Object.keys(plain).toSorted());
    const evil = JSON.parse('{"__proto__": {"polluted": true}}') as object;
    expect(await onGo(async (rc) => void (await rc.step("s", {}, () => Promise.resolve(evil))))).toMatchObject({
      status: "failed",
      code: "NOT_JSON",
    });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test("deep data is refused instead of ending the process", async () => {
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i += 1) deep = [deep];
    expect(await onGo(async (rc) => void (await rc.step("s", {}, () => Promise.resolve(deep))))).toMatchObject({
      status: "failed",
      code: "NOT_JSON",
    });
    expect(await onGo((rc) => void (rc.state["deep"] = deep))).toMatchObject({ status: "failed", code: "NOT_JSON" });
  });
});

describe("many", () => {
  test("a thousand steps side by side in one activation", async () => {
    const { said } = await onGo(async (rc) => {
      const answers = await Promise.all(Array.from({ length: 1000 }, (_, i) => rc.step("s", i, () => Promise.resolve(i))));
      return rc.message(String(answers.reduce((sum, n) => sum + n, 0)));
    });
    expect(said).toEqual(["499500"]);
  });

  test("two thousand messages to one role, and two thousand said by one", async () => {
    const environment = town([
      answering("Ann", (rc) => rc.news.map((news) => rc.message(news.content, { sendTo: "Bob" }))),
      listener("Bob", { watch: [] }),
    ]);
    for (let i = 0; i < 2000; i += 1) environment.publishMessage(createMessage(String(i), { sendTo: "Ann" }));
    const result = await environment.run();
    expect(result.rounds).toBe(2);
    expect(environment.getRole("Bob")?.memory.size).toBe(2000);
    expect(environment.getRole("Bob")?.memory.getByPosition(-1)?.content).toBe("1999");
  });

  test("roles with names that every object has", async () => {
    const names = ["__proto__", "constructor", "toString", "a#1~2", "ünïcödé 🎭", "<b>", "a b"];
    const environment = new Environment();
    for (const name of names)
      environment.addRole(
        answering("Role", async (rc) => rc.message(await rc.step("s", rc.name, () => Promise.resolve(rc.name)), { sendTo: "Ear" })),
        { name },
      );
    environment.addRole(listener("Ear", { watch: [] }));
    environment.publishMessage("go");
    expect((await environment.run()).status).toBe("finished");
    expect(remembered(environment, "Ear")).toEqual(names);
  });
});

describe("changing the company while it works", () => {
  test("a role that is added by a listener hears what is said from then on", async () => {
    const environment = town([
      answering("Ann", (rc) =>
        rc.news[0]?.content === "go" ? rc.message("again", { sendTo: ["<self>", "Late"] }) : rc.message("news", { causeBy: "News" }),
      ),
    ]);
    environment.on("act.started", () => expect.unreachable());
    environment.on("role.active", () => {
      if (!environment.roleNames.includes("Late")) environment.addRole(listener("Late", { watch: ["News"] }));
    });
    environment.publishMessage("go");
    expect((await environment.run()).status).toBe("finished");
    expect(remembered(environment, "Late")).toEqual(["again", "news"]);
  });

  test("a listener that publishes for every event does not run away with itself", async () => {
    const environment = town([listener("Ann")]);
    let published = 0;
    environment.on("message", () => {
      if (published < 100) environment.publishMessage(`echo ${(published += 1)}`);
    });
    environment.publishMessage("go");
    expect((await environment.run()).status).toBe("finished");
    expect(environment.getRole("Ann")?.memory.size).toBe(101);
  });
});
