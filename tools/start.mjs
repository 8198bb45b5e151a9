// `npm start`: the command itself, or without arguments the sentence everybody tries first.
const given = process.argv.slice(2);
if (given.length === 0) process.argv.push("run", "Create a 2048 game");
await import("../dist/src/cli/main.js");
