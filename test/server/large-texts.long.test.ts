// @module-tag fleet
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sqlite } from "../../src/adapters/sqlite.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { createClient } from "../../src/client/index.ts";
import { defineAction, defineRole, importRun, memoryJournal, Team } from "../../src/index.ts";
import { freshFolder } from "../cli/kept-run.ts";
import { all, askers, heap, serving, shouters } from "./served-team.ts";

const LONG = "x".repeat(10_000_000);
const TOKEN = "long-token-0123456789";

describe("texts of 10 MB through a server on a socket", () => {
  it("are refused with the limit in words: of the body, of a message, of the interface", async () => {
    const small = serving({ team: shouters(), token: TOKEN });
    const at = await small.listen();
    const client = createClient({ url: at.url, token: TOKEN });
    const { id } = await client.start({ idea: "short" });
    await all(client.events(id));
    const tooLong = { code: "BODY_TOO_LONG", message: expect.stringContaining("at most 1000000 bytes") as string };
    for (let turn = 0; turn < 5; turn += 1) {
      await expect(client.start({ idea: LONG })).rejects.toMatchObject(tooLong);
      await expect(client.publish(id, LONG)).rejects.toMatchObject(tooLong);
      await expect(client.answer(id, "a", LONG)).rejects.toMatchObject(tooLong);
    }
    // A body without a length is cut off where it is too long.
    const piece = new Uint8Array(65_536).fill(120);
    const body = new ReadableStream<Uint8Array>({
      async pull(sink) {
        await nextMacrotask();
        sink.enqueue(piece);
      },
    });
    const init = {
      method: "POST",
      body,
      duplex: "half",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    };
    const endless = await fetch(`${at.url}/api/runs`, init as RequestInit);
    expect(endless.status).toBe(413);
    await endless.body?.cancel();
    await small.close({ grace: 0 });

    const large = serving({ team: shouters(), token: TOKEN, bodyLimit: 40_000_000 });
    const there = await large.listen();
    const other = createClient({ url: there.url, token: TOKEN });
    await other.start({ idea: "short", id: "r" });
    await all(other.events("r"));
    await expect(other.publish("r", LONG)).rejects.toMatchObject({ code: "MESSAGE_TOO_LONG" });
    await expect(other.publish("r", LONG + LONG)).rejects.toMatchObject({ code: "BODY_INVALID" });
  });

  it("are refused as an answer; one of a megabyte is taken, watched, listed, exported and replayed", async () => {
    const journal = sqlite({ path: join(freshFolder(), "runs.db") });
    const server = serving({ team: askers(journal), token: TOKEN, bodyLimit: 40_000_000 });
    const { url } = await server.listen();
    const client = createClient({ url, token: TOKEN });
    const { id } = await client.start({ idea: "long" });
    await all(client.events(id));
    const [question] = (await client.read(id)).questions ?? [];
    const said = LONG.slice(0, 999_980);
    await expect(client.answer(id, question?.id ?? "", LONG)).rejects.toMatchObject({ code: "QUESTION_ANSWER_INVALID" });
    await client.answer(id, question?.id ?? "", said);
    const watched = await Promise.all(Array.from({ length: 4 }, () => all(client.events(id))));
    for (const events of watched) {
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, place) => place));
      expect(events.at(-1)).toMatchObject({ type: "run.ended", status: "finished" });
      expect(events.findLast((event) => event.type === "act.ended")?.said[0]?.message.content).toBe(`You said ${said}.`);
    }
    expect(JSON.stringify(await client.list()).length).toBeLessThan(5_000);
    const copy = memoryJournal();
    await importRun(copy, (await client.export(id)).split("\n"));
    expect(await client.replay(id)).toMatchObject({ equal: true });
    await server.close();
    await journal.close();
  });

  it("of a role are watched by 20 clients at once for the price of one", async () => {
    const Write = defineAction({ name: "Write", run: (ctx) => `${LONG}${ctx.text}` });
    const role = defineRole({ name: "Wanda", actions: [Write] });
    const server = serving({ team: new Team({ roles: [role], journal: memoryJournal(), messageLimit: 20_000_000 }), token: TOKEN });
    const { url } = await server.listen();
    const client = createClient({ url, token: TOKEN });
    const { id } = await client.start({ idea: " the end" });
    const before = heap();
    const lengths = await Promise.all(
      Array.from({ length: 20 }, async () => {
        let length = 0;
        for await (const event of client.events(id)) if (event.type === "act.ended") length += event.said[0]?.message.content.length ?? 0;
        return length;
      }),
    );
    expect(new Set(lengths)).toEqual(new Set([LONG.length + 8]));
    expect(heap() - before).toBeLessThan(60);
    const copy = memoryJournal();
    await importRun(copy, (await client.export(id)).split("\n"));
    const copied = [];
    for await (const event of copy.read(id, 0)) copied.push(event);
    expect(copied).toEqual(await all(client.events(id)));
  });
});
