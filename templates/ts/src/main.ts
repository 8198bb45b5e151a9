import { chooseModel, newTeam } from "./team.js";

const idea = process.argv[2] ?? "the sea";
const model = chooseModel();
const run = newTeam(model).run(idea);
run.on("act.ended", ({ role, said }) => {
  for (const { message } of said) console.log(`${role}: ${message.content}`);
});
const { status, rounds, error } = await run.result;
console.log(`${status} after ${rounds} rounds, answered by ${model.id}${error === undefined ? "" : `: ${error.message}`}`);
process.exitCode = status === "finished" ? 0 : 1;
