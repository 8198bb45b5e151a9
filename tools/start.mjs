// `npm start`: the command itself, or without arguments the bundled company.
const given = process.argv.slice(2);
if (given.length === 0) process.argv.push("demo");
await import("../dist/src/cli/main.js");
