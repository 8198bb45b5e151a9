import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openCrew, readCrew } from "../../../roles/index.ts";
import { crewJsonSchema } from "../../../roles/crew/crew-spec.ts";
import { Team, UsageError } from "../../../src/index.ts";
import { tries } from "../../long.ts";
import { scriptedModel } from "../../../src/testing/index.ts";
import { memoryWorkspace, refusedSandbox, type Sandbox } from "../../../src/workspace/index.ts";

const ports = { workspace: memoryWorkspace(), sandbox: refusedSandbox("nothing runs in this test", "Choose a sandbox.") };

const NEWSROOM = `
name: newsroom
budget: 0.5
roles:
  - name: Rita
    profile: Reporter
    instructions: Write short sentences.
    actions:
      - name: WriteDraft
        on: [UserRequirement, ReviewDraft]
        prompt: |
          Write about {{UserRequirement}}.
          Last review: {{ReviewDraft.remarks}}
        output: { title: text, body: text, tags: [text] }
  - name: Emil
    profile: Editor
    actions:
      - name: ReviewDraft
        on: WriteDraft
        prompt: "Review {{WriteDraft.title}}: {{text}}"
        output:
          remarks: text
          verdict: { oneOf: [good, bad], description: whether it can be printed }
        endsWhen: { verdict: good }
        limit: 3
`;

/** The faults of a text, each as "line:column message". */
async function faultsOf(text: string): Promise<readonly string[]> {
  const error: unknown = await readCrew(text, "company.yaml").then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error === undefined) return [];
  expect(error).toBeInstanceOf(UsageError);
  expect((error as UsageError).code).toBe("CREW_INVALID");
  const { faults } = (error as UsageError).data as { readonly faults: readonly { line?: number; column?: number; message: string }[] };
  return faults.map(({ line, column, message }) => `${line}:${column} ${message}`);
}

