// Images: a model is shown a picture from a file, and says what is on it.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { defineAction, defineRole, openai, Team } from "troupe";
import { openaiStub } from "troupe/testing";

// #region given
const server = await openaiStub({
  handler: ({ messages }) => (JSON.stringify(messages).includes("data:image/png;base64,") ? "A dot." : "I see no picture."),
});
process.env["OPENAI_BASE_URL"] = server.url;
const path = `/tmp/troupe-dot-${process.pid}.png`;
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
writeFileSync(path, dot, "base64");
// #endregion

// #region program
const images = [{ mediaType: "image/png", data: readFileSync(path, "base64") }];
const Look = defineAction({ name: "Look", run: ({ text, ask }) => ask(text, { images }) });
const team = new Team({ roles: [defineRole({ name: "Vera", actions: [Look] })], model: openai({ model: "gpt-5-mini" }) });
console.log((await team.run("What is in this picture?").result).output?.content);
// #endregion

rmSync(path);
await server.close();
