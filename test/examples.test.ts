import { readdirSync } from "node:fs";
import { beforeEach, describe, expect, it, vi } from "vitest";

/** The output of each example, in the order of its lines; a test fails when an example is added without one. */
const printed: Record<string, readonly (string | RegExp)[]> = {
  "00-first": ["It changes the list that it gets: use toSorted.", '  n3 -.->|"1 Review"| n1', "No coat: Paris has 21 degrees."],
  "01-hello": ["finished", "Welcome, Ada! Come in, the kettle is on."],
  "02-debate": [
    /^Moderator: Topic/,
    /^Tabitha: A tab is/,
    /^Spencer: A space looks/,
    /^Tabitha: You fix/,
    /^Spencer: I fix it once/,
    "4 rounds",
  ],
  "03-pipeline": [/^On Queues: A queue hands out .* \(2 problems fixed, 3 rounds\)$/],
  "04-subclass": ["CountWords -> 5 words"],
  "05-plan": [/a paragraph from notes on "ice cream prices" and notes on "summer weather"$/],
  "06-human": [
    /^waiting - Clara waits for a human/,
    "finished - published: A note on tea",
    "kept in the drawer",
    /city: Expected a text of at least 1 character, got ""\.$/,
    "2 nights in Oslo, paid: yes",
  ],
  "07-coins": [/^Gini after 30 rounds: 0\.\d{4} ± 0\.\d{4} \(standard error, 20 seeds\)$/, "equal at concurrency 1 and 16: true"],
  "08-durable": [
    "rounds after 1 call",
    "finished after 1 more: [Make it short: [Draft a line about the sea.]]",
    "finished again, and equal: true",
    "[Make it long: [Draft a line about the sea.]]",
    "reused 1, paid 1, first difference in Eda#0~1",
  ],
  "09-memory": [
    "one turn: nothing",
    "a few turns: 1 of 2",
    "40 turns: Summary 2, Related 4, Said 8",
    "in your own code: 5 left; They talk about a bridge; nothing is decided.",
    "another run: Related 2",
    "a library: Related 3",
    "at hand: Somebody asked for the new bridge again.",
    /^\d+\.\d\d The new bridge is of steel\.$/,
    "300 messages: Report 217 on the bridge over stream 217.",
    "a long text: 4 windows",
  ],
  "10-agent": [
    "weather -> 21 degrees and sun in Paris",
    "finished in 2 steps: It is 21 degrees in Paris: no coat.",
    "As I said: no coat. | 6 messages",
    "max_steps IDLE",
    "stopped",
    "hat false",
  ],
  "11-tools": [
    /^denied the tool "mail" may not be used like this$/,
    /^denied a person did not allow this use of the tool "mail"/,
    /^invalid Arguments of "mail" do not fit$/,
    'unknown there is no tool "fax"',
    "ok ",
    "1 sent: One message is sent.",
    "The water boils.",
    "Progress: 1 of 2 completed",
    "It greets.",
    "hello, Ada; it ran in the background",
    "We meet at nine. 31000 micro-dollars for 4 calls",
  ],
  "12-agent-role": ["stopped", "Bridge to open in May | 2 + 2 calls of the model, searched again: bridge opening", "true 2 1"],
  "13-nets": ["12 after 4 steps", "By train. 4 calls", "Roads over water. | 45 characters streamed"],
  "14-planning-flow": [
    'facts -> Ria did "collect facts on bridges"',
    'pictures -> Ria did "find a picture"',
    'page -> Will did "write the page"',
    "finished - The page on bridges is written.",
  ],
  "15-mcp": ["The server says: The sum of 2 and 40 is 42."],
  "16-rumour": [/^3\d{4} messages in \d\d rounds: 2[01]\.\d % never heard of it$/, "equal at concurrency 1 and 16: true"],
  "17-money": ["5 of 10 runs had the money; 25000 of 50000 micro-dollars are spent", "Printed: A line. It cost 5000 micro-dollars."],
  "18-deps": ["apple: 5, sold for 5 today", "A pear costs 4 coins."],
  "20-models": [
    "openai, claude, gemini, azure, ollama",
    "Wim: small at 1, 0 pictures",
    "Eda: large at 0.2, 0 pictures",
    /^small: \$0\.\d{4}$/,
    /^large: \$0\.\d{4}$/,
    "small at its default, 0 pictures",
    "small at 1, 1 pictures",
  ],
  "21-page": [
    'said {"role":"Wim","text":"The sea is wide, and blue, and old."}',
    'said {"role":"Eda","text":"The sea is wide."}',
    'end {"status":"finished"}',
    /^[5-9] pieces$/,
  ],
  "22-stop": ["rounds 3", 'finished 5 saidBy("High")', "finished 7 highEnough", "stopped 9", "4", "stopped Stopped: enough."],
  "23-person": ["user -> Wim -> Rosa", "Rosa was asked something: good", "waiting 1", "good"],
  "24-service": [
    /"said","run":"order-1","role":"Wim","length":26}$/,
    /"said","run":"order-1","role":"Eda","length":16}$/,
    /"finished","run":"order-1","cost":0,"rounds":2}$/,
    /"stopped","run":"order-2","cost":0,"rounds":0}$/,
    /"said","run":"order-2","role":"Wim","length":26}$/,
    /"said","run":"order-2","role":"Eda","length":16}$/,
    /"finished","run":"order-2","cost":0,"rounds":2}$/,
  ],
  "25-scheduler": [/^environment finished: (\d+ ?){10}$/, "team finished, equal after a stop: true"],
  "26-feedback": [
    "UserFeedback to Wim",
    "The sea is wide and blue.",
    "waits for a resume: true",
    "The sea is blue.",
    "finished Blue sea.",
    "A blue wave. It has 3 words.",
    "A blue whale.",
    "waiting Ada Change your line as the user says: add a boat",
    "A whale below a boat.",
    "Whale.",
  ],
  "27-verify": [/^A1 P0 (proven: 2 commands, |not checked: )/, "A2 P2 judged: A tone cannot be run.", /^(proven: true|not checked: .+)$/],
  "28-chat-service": [
    "Chef: Trout with almonds.",
    "Barkeeper: A dry Riesling.",
    "Chef: Lentils with leeks.",
    "Barkeeper: A light red wine.",
    "4 calls",
    "replayed alike: true",
  ],
  "29-traces": [
    "Bridge to open in May",
    "requests: 1",
    "gen_ai.invoke_agent.duration, gen_ai.client.inference.duration, gen_ai.client.inference.operation.input_tokens, " +
      "gen_ai.client.inference.operation.output_tokens, gen_ai.client.inference.usage.input_tokens, " +
      "gen_ai.client.inference.usage.output_tokens",
  ],
  "30-serve": [
    "0 run.started",
    "1 message",
    "2 act.started",
    "3 step.started",
    "4 run.ended",
    "waiting What is your name?",
    "Hello Ada, about tea.",
    "0 RUN_UNKNOWN",
    "200",
  ],
  "31-fleet": [
    "Rain on tin roofs.",
    "finished",
    'a picture for {"of":"a house"}',
    "There are three poems about rain.",
    "tea acceptance.json, requirement.md",
    "ink acceptance.json, requirement.md",
  ],
  "32-failures": [
    "lost-request (FM-2.5 ignored other agent's input: asked and never answered): Cy",
    "ping-pong (FM-1.3 step repetition, between roles): Ada, Ben",
  ],
  "33-populations": [/^finished \d+$/, "rounds", "true true"],
  "34-faults": [
    "loss 0: 1.00 sendings a letter, 1.00 expected, 0 messages lost",
    /^loss 0.1: 1\.2\d sendings a letter, 1.23 expected, \d+ messages lost$/,
    /^loss 0.3: 2\.\d\d sendings a letter, 2.04 expected, \d+ messages lost$/,
    "an office that opens in round 9: 3 sendings a letter",
    "answers that take 3 rounds more: 2 sendings a letter",
    /^of (\d+) first letters lost at 0.1, \1 are lost at 0.3$/,
    /^rewritten by the censor: \d\d messages$/,
    /^to \d at \d+, in the (rain|sun)$/,
  ],
  "35-experiment": [/^└[─┴]+┘$/, "20 runs, 0 failed; equal at concurrency 1, concurrency 2, concurrency 64: true"],
  "36-coordination": [
    "lattice: 10 steps across, clustering 0.5, held by 0.123",
    "40 messages, 11 in a row, redundancy 0.975",
    "rounds with shortcuts: 6.1 to 6.9",
    "saved: 5.5 rounds, p = 0.0078",
    /^a page of \d\d kB, with scripts: false$/,
    "161 rows of 16 columns",
    "p3 now reaches p1",
  ],
  "37-policies": [
    /^1 jurors: right in 0\.\d+ of all cases$/,
    /^9 jurors: right in (1|0\.[89]\d*) of all cases$/,
    /^\d\d times (yes|no), \d+ times (yes|no)$/,
    "80 runs with a surrogate",
    "as recorded: true",
  ],
  "38-from-metagpt": [
    "UserRequirement Ann Alex 1",
    "main.py assistant <all> <none> <self>",
    "true [object Object]",
    "stop 1 true",
    "1 2 1",
    "2 a snake has no legs 1",
    "1 2",
    "1 3",
    "true Talk 0",
    "1",
    "1 1",
    '  n0["Ann"]',
    "The ferry leaves at nine.",
    "0 0 2",
    "2",
    "2",
    "true Steel rusts. true And the colour?",
    "And the colour? true true They plan a bridge.",
    "true true loaded",
    "true They plan a bridge. a bridge",
    "SKILL 3 a b c",
    "WriteCode Rosa",
    "a b 1 false",
    "2 true Pia,Lia 3 Pia",
    "1 1 1 You are an Engineer",
    "finished 3 $0.00",
    "finished",
  ],
  "39-from-openmanus": [
    "3 2 3",
    "weather,terminate,planning,ask_human true undefined true",
    "ok true Error: the second station is silent",
    "snow weather",
    "start: IDLE to RUNNING",
    "FINISHED 1 IDLE",
    "finished It snows: take a coat. 2 FINISHED 2",
    "true 4",
    "[object Object] true",
    "loop 6",
    "packed",
    "Yes.",
    "true 1 2 weather",
    "reasoning,action,answer undefined",
  ],
  "40-explore": ["  (the shortest schedule; first seen in schedule 1)", "finished 7", "9", "true 0 deadlock"],
  "41-cause": ["The team says 4.", /^Ben#0: 0\.50/, /^Cem#0: 0\.00/, /^Ada#0: -0\.50/, "It was Ben. 3"],
  "42-laboratory": [
    /^middle: 0\.\d\d, from 0\.\d\d to 1\.\d\d$/,
    /^spread: 0\.\d\d, from/,
    /^people: 0\.\d\d, from/,
    /^0\.\d\d to 0\.\d\d more join; slope -3\.\d$/,
    "all three tests: true",
    "a picture with 4 dashed lines",
    "order 1.0 with little noise, 0.0 with much",
    "p1 is on 59 % of the shortest paths; modularity 0.04",
  ],
  "43-paid-study": [
    "16 calls, 0 uncertain",
    "8 of 12 runs were there",
    "read from its record: true, equal: true",
    "4 calls of teams",
    "priced is in the manifest",
    "4 runs, 4 runs",
  ],
  "44-company": [
    /^A1 P0 (proven: node greet\.mjs Ada|not checked: )/,
    /^A2 P0 (proven: node greet\.mjs|not checked: )/,
    /^(done|not done: .+)$/,
  ],
  "45-crew": ["Rita: The week was dry.", "Emil: verdict: good"],
  "46-waits": ["waiting paid", "waiting true", "a teapot: paid 12, shipped", "a cup: canceled (WAIT_TIMEOUT)"],
  "47-chat": [
    "finished A table for two, at eight.",
    "Then at nine.",
    "4 messages",
    "event: delta, event: delta, event: end",
    "Table 4 is free at nine.",
    "You have it.",
    "Good evening, Ann.",
    "stopped CONTEXT_MISSING",
    "It is the bill of Ann: 30 coins.",
  ],
  "48-handoff": ["Desk: she wants her money back | Rita: You get it back.", "Rita", "Here it is: The sea is wide."],
  "49-guards": ["denied", "ok", "It comes. I charged (a card).", "Go left, please.", "failed GUARD_REFUSED"],
  "50-steps": ["finished in 2 rounds: Use tabs.", "cold, warm", "the page /prices after 3 tries"],
  "51-prompts": [/^└[─┴]+┘$/, /^careful is right more often by 0\.\d\d \(0\.\d\d to 0\.\d\d\), p = 0\.0\d\d$/],
  "52-files": [
    "The sales rose.",
    "report.pdf application/pdf 19",
    "19",
    "(file report.pdf, application/pdf, 19 bytes: this model cannot read it)",
    "table.csv",
  ],
  "53-board": ["dough: done", "oven: done", "bake: done", "Bake the bread: no trouble."],
  "54-workflow": [/^at most 16 calls and \$0\.\d+$/, /it adds twice.*kept 1 of 2/],
  "55-processes": ["Mia: We have finished 3 of 3 items.", "We have finished 3 of 3 items.", "We have finished 8 of 8 items."],
  "56-plan": [/^faults: at most 16 calls and \$0\.\d+$/, '["it adds twice"]'],
  "ports/agent-tool": ["Here it is: The sea is wide."],
  "ports/airline": ["Questions: One bag of 23 kg.", "Seats: You sit on 12A."],
  "ports/analysis": ["Rome: 12"],
  "ports/approval": ['{"answer":"Your money is on its way."}'],
  "ports/chat": ["Hello, Ann.", "You are Ann."],
  "ports/crew": ["Short and tested."],
  "ports/evaluator": ["A cat walks into a bar, and sits on it."],
  "ports/fallback": ["Hello from the small one."],
  "ports/guards": ["In chapter two.", /^Refused: .*It is homework\.$/],
  "ports/images": ["A dot."],
  "ports/mcp": ["It is 42."],
  "ports/research": ["Air scatters blue light."],
  "ports/specialists": ["Build it, with a fence."],
  "ports/workflow": ["waiting", "Published: The sea is wide."],
};