describe("a crew file", () => {
  it("lets a role speak beside its output, and keeps what it says out of the data that others read", async () => {
    const crew = `
roles:
  - name: Ada
    actions: [{ name: Choose, output: { door: text }, speech: true }]
  - name: Ben
    actions: [{ name: Open, on: Choose, prompt: "{{text}}" }]`;
    const model = scriptedModel([JSON.stringify({ speech: "I am unsure.", door: "left" }), "Open."]);
    const { messages } = await new Team({ roles: openCrew(await readCrew(crew), ports).roles, model }).run("go").result;
    expect(messages[1]).toMatchObject({ speech: "I am unsure.", content: "door: left" });
    expect(model.calls[1]?.messages.at(-1)?.content).toBe("door: left");
  });

  it("becomes roles that work: typed messages, names in prompts, a circle that ends", async () => {
    const draft = (title: string): string => JSON.stringify({ title, body: "It rains.", tags: ["weather", "sea"] });
    const review = (verdict: string): string => JSON.stringify({ remarks: "Shorter!", verdict });
    const model = scriptedModel([draft("Rain"), review("bad"), draft("Wet"), review("good")]);
    const { name, roles, budget, models } = openCrew(await readCrew(NEWSROOM), ports);
    expect({ name, budget, models }).toEqual({ name: "newsroom", budget: 500_000, models: {} });
    const { status, messages } = await new Team({ name, roles, model }).run("the weather").result;
    expect(status).toBe("finished");
    expect(messages.map(({ causeBy, sendTo }) => [causeBy, ...sendTo])).toEqual([
      ["UserRequirement", "<all>"],
      ["WriteDraft", "<all>"],
      ["ReviewDraft", "<all>"],
      ["WriteDraft", "<all>"],
      ["ReviewDraft", "<none>"],
    ]);
    const asked = model.calls.map(({ messages: said }) => said.at(-1)?.content ?? "");
    expect(asked[0]).toMatch(/^Write about the weather\.\nLast review: \n/);
    expect(asked[1]).toMatch(/^Review Rain: title: Rain\nbody: It rains\.\ntags:\n- weather\n- sea/);
    expect(asked[2]).toMatch(/Last review: Shorter!/);
    expect(model.calls[0]?.messages[0]?.content).toMatch(/Write short sentences\.$/);
  });

  it("does not read a prompt's names again in the text that stands in their place", async () => {
    const model = scriptedModel(["done"]);
    const crew = await readCrew("roles: [{ name: A, actions: [{ name: Say, prompt: 'Say {{text}}' }] }]");
    await new Team({ roles: openCrew(crew, ports).roles, model }).run("{{UserRequirement}} {{text}}").result;
    expect(model.calls[0]?.messages.at(-1)?.content).toBe("Say {{UserRequirement}} {{text}}");
  });

  it("gives an agent its tools, and lets those run that it allows", async () => {
    const crew = await readCrew("roles: [{ name: Ada, tools: [planning, editor], allow: [editor], steps: 3, instructions: Be brief. }]");
    const [role] = openCrew(crew, ports).roles;
    expect(role).toMatchObject({ reactMode: "agent", maxReactLoop: 3, watch: ["UserRequirement"], agent: { systemPrompt: "Be brief." } });
    expect(role?.tools?.map(({ name }) => name)).toEqual(["editor", "planning"]);
    const model = scriptedModel(["done"]);
    await new Team({ roles: role === undefined ? [] : [role], model }).run("go").result;
    expect(model.calls[0]?.messages[0]?.content).toMatch(/Be brief\./);
  });

  it("lets an agent end only when its checks succeed, and takes their outcome from the record afterwards", async () => {
    const commands: (readonly string[])[] = [];
    const sandbox: Sandbox = {
      kind: "none",
      describe: "pretends",
      run: ({ command }) => {
        commands.push(command);
        const code = commands.length === 1 ? 1 : 0;
        return Promise.resolve({ kind: "exited", code, stdout: code === 1 ? "1 test failed" : "", stderr: "", isCut: false });
      },
    };
    const crew = await readCrew("roles: [{ name: Ada, checks: [[node, --test]], actions: [{ name: Build }] }]");
    const done = { toolCalls: [{ id: "1", type: "function" as const, function: { name: "done", arguments: '{"answer":"built"}' } }] };
    const model = scriptedModel([done, "It is built, believe me.", done]);
    const team = new Team({ roles: openCrew(crew, { ...ports, sandbox }).roles, model });
    const { status, output, runId } = await team.run("build it").result;
    expect([status, output?.content, output?.causeBy]).toEqual(["finished", "built", "Build"]);
    expect(commands).toEqual([
      ["node", "--test"],
      ["node", "--test"],
    ]);
    expect(model.calls[0]?.toolChoice).toBe("required");
    expect(JSON.stringify(model.calls[1]?.messages)).toMatch(/1 of 1 failed.*1 test failed/);
    expect(JSON.stringify(model.calls[2]?.messages)).toMatch(/must call a tool/);
    const replayed = await team.replay(runId).result;
    expect([replayed.error, replayed.output?.content]).toEqual([undefined, "built"]);
    expect(commands.length).toBe(2);
  });

  it("takes a shipped crew with its options, models by role, and roles of its own beside it", async () => {
    const crew = openCrew(
      await readCrew(
        "use: waterfall\nwith: { codeReview: false }\nmodels: { Alex: gpt-5 }\nroles: [{ name: Zoe, model: small, watch: [WriteCode], actions: [{ name: Sum }] }]",
      ),
      ports,
    );
    expect(crew.name).toBe("software company");
    expect(crew.roles.map(({ name }) => name)).toEqual(["Alice", "Bob", "Eve", "Alex", "Edward", "Zoe"]);
    expect(crew.models).toEqual({ Alex: "gpt-5", Zoe: "small" });
  });

  it("has a JSON Schema for editors, which is published", async () => {
    const schema = crewJsonSchema();
    expect(schema).toMatchObject({ type: "object", additionalProperties: false });
    await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot("../../../docs/crew.schema.json");
  });
});

