// An airline desk: a desk hands the passenger to a colleague for questions or for seats, and gets the passenger back.
import { defineRole, defineTool, handoff, openai, Team } from "troupe";
import { openaiStub } from "troupe/testing";
import { z } from "zod";

// #region given
const call = (name: string, args: object) => ({ text: "", toolCalls: [{ name, arguments: JSON.stringify(args) }] });
const server = await openaiStub({
  replies: [
    call("transfer_to_Questions", { reason: "a question on bags" }),
    call("faq", { question: "How many bags may I take?" }),
    "One bag of 23 kg.",
    call("transfer_to_Desk", { reason: "a change of seats" }),
    call("transfer_to_Seats", { reason: "a change of seats" }),
    call("update_seat", { booking: "LL0EZ6", seat: "12A" }),
    "You sit on 12A.",
  ],
});
process.env["OPENAI_BASE_URL"] = server.url;
// #endregion

// #region program
const faq = defineTool({
  name: "faq",
  description: "Answers questions on bags and wifi.",
  parameters: z.object({ question: z.string() }),
  execute: ({ question }) => (question.includes("bag") ? "One bag of 23 kg." : "Wifi is free."),
});
const updateSeat = defineTool({
  name: "update_seat",
  description: "Changes the seat of a booking.",
  parameters: z.object({ booking: z.string(), seat: z.string() }),
  execute: ({ booking, seat }) => `Seat of ${booking} is now ${seat}.`,
});
const questions = defineRole({ name: "Questions", goal: "answer questions", tools: [faq, handoff("Desk")], watch: [] });
const seats = defineRole({ name: "Seats", goal: "change seats", tools: [updateSeat, handoff("Desk")], watch: [] });
const desk = defineRole({ name: "Desk", goal: "hand each passenger to the right colleague", tools: [handoff(questions), handoff(seats)] });

const team = new Team({ roles: [desk, questions, seats], model: openai({ model: "gpt-5-mini" }) });
const chat = team.conversation("passenger-1");
for (const text of ["How many bags may I take?", "Booking LL0EZ6: I want seat 12A."]) {
  const reply = (await chat.say(text)).messages.at(-1);
  console.log(`${reply?.sentFrom}: ${reply?.content}`);
}
// #endregion

await server.close();