const examples = ["", "ports/"].flatMap((folder) =>
  readdirSync(new URL(`../examples/${folder}`, import.meta.url))
    .filter((file) => file.endsWith(".ts"))
    .map((file) => folder + file.slice(0, -3)),
);

/** Examples that simulate for seconds. */
const STUDIES = ["07-coins", "16-rumour", "35-experiment", "36-coordination", "37-policies", "42-laboratory"];

describe("every example runs offline and prints what it promises", () => {
  const lines: string[] = [];
  beforeEach(() => {
    lines.length = 0;
    vi.spyOn(console, "log").mockImplementation(
      (...words: unknown[]) => void lines.push(...words.map(String).join(" ").split("\n").slice(-1)),
    );
  });

  it("knows all of them", () => {
    expect(examples.toSorted()).toEqual(Object.keys(printed));
  });

  const isStudy = ([file]: readonly [string, unknown]): boolean => STUDIES.includes(file);
  const expectPromised = async (file: string, expected: readonly (string | RegExp)[]): Promise<void> => {
    const [name = "", folder] = file.split("/").toReversed();
    await (folder === undefined ? import(`../examples/${name}.ts`) : import(`../examples/ports/${name}.ts`));
    expect(lines).toHaveLength(expected.length);
    expected.forEach((line, index) => (typeof line === "string" ? expect(lines[index]).toBe(line) : expect(lines[index]).toMatch(line)));
  };

  it.each(Object.entries(printed).filter((one) => !isStudy(one)))("%s", (file, expected) => expectPromised(file, expected));
  it.each(Object.entries(printed).filter(isStudy))("%s", { tags: ["science", "long"] }, (file, expected) => expectPromised(file, expected));

  it("forgets what one user has said", async () => {
    const { forgotten, refusal } = (await import("../examples/09-memory.ts")) as typeof import("../examples/09-memory.ts");
    expect([forgotten, refusal]).toEqual(["1 run, 2 messages", "TEXT_ERASED"]);
  });

  it("the picture of the experiment has a line for each number of coins", { tags: ["science", "long"] }, async () => {
    const { picture } = (await import("../examples/35-experiment.ts")) as typeof import("../examples/35-experiment.ts");
    expect(await picture()).toMatch(/poor[\s\S]*start/);
  });

  it("the coins are what a seed says: another seed gives another number", { tags: ["science", "long"] }, async () => {
    const { giniOf } = (await import("../examples/07-coins.ts")) as typeof import("../examples/07-coins.ts");
    expect(await giniOf(1, 3)).toBe(await giniOf(1, 7));
    expect(await giniOf(1, 3)).not.toBe(await giniOf(2, 3));
  });
});
