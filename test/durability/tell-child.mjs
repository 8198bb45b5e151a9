// One process of a run that waits until it is told something, and is killed meanwhile. Its one argument is JSON: { store, killAt? }. It prints
// what its role heard as one line of JSON. Built code is what it runs, as a user's program does.
import { defineRole, Team } from "../../dist/src/index.js";
import { sqlite } from "../../dist/src/adapters/sqlite.js";
import { mortal } from "./mortal-journal.mjs";

const { store, killAt } = JSON.parse(process.argv[2]);
const journal = killAt === undefined ? sqlite({ path: store }) : mortal(sqlite({ path: store }), killAt);

const isWish = ({ type, message }) => type === "message" && message.id === "wish";
let hear;
const isTold = new Promise((resolve) => (hear = resolve));
if ((await journal.runs()).length > 0) for await (const event of journal.read("r", 0)) if (isWish(event)) hear();

const ann = defineRole({
  name: "Ann",
  react: async (rc) => {
    const heard = rc.news.map(({ content }) => content);
    if (heard.includes("idea")) await isTold;
    return rc.message(`heard ${heard.join(", ")}`);
  },
});
const run = new Team({ journal, roles: [ann], poisonAfter: 1_000 }).run("idea", { id: "r" });
run.on("message", (event) => isWish(event) && hear());
// Something to wait for while the role waits.
const alive = setInterval(() => {}, 60_000);
const { status, messages } = await run.result;
clearInterval(alive);
await journal.close();
const heard = messages.flatMap(({ sentFrom, content }) => (sentFrom === "Ann" ? [content] : []));
process.stdout.write(`${JSON.stringify({ status, heard })}\n`);
