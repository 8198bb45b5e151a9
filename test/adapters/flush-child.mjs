// One process that adds 99 messages to a long-term memory and is told to end in the same turn of the event loop, when none is stored.
// Arguments: the path of the store, the signal, and whether the program listens to it itself. Built code is what it runs, as a user's does.
import { createMessage, LongTermMemory, MemoryStorage } from "../../dist/src/index.js";
import { flushOnSignals, sqliteStore } from "../../dist/src/adapters/sqlite.js";

const [path, signal, mode] = process.argv.slice(2);
const memory = new LongTermMemory({ storage: new MemoryStorage({ roleId: "r", store: sqliteStore({ path }) }) });
if (mode === "own") process.on(signal, () => void memory.persist().then(() => process.exit(7)));
flushOnSignals(memory);
await memory.recover();
for (let n = 0; n < 99; n++) memory.add(createMessage(`message ${n}`, { id: `m${n}` }));
process.kill(process.pid, signal);
setInterval(() => {}, 1_000);
