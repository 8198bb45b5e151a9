// An experiment as a user writes one: random walks of several lengths. Some cells of it do harm where the environment asks for it.
import { createMessage, defineRole, Environment } from "../../../dist/src/index.js";
import { experiment } from "../../../dist/src/research/index.js";

const walker = defineRole({
  name: "Walker",
  react: (rc) => rc.message(rc.random() < 0.5 ? "left" : "right", { sendTo: "<self>" }),
});

function world({ seed, concurrency, params, rep }) {
  const isHarmful = params.steps === 8 && rep === 1;
  if (isHarmful) harm(process.env.WALKS_HARM);
  return new Environment({ seed, concurrency }).addRole(walker);
}

function harm(kind) {
  if (kind === "ends") process.exit(3);
  if (kind === "killed") process.kill(process.pid, "SIGKILL");
  if (kind === "never") for (;;);
  if (kind === "heap") for (const kept = []; ;) kept.push(Array.from({ length: 100_000 }, () => ({})));
  if (kind === "buffers") for (const kept = []; ;) kept.push(Buffer.alloc(10_000_000, 1));
  if (kind === "later") process.nextTick(() => fallen());
  if (kind === "throws") throw new Error("no world");
}

function fallen() {
  throw new Error("It fell.");
}

export const walks = experiment({
  name: "walks",
  params: { steps: [4, 8, Number(process.env.WALKS_MORE ?? 16)] },
  reps: 3,
  seed: 7,
  rounds: ({ steps }) => steps,
  world,
  begin: (road) => road.publishMessage(createMessage("go", { sendTo: ["Walker"] })),
  collect: { now: ({ messages }) => placeOf(messages) },
  measure: ({ result }) => ({ place: placeOf(result.messages) }),
});

function placeOf(messages) {
  return messages.reduce((sum, { content }) => sum + (content === "right" ? 1 : content === "left" ? -1 : 0), 0);
}
