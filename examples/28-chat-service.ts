// A chat with a team over HTTP: a conversation is a run, and each turn is a message into it. A server that stops loses no conversation.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAction, defineRole, Team, TroupeError, UserFeedback, UserRequirement } from "troupe";
import { createClient, type RunClient } from "troupe/client";
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
/** Says something in a conversation, and gives what the team says to it. */
async function say(client: RunClient, conversation: string, text: string): Promise<string> {
  const known = await client.read(conversation).catch((error: unknown) => {
    if (TroupeError.isInstance(error) && error.code === "RUN_UNKNOWN") return undefined;
    throw error;
  });
  if (known === undefined) await client.start({ idea: text, id: conversation });
  else {
    await client.publish(conversation, text);
    await client.resume(conversation);
  }
  const replies: string[] = [];
  for await (const event of client.events(conversation, { from: known?.events ?? 0 })) {
    if (event.type === "act.ended") replies.push(...event.said.map(({ message }) => `${event.role}: ${message.content}`));
  }
  return replies.join(" ");
}
// #endregion

const first = await startService();
console.log(await say(first.client, "table-4", "Something with fish, please.")); // Chef: Trout with almonds. Barkeeper: A dry Riesling.
await first.stop();
const second = await startService(); // another process, days later
console.log(await say(second.client, "table-4", "No, without meat.")); // Chef: Lentils with leeks. Barkeeper: A light red wine.
console.log((await second.client.read("table-4")).calls, "calls"); // 4 calls
console.log("replayed alike:", (await second.client.replay("table-4")).equal); // replayed alike: true
await second.stop();
process.removeAllListeners("SIGTERM");
rmSync(folder, { recursive: true });
