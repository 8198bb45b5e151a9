// A chat over restarts: each process says one thing, and the next process knows it. Here one process says both.
import { rmSync } from "node:fs";
import { Agent, openai } from "troupe";
import { sqlite } from "troupe/sqlite";
import { openaiStub } from "troupe/testing";

// #region given
const server = await openaiStub({
  handler: ({ messages }) => (JSON.stringify(messages).includes("My name is Ann") && messages.length > 2 ? "You are Ann." : "Hello, Ann."),
});
process.env["OPENAI_BASE_URL"] = server.url;
const path = `/tmp/troupe-chat-${process.pid}.db`;
// #endregion

// #region program
async function say(text: string) {
  const agent = new Agent({ name: "host", systemPrompt: "You are a friendly host.", model: openai({ model: "gpt-5-mini" }) });
  const chat = await agent.conversation("ann", { journal: sqlite({ path }) });
  console.log((await chat.say(text)).messages.at(-1)?.content);
}
await say("My name is Ann.");
await say("Who am I?");
// #endregion

rmSync(path);
await server.close();
