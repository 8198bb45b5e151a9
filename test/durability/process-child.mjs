// One process of a run of Scrum with simulated people, which is killed again and again. Its one argument is JSON: { store, killAt? }. It prints the
// status of the run. Built code is what it runs, as a user's program does.
import { Team } from "../../dist/src/index.js";
import { sqlite } from "../../dist/src/adapters/sqlite.js";
import { openCrew, readCrew, simulatedPeople } from "../../dist/roles/index.js";
import { memoryWorkspace, refusedSandbox } from "../../dist/src/workspace/index.js";
import { mortal } from "./mortal-journal.mjs";

const { store, killAt } = JSON.parse(process.argv[2]);
const journal = killAt === undefined ? sqlite({ path: store }) : mortal(sqlite({ path: store }), killAt);
const crew = await readCrew("process: scrum");
const people = { "*": { skill: 0.8, errors: 0.6 } };
const { model, edges } = simulatedPeople(crew, { seed: 1, items: 12, people });
const { name, roles } = openCrew(crew, { workspace: memoryWorkspace(), sandbox: refusedSandbox("nothing runs here", "Choose a sandbox.") });
const team = new Team({ name, roles, model, edges, journal, seed: 1, poisonAfter: 10_000 });
const { status } = await team.run("a shop", { id: "r", rounds: 20_000 }).result;
await journal.close();
process.stdout.write(`${JSON.stringify({ status })}\n`);
