// One process of a conversation with a run, which is killed again and again. Its one argument is JSON: { store, scheduler, killAt? }. It says
// everything from the start, as a caller that got no receipt does. It prints what came of the run as one line of JSON. Built code is what it
// runs, as a user's program does.
import { canonical, createMessage, defineRole, Team } from "../../dist/src/index.js";
import { sqlite } from "../../dist/src/adapters/sqlite.js";
import { mortal } from "./mortal-journal.mjs";

const { store, scheduler, killAt } = JSON.parse(process.argv[2]);
let run;
const wish = (name) => createMessage(`wish ${name}`, { id: name, timestamp: 7 });

/** Tells the run something while it works on the idea, and notes down everything it hears. */
const ann = defineRole({
  name: "Ann",
  react: async (rc) => {
    for (const { content } of rc.news) {
      const note = await rc.step("note", { content }, async () => `noted ${content}`);
      if (content === "idea") await rc.step("tell", {}, () => run.publish(wish("aside")).then(() => null));
      rc.publish(rc.message(note));
    }
  },
});
const ben = defineRole({ name: "Ben", watch: [ann], react: (rc) => rc.news.map(({ content }) => rc.message(`Ben heard ${content}`)) });

const journal = killAt === undefined ? sqlite({ path: store }) : mortal(sqlite({ path: store }), killAt);
// Nobody is to blame for these deaths, however often they come.
const team = new Team({ seed: "kills", scheduler, journal, roles: [ann, ben], poisonAfter: 1_000 });
run = team.run("idea", { id: "r" });
let result = await run.result;
for (const name of ["one", "two", "three"]) {
  await team.send("r", wish(name));
  run = team.resume("r");
  result = await run.result;
}

const events = [];
for await (const event of journal.read("r", 0)) events.push(event);
await journal.close();
const { status, error } = result;
const heard = events.flatMap((event) => (event.type === "message" ? [event.message.id] : []));
const said = result.outputs.map(({ content }) => content);
process.stdout.write(`${JSON.stringify({ status, error: error?.message, heard, said, canonical: canonical(events) })}\n`);
