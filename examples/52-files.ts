/** Files in messages: for models that read them, in words for others, and from roles. */
import { Agent } from "troupe/agents";
import { createMessage, defineAction, defineRole, memoryJournal, Team } from "troupe";
import { scriptedModel } from "troupe/testing";

// #region files
const report = new TextEncoder().encode("%PDF-1.7 (a report)"); // await readFile("report.pdf")
const reads = scriptedModel(["The sales rose."], { takes: ["image/*", "application/pdf"] }); // openai({ model, takes })
const Answer = defineAction({ name: "Answer", prompt: (ctx) => ctx.text });
const clerk = defineRole({ name: "Clara", actions: [Answer] });
const journal = memoryJournal();
const team = new Team({ roles: [clerk], model: reads, journal });
const question = createMessage("What does it say?", { files: [{ name: "report.pdf", data: report }] });
const { runId, output } = await team.run(question).result;
console.log(output?.content); // The sales rose.
// #endregion

// #region reference
const [file] = question.files ?? [];
console.log(file?.name, file?.type, file?.size); // report.pdf application/pdf 19
const kept = await journal.file?.(runId, file?.hash ?? "");
console.log(kept?.length); // 19
// #endregion

// #region words
const textOnly = scriptedModel((request) => request.messages.at(-1)?.content ?? "", { takes: [] });
const told = await new Agent({ name: "Ted", model: textOnly }).run("Sum it up.", { files: [{ name: "report.pdf", data: report }] }).result;
console.log(told.answer.split("\n").at(-1)); // (file report.pdf, application/pdf, 19 bytes: this model cannot read it)
// #endregion

// #region send
const Tabulate = defineAction({
  name: "Tabulate",
  async run(ctx) {
    const [given] = ctx.news[0]?.files ?? [];
    const bytes = given === undefined ? new Uint8Array() : await ctx.file(given);
    const table = new TextEncoder().encode(`name,bytes\n${given?.name},${bytes.length}\n`);
    return ctx.message("Here is the table.", { files: [{ name: "table.csv", data: table }] });
  },
});
const chat = new Team({ roles: [defineRole({ name: "Tom", actions: [Tabulate] })] }).conversation("table");
const { messages } = await chat.say("Make a table.", { files: [{ name: "report.pdf", data: report }] });
console.log(messages.at(-1)?.files?.[0]?.name); // table.csv
// #endregion
