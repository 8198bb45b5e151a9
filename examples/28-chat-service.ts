// A chat with a team over HTTP: a conversation is a run, and each turn is a message into it. A server that stops loses no conversation.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAction, defineRole, Team, UserFeedback, UserRequirement } from "troupe";
import { createClient } from "troupe/client";
import { createServer, jsonLogger } from "troupe/server";
import { sqlite } from "troupe/sqlite";
import { scriptedModel } from "troupe/testing";

// #region team
const folder = mkdtempSync(join(tmpdir(), "troupe-"));
const Cook = defineAction({ name: "Cook", prompt: (ctx) => `Suggest a dish to a guest who says: ${ctx.text}` });
const Pour = defineAction({ name: "Pour", prompt: (ctx) => `Name a drink that goes with: ${ctx.text}` });
const says = [UserRequirement, UserFeedback]; // the first words of a conversation, and those that come later
const roles = [
  defineRole({ name: "Chef", reactions: says.map((on) => ({ on, do: Cook })) }),
  defineRole({ name: "Barkeeper", watch: [Cook], actions: [Pour] }),
];
const menu = { fish: "Trout with almonds.", Trout: "A dry Riesling.", meat: "Lentils with leeks.", Lentils: "A light red wine." };
const model = scriptedModel(({ messages }) => {
  const question = messages.at(-1)?.content ?? "";
  return Object.entries(menu).find(([word]) => question.includes(word))?.[1] ?? "I did not understand.";
});
// #endregion

// #region service
async function startService() {
  const { PORT = "0", HOST = "127.0.0.1", NAME = "localhost", TOKEN = "only-for-this-example" } = process.env;
  const journal = sqlite({ path: join(process.env["STATE_DIRECTORY"] ?? folder, "runs.db") });
  const logger = jsonLogger({ level: "warn", secrets: [TOKEN] });
  const team = new Team({ name: "kitchen", roles, model, journal, logger });
  const server = createServer({ team, token: TOKEN, hosts: [NAME], logger });
  const { url } = await server.listen({ port: Number(PORT), hostname: HOST });
  const stop = async (): Promise<void> => {
    await server.close(); // runs under way stop, and go on at the next start
    await journal.close();
  };
  process.once("SIGTERM", () => void stop());
  return { client: createClient({ url, token: TOKEN }), stop };
}
// #endregion

// #region chat
const first = await startService();
const { messages, status, question, error } = await first.client.say("table-4", "Something with fish, please.");
for (const { sentFrom, content } of messages) console.log(`${sentFrom}: ${content}`);
if (status !== "finished") console.log(status, question?.text ?? error?.message);
await first.stop();
const second = await startService(); // another process, days later
const later = await second.client.say("table-4", "No, without meat.");
for (const { sentFrom, content } of later.messages) console.log(`${sentFrom}: ${content}`);
// #endregion

console.log((await second.client.read("table-4")).calls, "calls"); // 4 calls
console.log("replayed alike:", (await second.client.replay("table-4")).equal); // replayed alike: true
await second.stop();
process.removeAllListeners("SIGTERM");
rmSync(folder, { recursive: true });
