// Waits that take days: for a payment, and for a date. No process holds the run meanwhile.
import { defineAction, defineRole, memoryJournal, Team, TimeoutError } from "troupe";
import { simulatedClock } from "troupe/testing";
import { z } from "zod";

// #region team
const HOUR = 3_600_000;
const Payment = z.object({ amount: z.number().positive() });

const Sell = defineAction({
  name: "Sell",
  run: async ({ text, waitFor, sleep }) => {
    try {
      const { amount } = await waitFor("paid", { schema: Payment, timeout: 72 * HOUR });
      await sleep(24 * HOUR); // milliseconds, a Date, or an ISO time with a zone
      return `${text}: paid ${amount}, shipped`;
    } catch (error) {
      if (error instanceof TimeoutError) return `${text}: canceled (${error.code})`;
      throw error;
    }
  },
});

const clock = simulatedClock(); // days pass at once; leave it out in a program
const journal = memoryJournal(); // sqlite({ path }) from troupe/sqlite keeps the run on disk while it waits
const team = new Team({ roles: [defineRole({ name: "Sally", actions: [Sell] })], journal, clock });
// #endregion

// #region signal
const { status, questions } = await team.run("a teapot", { id: "order-1" }).result;
console.log(status, questions[0]?.wait); // waiting paid

// The handler of a web hook, days later and in any process. The shop's own id makes it safe to repeat.
const run = await team.signal("order-1", "paid", { amount: 12 }, { id: "payment-77" });
const paid = await run?.result;
console.log(paid?.status, paid?.questions[0]?.deadline === clock.now() + 24 * HOUR); // waiting true
// #endregion

// #region time
await clock.advance(24 * HOUR);
const shipped = await team.resume("order-1").result; // a server or a worker of a fleet does this by itself
console.log(shipped.output?.content); // a teapot: paid 12, shipped
// #endregion

// #region here
const second = team.run("a cup", { wait: true }); // stays in this process until nothing is left to do
await second.started;
await clock.advance(72 * HOUR);
console.log((await second.result).output?.content); // a cup: canceled (WAIT_TIMEOUT)
// #endregion
