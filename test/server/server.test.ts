import { describe, expect, it } from "vitest";
import type { RunEvent } from "../../src/index.ts";
import { askers, served, shouters } from "./served-team.ts";

async function all(events: AsyncIterable<RunEvent>): Promise<readonly RunEvent[]> {
  const list: RunEvent[] = [];
  for await (const event of events) list.push(event);
  return list;
}

describe("a server of runs", () => {
  it("starts a run, lists it, and tells its events", async () => {
    const { server, client } = served({ team: shouters() });
    const { id, idea } = await client.start({ idea: "hello" });
    const events = await all(client.events(id));
    expect(idea).toBe("hello");
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, place) => place));
    expect(events.at(-1)).toMatchObject({ type: "run.ended", status: "finished" });
    expect((await client.list()).runs).toMatchObject([{ id, status: "finished", roles: ["Sam"], team: "shouters", events: events.length }]);
    await server.close();
  });

  it("takes a message into a run at rest, which reads it when it is resumed", async () => {
    const { server, client } = served({ team: shouters() });
    const { id } = await client.start({ idea: "one" });
    await all(client.events(id));
    expect(await client.publish(id, "two")).toMatchObject({ recipients: ["Sam"], waits: true });
    await client.resume(id);
    const said = (await all(client.events(id))).flatMap((event) => (event.type === "act.ended" ? event.said : []));
    expect(said.map(({ message }) => message.content)).toEqual(["ONE", "TWO"]);
    await server.close();
  });

  it("answers a question once", async () => {
    const { server, client } = served({ team: askers() });
    const { id } = await client.start({ idea: "love" });
    await all(client.events(id));
    const { status, questions = [] } = await client.read(id);
    expect([status, questions[0]?.text]).toEqual(["waiting", "What is love?"]);
    const question = questions[0]?.id ?? "";
    const tabs = await Promise.allSettled([client.answer(id, question, "warm"), client.answer(id, question, "cold")]);
    expect(tabs.map((tab) => tab.status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(tabs.find((tab) => tab.status === "rejected")?.reason).toMatchObject({ code: "QUESTION_ANSWERED" });
    const events = await all(client.events(id));
    expect(events.at(-1)).toMatchObject({ type: "run.ended", status: "finished" });
    await server.close();
  });
});
