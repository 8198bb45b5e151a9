// A code-review crew: one role writes code, one tests it, one reviews both with a verdict that has a schema.
import { defineAction, defineRole, openai, Team } from "troupe";
import { openaiStub } from "troupe/testing";
import { z } from "zod";

// #region given
const server = await openaiStub({
  replies: ["const add = (a, b) => a + b;", "expect(add(1, 2)).toBe(3);", '{"approved":true,"comment":"Short and tested."}'],
});
process.env["OPENAI_BASE_URL"] = server.url;
// #endregion

// #region program
const Verdict = z.object({ approved: z.boolean(), comment: z.string() });
const Code = defineAction({ name: "Code", prompt: ({ text }) => `Write a function: ${text}` });
const Test = defineAction({ name: "Test", needs: [Code], prompt: ({ text }) => `Write tests for:\n${text}` });
const Review = defineAction({ name: "Review", needs: [Code, Test], output: Verdict, prompt: ({ text }) => `Review:\n${text}` });
const alice = defineRole({ name: "Alice", actions: [Code] });
const bob = defineRole({ name: "Bob", actions: [Test] });
const charlie = defineRole({ name: "Charlie", actions: [Review] });
const run = new Team({ roles: [alice, bob, charlie], model: openai({ model: "gpt-5-mini" }) }).run("add two numbers");
console.log((await run.outputOf(Review)).comment);
// #endregion

await server.close();
