import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/agent/index.ts";
import { writtenAction } from "../../src/agent/text-action.ts";
import type { ChatMessage } from "../../src/model/chat-message.ts";
import { ToolCollection } from "../../src/tool/tool-collection.ts";
import { agentOf, call, calls } from "./setup.ts";

const ran: unknown[] = [];
const add = defineTool({
  name: "add",
  description: "Adds.",
  parameters: z.object({ a: z.number(), b: z.number() }),
  effect: "read",
  execute: (args) => (ran.push(args), String(args.a + args.b)),
});
const write = defineTool({
  name: "write_file",
  description: "Writes.",
  parameters: z.object({ path: z.string(), text: z.string() }),
  permission: "allow",
  execute: (args) => (ran.push(args), "written"),
});
const now = defineTool({ name: "now", description: "Tells the time.", parameters: z.object({}), effect: "read", execute: () => "12:00" });
const tools = new ToolCollection([add, write, now]);

/** The calls that are read from a text, as name and arguments; else what it is. */
function readIn(text: string, messages: readonly ChatMessage[] = [{ role: "user", content: "Add them." }]): unknown {
  const action = writtenAction(text, { tools, messages });
  if (action.kind !== "calls") return action.kind;
  return action.calls.map(({ function: { name, arguments: args } }) => {
    const tool = tools.find(name);
    const read = tool?.check(JSON.parse(args) as never);
    return [tool?.name, read?.ok === true ? read.args : args];
  });
}

const one = [["add", { a: 1, b: 2 }]];
const two = [...one, ["add", { a: 3, b: 4 }]];
const ARGS = '{"a": 1, "b": 2}';
const MORE = '{"a": 3, "b": 4}';
const file = [["write_file", { path: "a.js", text: 'let x = "a";\nlet y;' }]];

