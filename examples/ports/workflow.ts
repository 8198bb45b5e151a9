// A workflow with suspend: a draft is written, the run waits for a reviewer, and another process continues it.
import { defineAction, defineRole, openai, Team } from "troupe";
import { openaiStub } from "troupe/testing";

// #region given
const server = await openaiStub({ replies: ["The sea is wide."] });
process.env["OPENAI_BASE_URL"] = server.url;
// #endregion

// #region program
const Publish = defineAction("Publish", async ({ text, ask, waitFor }) => {
  const draft = await ask(`Write a line about ${text}.`);
  const answer = await waitFor("review");
  return answer === "yes" ? `Published: ${draft}` : "Rejected.";
});
const team = new Team({ roles: [defineRole({ name: "Wim", actions: [Publish] })], model: openai({ model: "gpt-5-mini" }) });
console.log((await team.run("the sea", { id: "line-1" }).result).status);
const run = await team.signal("line-1", "review", "yes");
console.log((await run?.result)?.output?.content);
// #endregion

await server.close();
