// A run stops after rounds, after money, when something was said, or when your own function says so.
import { afterRounds, afterSpending, anyOf, createMessage, defineRole, Environment, saidBy, type StopCondition, Team, usd } from "troupe";
import { z } from "zod";

// #region conditions
const counter = defineRole({
  name: "Cora",
  state: z.object({ count: z.number().default(0) }),
  react: (rc) => {
    rc.state.count += 1;
    return rc.message(`count ${rc.state.count}`, { sendTo: "<self>", causeBy: rc.state.count === 5 ? "High" : "Low" });
  },
});

const team = new Team({ roles: [counter] });

const first = await team.run("count", { rounds: 3 }).result;
console.log(first.status, first.rounds); // rounds 3

const second = await team.run("count", { stopWhen: anyOf(afterRounds(50), afterSpending(usd(1)), saidBy("High")) }).result;
console.log(second.status, second.rounds, second.stoppedBy); // finished 5 saidBy("High")

const highEnough: StopCondition = ({ state }) => (state(counter)?.count ?? 0) >= 7;
const third = await team.run("count", { id: "third", stopWhen: highEnough }).result;
console.log(third.status, third.rounds, third.stoppedBy); // finished 7 highEnough
// #endregion

// #region resume
const more = await team.resume("third", { stopWhen: afterRounds(9) }).result; // null instead: no condition any more
console.log(more.status, more.rounds); // stopped 9, by a bound
// #endregion

// #region environment
const room = new Environment();
room.addRole(counter);
room.publishMessage(createMessage("count"));
console.log((await room.run({ stopWhen: ({ messages }) => messages.length > 4 })).rounds);
// #endregion

// #region signal
const run = team.run("count", { signal: AbortSignal.timeout(60_000) }); // a signal of yours stops a run too
run.stop("enough");
const { status, error } = await run.result;
console.log(status, error?.message); // stopped Stopped: enough.
// #endregion
