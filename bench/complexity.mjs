// Measures how the cost of an operation grows with the amount held: nanoseconds per operation, and the ratio to the smallest size, all in one run
// on one machine. Build first (`npm run build`), then `node bench/complexity.mjs`, or with `--json` for a program to read.
//
// Not measured: memory, long-term storage, anything that waits. Figures of different machines, or of different runs on a busy one, do
// not compare; the ratios of one run do. What is left of growth there is the cache of the processor.
import { defineRole, Environment } from "../dist/src/index.js";
import { Memory } from "../dist/inside/memory/memory.js";
import { createMessage } from "../dist/inside/message/message.js";
import { MessageQueue } from "../dist/inside/message/message-queue.js";

const sizes = [1_000, 10_000, 100_000];
const repetitions = 7;

const results = [];

function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** Median nanoseconds of `work` over several repetitions, each on what `prepare` has made for it; the first of all only warms up. */
function nanoseconds(prepare, work) {
  const times = [];
  for (let n = 0; n <= repetitions; n++) {
    const made = prepare();
    const start = process.hrtime.bigint();
    work(made);
    times.push(Number(process.hrtime.bigint() - start));
  }
  return median(times.slice(1));
}

/** Measures one operation at every size. The sizes take turns, so that a slow moment of the machine does not hit one of them alone. */
function measureGrowth(name, operations, prepare, work) {
  const times = sizes.map(() => []);
  for (let n = 0; n <= repetitions; n++) {
    for (const [which, size] of sizes.entries()) {
      const made = prepare(size);
      const start = process.hrtime.bigint();
      work(made, size);
      if (n > 0) times[which].push(Number(process.hrtime.bigint() - start));
    }
  }
  const nanosecondsPerOperation = times.map((each, which) => median(each) / operations(sizes[which]));
  const growth = nanosecondsPerOperation.map((each) => each / nanosecondsPerOperation[0]);
  results.push({ name, sizes, nanosecondsPerOperation, growth });
}

function messagesNamed(prefix, count, causeOf = (n) => `Action${n % 20}`) {
  return Array.from({ length: count }, (_, n) =>
    createMessage(`what number ${n} had to say about it, in some words`, {
      id: `${prefix}${n}`,
      causeBy: causeOf(n),
      sentFrom: `Role${n % 7}`,
      timestamp: n,
    }),
  );
}

const largest = sizes.at(-1);
const first = messagesNamed("m", largest);
const second = messagesNamed("n", largest);

/**
 * As many holders of `size` messages as hold the largest number together: 100 of 1,000, 10 of 10,000, 1 of 100,000. The operations go
 * round them, so that every size works on the same amount of memory and none is any warmer in the cache than another.
 */
function holders(size, make) {
  return Array.from({ length: largest / size }, (_, which) => make(first.slice(which * size, (which + 1) * size), which));
}

function memoryOf(messages, options) {
  const memory = new Memory(options);
  memory.addBatch(messages);
  memory.getByAction("Action1");
  return memory;
}

measureGrowth(
  "Memory.add",
  () => largest,
  (size) => holders(size, () => memoryOf([second[0]])),
  (memories) => {
    for (let n = 0; n < largest; n++) memories[n % memories.length].add(first[n]);
  },
);

measureGrowth(
  "Memory.add, full at its limit",
  () => largest,
  (size) => holders(size, (share) => memoryOf(share, { limit: size })),
  (memories) => {
    for (let n = 0; n < largest; n++) memories[n % memories.length].add(second[n]);
  },
);

// Ten thousand questions, each about five messages that are held and five that are not, and none about the same as another. They go
// round the holders, as everything above does: many in a row of one small memory would measure how warm its table is.
measureGrowth(
  "Memory.findNews, 10 observed, half of them news",
  () => 10_000 * 10,
  (size) => {
    const shares = holders(size, (share) => ({ memory: memoryOf(share), share }));
    return Array.from({ length: 10_000 }, (_, question) => {
      const { memory, share } = shares[question % shares.length];
      const from = (5 * Math.floor(question / shares.length)) % size;
      return { memory, observed: [...share.slice(from, from + 5), ...second.slice(5 * question, 5 * question + 5)] };
    });
  },
  (questions) => {
    for (const { memory, observed } of questions) memory.findNews(observed);
  },
);

