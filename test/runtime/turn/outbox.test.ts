import { describe, expect, it } from "vitest";
import { defineAction } from "../../../src/role/action.ts";
import type { RoleContext } from "../../../src/role/context.ts";
import { Environment } from "../../../src/runtime/environment.ts";
import type { UsageError } from "../../../src/kernel/errors.ts";
import { createMessage, type Message, type MessageFields } from "../../../src/message/message.ts";
import { defineRole, Role } from "../../../src/role/role.ts";

/** What a role says when somebody says "go" to it, without what was said to it. */
async function saidBy(role: Role): Promise<readonly Message[]> {
  const environment = new Environment({ seed: "speaker" }).addRole(role);
  environment.publishMessage(createMessage("go", { id: "m1", timestamp: 0 }));
  const { status, error, messages } = await environment.run();
  expect([status, error]).toEqual(["finished", undefined]);
  return messages.slice(1);
}

describe("the parents of what is said", () => {
  it("are the news, also after something was said before there was any", async () => {
    const said = await saidBy(
      defineRole({
        name: "Ann",
        observe(rc) {
          rc.publish(rc.message("early", { sendTo: "<none>" }));
          return rc.inbox;
        },
        react: (rc) => rc.message("late"),
      }),
    );
    expect(said.map(({ content, parents }) => [content, [...parents]])).toEqual([
      ["early", []],
      ["late", ["m1"]],
    ]);
  });

  it("are nobody else's list, also where a role passes on what only looks like a message", async () => {
    const parents = ["p1"];
    const [said] = await saidBy(
      defineRole({ name: "Ann", react: (rc) => void rc.publish({ ...createMessage("forged"), parents } as unknown as Message) }),
    );
    parents.push("p2");
    expect(said?.parents).toEqual(["p1"]);
    expect(Object.isFrozen(said?.parents)).toBe(true);
  });

  it("are the news, or nobody, where somebody says null", async () => {
    const none = { parents: null } as unknown as MessageFields;
    const [said] = await saidBy(defineRole({ name: "Ann", react: (rc) => rc.message("plain", none) }));
    expect(said?.parents).toEqual(["m1"]);
    expect(createMessage("outside", none).parents).toEqual([]);
    const [stepped] = await saidBy(
      defineRole({ name: "Bob", watch: ["UserRequirement"], step: (_state, _message, out) => void out.say("plain", none) }),
    );
    expect(stepped?.parents).toEqual(["m1"]);
  });
});

describe("a value that is not a message", () => {
  it.each([undefined, null, "text"])("%j is not published, whether something was said before or not", async (nothing) => {
    const codes: unknown[] = [];
    const publish = (rc: RoleContext): void => {
      try {
        rc.publish(nothing as unknown as Message);
      } catch (error) {
        codes.push((error as UsageError).code);
      }
    };
    const role = defineRole({
      name: "Ann",
      react: (rc) => {
        publish(rc);
        const said = rc.message("said");
        publish(rc);
        return said;
      },
    });
    expect(await saidBy(role)).toHaveLength(1);
    expect(codes).toEqual(["MESSAGE_INVALID", "MESSAGE_INVALID"]);
  });
});

describe("the cause of what an action says", () => {
  it("is the action, also where the role gives it a context of its own making", async () => {
    const doIt = defineAction({ name: "DoIt", run: ({ message }) => message("done") });
    class Wrapping extends Role {
      override readonly name = "Ann";
      override readonly actions = [doIt];
      override act(rc: RoleContext, action: typeof doIt) {
        const message: RoleContext["message"] = (content, fields) => rc.message(content, { ...fields, metadata: { wrapped: true } });
        return super.act(new Proxy(rc, { get: (of, key) => (key === "message" ? message : bound(of, key)) }), action);
      }
    }
    const [said] = await saidBy(new Wrapping());
    expect([said?.causeBy, said?.metadata, said?.parents]).toEqual(["DoIt", { wrapped: true }, ["m1"]]);
  });
});

function bound(of: RoleContext, key: string | symbol): unknown {
  const value: unknown = Reflect.get(of, key, of);
  return typeof value === "function" ? (value as (...given: unknown[]) => unknown).bind(of) : value;
}

describe("a message made elsewhere", () => {
  class Note {
    get content(): string {
      return "noted";
    }
    get causeBy(): string {
      return "Note";
    }
    get sendTo(): readonly string[] {
      return ["<none>"];
    }
    get parents(): readonly string[] {
      return [];
    }
    get role(): string {
      return "system";
    }
    get sentFrom(): string {
      return "";
    }
    get metadata(): object {
      return { page: 1 };
    }
    get instructContent(): object {
      return { page: 2 };
    }
  }

  it("Outbox.O2 keeps its recipients and data where they are members of its class", async () => {
    const [said] = await saidBy(defineRole({ name: "Ann", react: () => new Note() as unknown as Message }));
    expect(said).toEqual({
      id: expect.any(String) as string,
      content: "noted",
      role: "system",
      causeBy: "Note",
      sentFrom: "Ann",
      sendTo: ["<none>"],
      parents: ["m1"],
      timestamp: expect.any(Number) as number,
      metadata: { page: 1 },
      instructContent: { page: 2 },
    });
  });
});