describe("a fault in a crew file", () => {
  it.each<[string, string, RegExp]>([
    [
      "a member that does not exist",
      "roles:\n  - name: A\n    gaol: x",
      /^3:5 Expected only known members of roles\[0\], got "gaol"\. Did you mean goal\?/,
    ],
    ["a tool that does not exist", "roles:\n  - name: A\n    tools: [shel]", /^3:13 .*got "shel"\. Did you mean shell\?/],
    ["a text that is a number", "name: 12\nroles: [{ name: A }]", /^1:7 Expected name to be a text, got 12/],
    ["nothing", "", /^1:1 Expected the whole to be a mapping, got an empty value/],
    ["no roles", "name: x", /^1:1 Expected roles, or a shipped crew in use, got neither/],
    [
      "a cause nobody has",
      "roles:\n  - name: A\n    watch: [WriteDaft]\n    actions: [{ name: WriteDraft }]",
      /^3:13 .*got "WriteDaft"\. Did you mean WriteDraft\?/,
    ],
    [
      "a field that its cause lacks",
      "roles:\n  - name: A\n    actions: [{ name: Say, output: { x: text }, prompt: '{{Say.y}}' }]",
      /field of Say\. .*Known: x/,
    ],
    ["a role twice", "roles: [{ name: A }, { name: A }]", /^1:30 .*second "A"/],
    ["an action twice", "roles: [{ name: A, actions: [{ name: X }] }, { name: B, actions: [{ name: X }] }]", /second "X"/],
    ["a recipient nobody is", "roles: [{ name: Ann, actions: [{ name: X, sendTo: [Anne] }] }]", /got "Anne"\. Did you mean Ann\?/],
    [
      "tools without an agent",
      "roles: [{ name: A, mode: react, tools: [shell], actions: [{ name: X }] }]",
      /to be of mode agent, got react/,
    ],
    [
      "a prompt of an agent",
      "roles: [{ name: A, mode: agent, actions: [{ name: X, prompt: y }] }]",
      /Expected no prompt in an agent's action/,
    ],
    [
      "an end on a field that is none",
      "roles: [{ name: A, actions: [{ name: X, output: { ok: boolean }, endsWhen: { okay: true } }] }]",
      /got "okay"\. Did you mean ok\?/,
    ],
    ["a shipped crew that is none", "use: waterfal", /^1:6 Expected use to be one of .*Did you mean waterfall\?/],
    ["an option of it that is none", "use: waterfall\nwith:\n  codeRevue: true", /^3:3 .*"codeRevue"\. Did you mean codeReview\?/],
    ["a name for the router", "roles: [{ name: <all>, mode: agent }]", /name without spaces/],
  ])("is reported with its position, what was expected and what was found: %s", async (_what, text, expected) => {
    expect((await faultsOf(text))[0]).toMatch(expected);
  });

  it("is reported together with all others", async () => {
    const faults = await faultsOf("nam: x\nbudget: -1\nroles:\n  - nmae: A\n");
    expect(faults.length).toBeGreaterThanOrEqual(3);
  });
});

describe("a hostile crew file", () => {
  const bomb = ["a0: &a0 x", ...Array.from({ length: 20 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}, *a${n}]`)].join("\n");

  it.each<[string, string, RegExp]>([
    ["aliases that grow", bomb, /Expected no alias, got \*a0/],
    ["an alias of itself", "a: &a [*a]", /Expected no alias/],
    ["a tag of its own", "name: !!js/function 'function () {}'", /Expected YAML/],
    ["a tag nobody knows", "name: !secret x", /Expected YAML/],
    ["equal keys", "name: a\nname: b", /^2:1 Expected YAML, but: Map keys must be unique/],
    ["a merge key", "roles:\n  - <<: { name: A }", /Expected no merge key/],
    ["a megabyte", `name: ${"x".repeat(1_000_000)}`, /Expected at most 262144 characters/],
    ["two documents", "name: a\n---\nname: b", /Expected YAML/],
    ["keys that are lists", "? [a]\n: b", /Expected YAML/],
    ["a prototype", "__proto__: { polluted: true }\nroles: [{ name: A }]", /got "__proto__"/],
    ["many levels", `name: ${"[".repeat(100_000)}`, /Expected/],
    ["broken syntax", "name: [a", /Expected YAML/],
  ])("is refused: %s", async (_what, text, expected) => {
    expect((await faultsOf(text)).join("\n")).toMatch(expected);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("never ends in another error than the documented one", { tags: "numbers" }, async () => {
    const word = fc.constantFrom(
      "name",
      "roles",
      "use",
      "with",
      "models",
      "actions",
      "output",
      "[",
      "]",
      "{",
      "}",
      ":",
      "-",
      "\n",
      "  ",
      "&a",
      "*a",
      "!x",
      "x",
      "1",
      "'",
      "|",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 30 }), async (words) => {
        await faultsOf(words.join(" ").replaceAll(" \n ", "\n"));
      }),
      { numRuns: tries(150, 2_000) },
    );
  });
});