/** Each form of a model: one call, two calls, and one that differs in form. */
const FORMS: readonly (readonly [form: string, text: string, expected: unknown])[] = [
  ["Hermes", `<tool_call>\n{"name": "add", "arguments": ${ARGS}}\n</tool_call>`, one],
  [
    "Hermes, two",
    `<tool_call>{"name": "add", "arguments": ${ARGS}}</tool_call>\n<tool_call>{"name": "add", "arguments": ${MORE}}</tool_call>`,
    two,
  ],
  ["Hermes, after words, without an end", `I add them.\n\n<tool_call>\n{"name": "add", "arguments": ${ARGS}}`, one],
  ["Qwen, arguments as a string", `<tool_call>{"name": "add", "arguments": ${JSON.stringify(ARGS)}}</tool_call><|im_end|>`, one],
  [
    "Qwen Coder",
    "<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n<parameter=b>\n2\n</parameter>\n</function>\n</tool_call>",
    one,
  ],
  ["Qwen Coder without its outer mark", "<function=add>\n<parameter=a>1</parameter>\n<parameter=b>2</parameter>\n</function>", one],
  [
    "Qwen Coder, lines",
    '<tool_call>\n<function=write_file>\n<parameter=path>\na.js\n</parameter>\n<parameter=text>\nlet x = "a";\nlet y;\n</parameter>\n</function>\n</tool_call>',
    file,
  ],
  ["Llama's tag", `<|python_tag|>{"name": "add", "parameters": ${ARGS}}<|eom_id|>`, one],
  ["Llama's tag, two", `<|python_tag|>{"name": "add", "parameters": ${ARGS}}; {"name": "add", "parameters": ${MORE}}`, two],
  ["Llama's tag, a function", "<|python_tag|>add.call(a=1, b=2)", one],
  ["Llama's function", `<function=add>${ARGS}</function>`, one],
  ["Llama's function, two", `<function=add>${ARGS}</function><function=add>${MORE}</function>`, two],
  ["Llama's function, as Groq shows it", `<function=add${ARGS}</function>`, one],
  ["Llama 4", "<|python_start|>[add(a=1, b=2)]<|python_end|>", one],
  ["a list of functions", "[add(a=1, b=2), add(a=3, b=4)]", two],
  ["a function alone", "add(a=1, b=2)", one],
  ["a list, without arguments", "[now()]", [["now", {}]]],
  ["Mistral", `[TOOL_CALLS] [{"name": "add", "arguments": ${ARGS}}]`, one],
  ["Mistral, two", `[TOOL_CALLS][{"name": "add", "arguments": ${ARGS}}, {"name": "add", "arguments": ${MORE}}]`, two],
  ["Mistral, with ids", `[TOOL_CALLS]add[CALL_ID]abc123DEF[ARGS]${ARGS}`, one],
  ["Mistral, arguments behind a mark", `[TOOL_CALLS]add[ARGS]${ARGS}[TOOL_CALLS]add[ARGS]${MORE}</s>`.replace("</s>", ""), two],
  [
    "DeepSeek V3",
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>add\n```json\n" +
      ARGS +
      "\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
    one,
  ],
  [
    "DeepSeek V3, two",
    [
      "<｜tool▁calls▁begin｜>",
      ...[ARGS, MORE].map((args) => "<｜tool▁call▁begin｜>function<｜tool▁sep｜>add\n```json\n" + args + "\n```<｜tool▁call▁end｜>\n"),
      "<｜tool▁calls▁end｜>",
    ].join(""),
    two,
  ],
  ["DeepSeek V3.1", `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>add<｜tool▁sep｜>${ARGS}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`, one],
  [
    "DeepSeek V3.2",
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="add">\n<｜DSML｜parameter name="a" string="false">1</｜DSML｜parameter>\n<｜DSML｜parameter name="b" string="false">2</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    one,
  ],
  [
    "Kimi K2",
    `<|tool_calls_section_begin|><|tool_call_begin|>functions.add:0<|tool_call_argument_begin|>${ARGS}<|tool_call_end|><|tool_calls_section_end|>`,
    one,
  ],
  [
    "Kimi K2, two",
    `<|tool_calls_section_begin|><|tool_call_begin|>functions.add:0<|tool_call_argument_begin|>${ARGS}<|tool_call_end|><|tool_call_begin|>functions.add:1<|tool_call_argument_begin|>${MORE}<|tool_call_end|><|tool_calls_section_end|>`,
    two,
  ],
  ["Kimi K2 without its section", `<|tool_call_begin|>add<|tool_call_argument_begin|>${ARGS}<|tool_call_end|>`, one],
  [
    "GLM",
    "<tool_call>add\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n<arg_key>b</arg_key>\n<arg_value>2</arg_value>\n</tool_call>",
    one,
  ],
  [
    "GLM in one line",
    "<tool_call>add<arg_key>a</arg_key><arg_value>1</arg_value><arg_key>b</arg_key><arg_value>2</arg_value></tool_call>",
    one,
  ],
  ["GLM, no arguments", "<tool_call>now\n</tool_call>", [["now", {}]]],
  ["gpt-oss", `<|channel|>commentary to=functions.add <|constrain|>json<|message|>${ARGS}<|call|>`, one],
  [
    "gpt-oss, after its thoughts",
    `<|channel|>analysis<|message|>I add.<|end|><|start|>assistant<|channel|>commentary to=functions.add <|constrain|>json<|message|>${ARGS}<|call|>`,
    one,
  ],
  ["gpt-oss, the recipient first", `<|start|>assistant to=functions.add<|channel|>commentary json<|message|>${ARGS}<|call|>`, one],
  [
    "MiniMax",
    '<minimax:tool_call>\n<invoke name="add">\n<parameter name="a">1</parameter>\n<parameter name="b">2</parameter>\n</invoke>\n</minimax:tool_call>',
    one,
  ],
  ["MiniMax M1", `<tool_calls>\n{"name": "add", "arguments": ${ARGS}}\n{"name": "add", "arguments": ${MORE}}\n</tool_calls>`, two],
  ["Granite", `<|tool_call|>[{"name": "add", "arguments": ${ARGS}}]`, one],
  ["Granite, a list", `<tool_call>[{"name": "add", "arguments": ${ARGS}}, {"name": "add", "arguments": ${MORE}}]`, two],
  ["Phi", `functools[{"name": "add", "arguments": ${ARGS}}]`, one],
  ["Phi 4 mini", `<|tool_call|>[{"type": "function", "function": {"name": "add", "arguments": ${ARGS}}}]<|/tool_call|>`, one],
  ["Command-R", 'Action: ```json\n[\n  {"tool_name": "add", "parameters": ' + ARGS + "}\n]\n```", one],
  [
    "Command-R7B",
    `<|START_THINKING|>I add.<|END_THINKING|><|START_ACTION|>[\n{"tool_call_id": "0", "tool_name": "add", "parameters": ${ARGS}}\n]<|END_ACTION|>`,
    one,
  ],
  [
    "Seed",
    "<seed:think>I add.</seed:think><seed:tool_call>\n<function=add>\n<parameter=a>1</parameter>\n<parameter=b>2</parameter>\n</function>\n</seed:tool_call>",
    one,
  ],
  ["Nemotron", `<TOOLCALL>[{"name": "add", "arguments": ${ARGS}}]</TOOLCALL>`, one],
  ["Gemma", "<start_function_call>call:add{a:1,b:2}<end_function_call>", one],
  ["Gemma's code", "```tool_code\nprint(default_api.add(a=1, b=2))\n```", one],
  ["LFM2", "<|tool_call_start|>[add(a=1, b=2)]<|tool_call_end|>", one],
  ["LongCat", `<longcat_tool_call>{"name": "add", "arguments": ${ARGS}}</longcat_tool_call>`, one],
  [
    "Step 3",
    '<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="add"><steptml:parameter name="a">1</steptml:parameter><steptml:parameter name="b">2</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>',
    one,
  ],
  ["a name as attribute", `<tool_call name="add">${ARGS}</tool_call>`, one],
  ["ReAct", `I add.\nAction: add\nAction Input: ${ARGS}`, one],
  ["OpenAI's message", JSON.stringify({ tool_calls: [{ id: "x", type: "function", function: { name: "add", arguments: ARGS } }] }), one],
  ["OpenAI's call", JSON.stringify({ type: "function", function: { name: "add", arguments: { a: 1, b: 2 } } }), one],
  ["OpenAI's old call", JSON.stringify({ function_call: { name: "add", arguments: ARGS } }), one],
  ["bare", `{"name": "add", "arguments": ${ARGS}}`, one],
  ["fenced as a whole", '```json\n{"name": "add", "parameters": ' + ARGS + "}\n```", one],
];

describe("a call that a model writes as text", () => {
  it.each(FORMS)("%s", (_form, text, expected) => {
    expect(readIn(text)).toEqual(expected);
  });

  it.each<[string, string, string]>([
    ["WrittenAction.W4 no such tool", `<tool_call>{"name": "sub", "arguments": ${ARGS}}</tool_call>`, "malformed"],
    ["WrittenAction.W4 arguments that do not fit", '<tool_call>{"name": "add", "arguments": {"a": "one"}}</tool_call>', "malformed"],
    ["WrittenAction.W5 marks without a call", "<tool_call>\nadd 1 and 2\n</tool_call>", "malformed"],
    ["WrittenAction.W5 words behind it", `<tool_call>{"name": "add", "arguments": ${ARGS}}</tool_call> That is 3.`, "malformed"],
    ["WrittenAction.W5 a quotation in words", `The page says: <tool_call>{"name": "add", "arguments": ${ARGS}}</tool_call>`, "malformed"],
    ["WrittenAction.W5 a quotation in marks", `It has "<function=add>${ARGS}</function>`, "malformed"],
    ["WrittenAction.W2 inline code", `Qwen writes \`<tool_call>{"name": "add"}</tool_call>\` for a call.`, "answer"],
    ["WrittenAction.W2 a fence", "For example:\n```xml\n<tool_call>\nadd\n</tool_call>\n```\nThat is all.", "answer"],
    ["WrittenAction.W2 a quoted line", `They wrote:\n> <function=add>${ARGS}</function>`, "answer"],
    ["WrittenAction.W2 indented code", `An example:\n\n    [TOOL_CALLS]add[ARGS]${ARGS}`, "answer"],
    ["no marks", "The answer is add(1, 2), which is 3.", "answer"],
    ["data of another shape", '{"name": "Ann", "parameters": 3}', "answer"],
  ])("%s: %#", (_what, text, expected) => {
    expect(readIn(text)).toBe(expected);
  });

  it("WrittenAction.W1 is none where the model has called natively, and the model is told", () => {
    const messages: ChatMessage[] = [
      { role: "user", content: "Add them." },
      { role: "assistant", toolCalls: [{ id: "1", type: "function", function: { name: "now", arguments: "{}" } }] },
      { role: "tool", toolCallId: "1", content: "12:00" },
    ];
    for (const [, text] of FORMS) expect(readIn(text, messages)).toBe("malformed");
  });

  /** A page or a file as it may show marks, and the model's quotation of them. */
  const shown: readonly (readonly [string, (text: string) => string])[] = [
    ["as they are", (text) => text],
    ["as HTML", (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")],
    ["as JSON", (text) => JSON.stringify({ page: text })],
    ["with invisible characters", (text) => Array.from(text).join("\u200b")],
  ];
  it.each(shown)("WrittenAction.W3 is text where a page has its marks %s", (_how, show) => {
    for (const [, text] of FORMS) {
      const messages: ChatMessage[] = [
        { role: "user", content: "What does the page say?" },
        { role: "tool", toolCallId: "1", content: `Before.\n${show(text)}\nBehind.` },
      ];
      expect(readIn(text, messages)).toBe("answer");
      expect(readIn(`I read it.\n\n${text}`, messages)).toBe("answer");
    }
  });

  it("runs with the permissions of its tool, is recorded as text, and the marks are no answer", async () => {
    ran.length = 0;
    const marked = `<tool_call>{"name": "write_file", "arguments": {"path": "a", "text": "b"}}</tool_call>`;
    const { agent } = agentOf([marked, "done"], { tools: [write], permissions: { rules: [{ tool: "write_file", decide: "deny" }] } });
    const run = agent.run("x");
    const started: unknown[] = [];
    for await (const event of run) if (event.type === "call.ended") started.push(event.call.extra, event.outcome);
    expect([started, ran, (await run.result).answer]).toEqual([[{ fromText: true }, "denied"], [], "done"]);
    const loud = agentOf(["<tool_call>add 1 2</tool_call>", "three"], { tools: [add] });
    expect((await loud.agent.run("x").result).answer).toBe("three");
    const native = agentOf([calls(call("add", { a: 1, b: 2 })), `<function=add>${ARGS}</function>`, "three"], { tools: [add] });
    expect((await native.agent.run("x").result).answer).toBe("three");
    expect(ran).toEqual([{ a: 1, b: 2 }]);
  });

  it.each(["<function=add>{", "[TOOL_CALLS][{"])("%s and many spaces before other words are read in one go", (opening) => {
    expect(readIn(`${opening}${"\n".repeat(100_000)}x`)).toBe("malformed");
    expect(readIn(`${opening}"a": ?  \n\`\`\`\n</tool_call>`)).toBe("malformed");
  });
});
