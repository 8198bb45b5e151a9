import { describe, expect, test } from "vitest";
import type { Message } from "../../src/message/message.ts";
import { Announcer, type AnnouncerParts, ObserverRegistry } from "../../src/runtime/observers.ts";
import { answering, contents, listener, remembered, town } from "./town.ts";

describe("listeners", () => {
  test("ObserverRegistry.O1 hear every event and notice of their type, in order, until they leave", async () => {
    const environment = town([answering("Ann", (rc) => rc.message("x", { sendTo: "Bob" })), listener("Bob", { watch: [] })]);
    const heard: string[] = [];
    environment.on("role.active", ({ role, news }) => heard.push(`${role} active on ${news}`));
    environment.on("role.idle", ({ role }) => heard.push(`${role} idle`));
    const leave = environment.on("act.ended", ({ act }) => heard.push(act));
    environment.publishMessage("go");
    await environment.run();
    leave();
    environment.publishMessage("go");
    await environment.run();
    expect(heard.slice(0, 6)).toEqual(["Ann active on 1", "Ann#0~1", "Ann idle", "Bob active on 1", "Bob#0~1", "Bob idle"]);
    expect(heard.slice(6)).toEqual(["Ann active on 1", "Ann idle", "Bob active on 1", "Bob idle"]);
  });

  test("Announcer.A3 no notice is made of a type that nobody listens to", () => {
    const observers = new ObserverRegistry();
    const parts: Pick<AnnouncerParts, "observers"> = { observers };
    const announcer = new Announcer(parts as AnnouncerParts);
    expect(announcer.telling("warning")).toBeUndefined();
    const leave = observers.on("warning", () => {});
    expect(announcer.telling("warning")).toBe(announcer.tell);
    leave();
    expect(announcer.telling("warning")).toBeUndefined();
  });

  test("Announcer.A1 one that throws, or rejects, is logged and costs nobody anything, other listeners neither", async () => {
    const logged: string[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error: (text: string) => void logged.push(text) };
    const environment = town([listener("Ann")], { logger });
    let heard = 0;
    environment.on("act.ended", () => {
      throw new Error("bad listener");
    });
    environment.on("act.ended", () => Promise.reject(new Error("worse listener")) as unknown as void);
    environment.on("act.ended", () => void (heard += 1));
    environment.publishMessage("go");
    expect((await environment.run()).status).toBe("finished");
    expect(heard).toBe(1);
    expect(remembered(environment, "Ann")).toEqual(["go"]);
    expect(logged.join()).toContain("bad listener");
    expect(logged.join()).toContain("worse listener");
  });

  test("Announcer.A2 what they are given cannot be changed, and so neither can the run", async () => {
    const ann = answering("Ann", (rc) => {
      rc.state["list"] = [1];
      rc.memory.add(rc.message("noted"));
      return rc.message("said", { instructContent: { a: [1] } });
    });
    const environment = town([ann]);
    const refused: unknown[] = [];
    environment.on("act.ended", (event) => {
      const tries = [
        () => (event.said as unknown[]).pop(),
        () => (event.state as unknown as { set: { list: number[] } }).set.list.push(2),
        () => ((event.said[0] as unknown as { message: { content: string } }).message.content = "twisted"),
      ];
      for (const attempt of tries) {
        try {
          attempt();
        } catch (error) {
          refused.push(error);
        }
      }
    });
    environment.publishMessage("go");
    const result = await environment.run();
    expect(refused).toHaveLength(3);
    expect(contents(result.outputs)).toEqual(["said"]);
    expect(environment.getRole("Ann")?.state).toEqual({ list: [1] });
  });
});

describe("messages from outside", () => {
  test("is checked: what is no message is refused, and the run is as it was", () => {
    const environment = town([listener("Ann")]);
    const before = JSON.stringify(environment.toJSON());
    for (const wrong of [{}, { content: 5 }, null, 42, { content: "x", sendTo: [7] }]) {
      expect(() => environment.publishMessage(wrong as unknown as Message)).toThrow(expect.objectContaining({ code: "MESSAGE_INVALID" }));
    }
    expect(JSON.stringify(environment.toJSON())).toBe(before);
  });
});