// One action has 50 messages whatever the size, spread over all of them: what is asked for stays the same.
const withRare = (size) => memoryOf(messagesNamed("r", size, (n) => (n % (size / 50) === 0 ? "Rare" : "Common")));
measureGrowth(
  "Memory.getByAction, 50 found",
  () => 100_000,
  (size) => withRare(size),
  (memory) => {
    for (let n = 0; n < 100_000; n++) memory.getByAction("Rare");
  },
);

measureGrowth(
  "Memory.delete, all of it, from the middle",
  () => largest,
  (size) => holders(size, (share) => ({ memory: memoryOf(share), goners: share.map((_, n) => share[(n * 617) % size]) })),
  (emptied) => {
    for (let n = 0; n < largest; n++) {
      const { memory, goners } = emptied[n % emptied.length];
      memory.delete(goners[Math.floor(n / emptied.length)]);
    }
  },
);

for (const priorities of [1, 8]) {
  measureGrowth(
    priorities === 1 ? "MessageQueue push + pop" : `MessageQueue push + pop, ${priorities} priorities`,
    () => largest,
    (size) =>
      holders(size, (share) => {
        const queue = new MessageQueue();
        for (const [n, message] of share.entries()) queue.push(message, { priority: n % priorities });
        return queue;
      }),
    (queues) => {
      for (let n = 0; n < largest; n++) {
        const queue = queues[n % queues.length];
        queue.push(second[n], { priority: n % priorities });
        queue.pop();
      }
    },
  );
}

// --- 10,000 adds of ours against 500 of a memory that keeps a list and looks through it for an equal message, field by field ---

/** Field by field, as deep as it goes, and over at the first difference. */
function isEqual(a, b) {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => isEqual(a[key], b[key]));
}

class ListMemory {
  storage = [];
  index = new Map();

  add(message) {
    if (this.storage.some((held) => isEqual(held, message))) return;
    this.storage.push(message);
    if (!this.index.has(message.causeBy)) this.index.set(message.causeBy, []);
    this.index.get(message.causeBy).push(message);
  }
}

const ours = nanoseconds(
  () => memoryOf([second[0]]),
  (memory) => {
    for (let n = 0; n < 10_000; n++) memory.add(first[n]);
  },
);
const lists = nanoseconds(
  () => new ListMemory(),
  (memory) => {
    for (let n = 0; n < 500; n++) memory.add(first[n]);
  },
);
const comparison = { ours10000AddsNanoseconds: ours, list500AddsNanoseconds: lists, ratio: ours / lists };

// --- publish to one watcher among many roles ---

const crowds = [10, 1_000, 100_000];
const bystander = defineRole({ name: "Bystander", watch: ["Elsewhere"] });
const watcher = defineRole({ name: "Watcher", watch: ["News"] });
const news = Array.from({ length: 2_000 }, (_, n) => createMessage("news", { id: `news-${n}`, causeBy: "News", timestamp: 0 }));

function crowdOf(size) {
  const environment = new Environment({ seed: 1 });
  for (let place = 1; place < size; place++) environment.addRole(bystander, { name: `bystander ${place}` });
  return environment.addRole(watcher);
}

const publishing = crowds.map((size) => {
  const environment = crowdOf(size);
  const samples = Array.from({ length: 5 }, (_, sample) => {
    const batch = news.map((message, n) => createMessage("news", { ...message, id: `${sample}-${n}` }));
    const start = process.hrtime.bigint();
    for (const message of batch) environment.publishMessage(message);
    return Number(process.hrtime.bigint() - start) / batch.length;
  });
  return samples.sort((a, b) => a - b)[2];
});
results.push({
  name: "publish to one watcher among so many roles",
  among: crowds,
  nanosecondsPerOperation: publishing,
  growth: publishing.map((each) => each / publishing[0]),
});

// --- what came out ---

if (process.argv.includes("--json")) {
  console.log(JSON.stringify({ node: process.version, repetitions, results, comparison }, null, 2));
} else {
  const rows = results.map(({ name, among, nanosecondsPerOperation, growth }) => {
    const cells = (among ?? sizes).map((size, which) => [
      `${size}`,
      `${nanosecondsPerOperation[which].toFixed(0)} ns (x${growth[which].toFixed(2)})`,
    ]);
    return [name, Object.fromEntries(cells)];
  });
  console.table(Object.fromEntries(rows));
  const milliseconds = (each) => `${(each / 1e6).toFixed(2)} ms`;
  console.log(
    `10,000 adds: ${milliseconds(ours)}; 500 adds to a list that is searched: ${milliseconds(lists)}; ratio ${comparison.ratio.toFixed(3)}`,
  );
}
