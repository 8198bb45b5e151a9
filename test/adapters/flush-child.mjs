// One process that adds 99 messages to a long-term memory and is told to end in the same turn of the event loop, when none is stored.
// Arguments: the path of the store, the signal, and who else listens: nobody (plain); the program itself (own), but once (once); another
// flush, which is done before this one has added anything (two); nobody, while the flush never ends and the signal comes again (twice).
// Built code is what it runs, as a user's does.
import { createMessage, LongTermMemory, MemoryStorage } from "../../dist/src/index.js";
import { flushOnSignals, sqliteStore } from "../../dist/src/adapters/sqlite.js";

const [path, signal, mode] = process.argv.slice(2);
const memory = new LongTermMemory({ storage: new MemoryStorage({ roleId: "r", store: sqliteStore({ path }) }) });
/** Goes on for longer than it takes to store everything: until that is done, and many turns of the event loop more. */
const busy = async () => {
  await memory.persist();
  for (let turn = 0; turn < 1_000; turn++) await new Promise((resolve) => setImmediate(resolve));
};
const end = () => void memory.persist().then(() => process.exit(7));
const slowEnd = () => void busy().then(end);
if (mode === "own") process.on(signal, end);
if (mode === "once") process.once(signal, slowEnd);
const add = () => {
  for (let n = 0; n < 99; n++) memory.add(createMessage(`message ${n}`, { id: `m${n}` }));
};
const slow = {
  persist: () =>
    busy()
      .then(add)
      .then(() => memory.persist()),
};
const stuck = { persist: () => new Promise(() => process.kill(process.pid, signal)) };
flushOnSignals(mode === "twice" ? stuck : mode === "two" ? slow : memory);
if (mode === "two") flushOnSignals({ persist: () => Promise.resolve() });
await memory.recover();
if (mode !== "two") add();
process.kill(process.pid, signal);
setInterval(() => {}, 1_000);
