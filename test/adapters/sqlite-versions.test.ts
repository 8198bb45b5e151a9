import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { Message } from "../../src/message/message.ts";
import { fold } from "../../src/runtime/record/apply.ts";
import { EVENT_VERSION, type RunEvent } from "../../src/runtime/record/event.ts";
import { exportRun } from "../../src/runtime/record/transfer.ts";
import { JOURNAL } from "../../src/adapters/sqlite-file.ts";
import { connection, journalAt, meddle, newFile, readOut } from "./sqlite-setup.ts";

/** What a program of version 1 has written, with real runs in it. */
const VERSION_1 = readFileSync(fileURLToPath(new URL("./journal-version-1.sql", import.meta.url)), "utf8");
/** The ends of the exports that program made of them. */
const EXPORTED = {
  passed: { events: 12, sha256: "4c2cdebfeee4bd6c316bbb06696a2a488e7be4f1abdeb3f0ac84a1efc213cdbb" },
  asked: { events: 12, sha256: "ef46a569928a67c4dbd737a9c774ea23a115a3b8b93ec14c11ed044618abb7b8" },
};
const RUNS = ["passed", "asked"] as const;

async function olderFile(): Promise<string> {
  const file = newFile();
  const db = await connection(file);
  db.exec(VERSION_1);
  db.close();
  return file;
}

async function bodiesIn(file: string): Promise<string[]> {
  const db = await connection(file);
  const bodies = db.all("SELECT CAST(body AS BLOB) FROM events ORDER BY place").map(([body]) => String(body));
  db.close();
  return bodies;
}

/** What happens next in a run that failed: a role that has tried once tries again, and does it. */
function goingOn(): RunEvent[] {
  const at = 1_795_287_400_000;
  const envelope = (seq: number) => ({ v: EVENT_VERSION, runId: "asked", seq, time: at + seq }) as const;
  const message: Message = {
    ...{ id: "Thinker#1.0", content: "at last", role: "assistant" as const, causeBy: "Think", sentFrom: "Thinker", sendTo: ["<self>"] },
    ...{ parents: ["Thinker#0.0"], timestamp: at, metadata: {} },
  };
  return [
    { ...envelope(12), type: "run.resumed", uncertain: [] },
    {
      ...{ ...envelope(13), type: "act.ended", act: "Thinker#1~2", role: "Thinker", round: 0, take: 1, at },
      ...{ said: [{ message, to: ["Thinker"] }], memory: [["+", "Thinker#1.0"]], working: [] },
    },
    { ...envelope(14), type: "run.ended", status: "rounds" },
  ];
}

describe("a file of version 1", () => {
  it.each(RUNS)("gives the events of run %s as the program that wrote them did", async (runId) => {
    const journal = journalAt(await olderFile());
    let end = "";
    for await (const line of exportRun(journal, runId)) end = line;
    expect(JSON.parse(end)).toEqual({ troupe: "end", ...EXPORTED[runId] });
    const { events } = await readOut(journal, runId);
    expect((await readOut(journal, runId, 5)).events).toEqual(events.slice(5));
  });

  it("goes on in the same run, with events of both forms one behind the other", async () => {
    const file = await olderFile();
    const journal = journalAt(file);
    const before = await readOut(journal, "asked");
    const { epoch } = await journal.claim("asked");
    await journal.append("asked", epoch, 12, goingOn());
    const forms = (await bodiesIn(file)).map((body) => body[0]);
    expect(forms.filter((form) => form === "[").length).toBe(1);
    expect(forms.filter((form) => form === "{").length).toBe(26);
    const after = await readOut(journalAt(file), "asked");
    expect(after).toEqual({ events: [...before.events, ...goingOn()], error: undefined });
    expect((await readOut(journal, "asked", 13)).events).toEqual(goingOn().slice(1));
    expect(fold(after.events)).toMatchObject({ seq: 15, phase: { phase: "ended", status: "rounds" } });
  });

  it("is one of the newest version from then on, which a program of version 1 does not read", async () => {
    const file = await olderFile();
    await journalAt(file).runs();
    const db = await connection(file);
    expect(db.first("PRAGMA user_version")).toEqual([JOURNAL.steps.length]);
    db.close();
  });

  it("that is damaged is told to be, as far as it is whole", async () => {
    const file = await olderFile();
    await meddle(file, "UPDATE events SET body = replace(body, 'answer 1', 'answer 2') WHERE body LIKE '%step.ended%'");
    expect(await readOut(journalAt(file), "asked")).toMatchObject({ error: { code: "JOURNAL_DAMAGED", data: { intact: 4 } } });
  });
});
