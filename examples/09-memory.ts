// Memory for talks of every length: one turn, a few, many, several runs, a library, and very long texts.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BrainMemory, createMessage, defineAction, defineRole, JournalError, LongTermMemory, Memory, MemoryStorage, Team } from "troupe";
import { ShardedStorage } from "troupe/memory";
import { sqliteStore } from "troupe/sqlite";
import { scriptedModel } from "troupe/testing";

// #region setup
const folder = mkdtempSync(join(tmpdir(), "troupe-"));

/** Answers with the number of lines it was shown in each part of its memory. */
const model = scriptedModel(({ messages }) => {
  if (messages[0]?.content?.startsWith("You write the memory") === true) return "They talk about a bridge; nothing is decided.";
  const memory = messages.length === 3 ? (messages[1]?.content ?? "") : "";
  const parts = memory.split("\n\n").slice(1);
  return parts.length === 0 ? "nothing" : parts.map((part) => `${part.split(" ")[0]} ${part.split("\n").length - 1}`).join(", ");
});
const Answer = defineAction({ name: "Answer", prompt: (ctx) => ctx.text });
// #endregion

// #region single-turn
const clerk = defineRole({ name: "Clerk", actions: [Answer] });
const single = await new Team({ model, roles: [clerk] }).run("What is a bridge?").result;
console.log("one turn:", single.output?.content); // one turn: nothing
// #endregion

// #region few-turns
const notes = new Memory();
notes.add(createMessage("A bridge needs two banks.", { sentFrom: "Ada" }));
notes.add(createMessage("And a river.", { sentFrom: "Ben" }));
console.log("a few turns:", notes.getByContent("river").length, "of", notes.size); // a few turns: 1 of 2
// #endregion

// #region long-talk
/** Talks to itself until the rounds are over. */
const Chat = defineAction({ name: "Chat", prompt: (ctx) => ctx.text, sendTo: () => ["<self>"] });

const talker = defineRole({ name: "Talker", actions: [Chat], memory: { summary: true, recall: { maxTokens: 300 } } });
const talk = await new Team({ model, roles: [talker] }).run("Let us talk about a bridge.", { rounds: 40 }).result;
console.log("40 turns:", talk.messages.at(-1)?.content); // 40 turns: Summary 2, Related 4, Said 8
// #endregion

// #region brain
const brain = new BrainMemory({ model, maxMessages: 10 });
for (let n = 1; n <= 25; n++) brain.addTalk(createMessage(`Thought ${n} about the bridge.`));
await brain.compress();
console.log("in your own code:", brain.history.length, "left;", brain.summary.split("\n")[0]); // in your own code: 5 left; They talk about a bridge; nothing is decided.
// #endregion

// #region cross-session
const store = sqliteStore({ path: join(folder, "memory.db") });
const guide = defineRole({ name: "Guide", actions: [Answer], memory: { store } });
await new Team({ model, roles: [guide] }).run("The ferry leaves at nine.").result;
// Days later, in another process:
const later = await new Team({ model, roles: [guide] }).run("When does the ferry leave?").result;
console.log("another run:", later.output?.content); // another run: Related 2
// #endregion

// #region knowledge
const library = new MemoryStorage({ roleId: "Librarian", store });
const pages = ["The old bridge is of stone.", "The new bridge is of steel.", "The ferry is of wood."];
await library.addBatch(pages.map((page, n) => createMessage(page, { id: `page ${n}`, sentFrom: "handbook" })));
const memory = { store, summary: true, recall: { k: 2, shares: { summary: 0.1, recent: 0.2, related: 0.7 } } };
const librarian = defineRole({ name: "Librarian", actions: [Answer], memory });
const answer = await new Team({ model, roles: [librarian] }).run("What is the new bridge made of?").result;
console.log("a library:", answer.output?.content); // a library: Related 3
// #endregion

// #region search
const mine = new LongTermMemory({ storage: new MemoryStorage({ roleId: "Librarian", store, runId: "today" }), limit: 100 });
mine.add(createMessage("Somebody asked for the new bridge again."));
for (const { message, score } of await mine.search("new bridge", { k: 1 })) console.log(score?.toFixed(2) ?? "at hand:", message.content);
await mine.close();
// #endregion

// #region very-long
const shards = ["a", "b", "c"].map((name) => new MemoryStorage({ roleId: "r", store: sqliteStore({ path: join(folder, `${name}.db`) }) }));
const sharded = new ShardedStorage({ shards });
await sharded.addBatch(Array.from({ length: 300 }, (_, n) => createMessage(`Report ${n} on the bridge over stream ${n}.`)));
const [best] = await sharded.searchSimilar("report on stream 217", { k: 1 });
console.log("300 messages:", best?.message.content); // 300 messages: Report 217 on the bridge over stream 217.
const windows = BrainMemory.splitTexts("A long report. ".repeat(1_000), 4_000);
console.log("a long text:", windows.length, "windows"); // a long text: 4 windows
await sharded.close();
// #endregion

// #region scopes
const desk = new Team({ model, roles: [guide] });
await desk.run("My code is 4711.", { id: "talk 1", scope: { user: "ann" } }).result;
await desk.run("What is my code?", { scope: { user: "ben" } }).result; // Is shown nothing that ann has said.
// #endregion

// #region forget
const { runs, messages } = await desk.forget({ user: "ann" });
export const forgotten = `${runs} run, ${messages} messages`; // 1 run, 2 messages
const { error } = await desk.resume("talk 1", { add: ["What is my code?"] }).result;
export const refusal = error instanceof JournalError ? error.code : undefined; // TEXT_ERASED
// #endregion

await store.close();
rmSync(folder, { recursive: true });
