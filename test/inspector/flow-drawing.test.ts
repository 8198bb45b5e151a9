import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { flowGraphviz, flowMermaid } from "../../src/inspector/flow-drawing.ts";
import { messageFlow } from "../../src/inspector/message-flow.ts";
import { say } from "../memory/storage-setup.ts";

const HOSTILE = [
  '"];\nclick n0 "javascript:alert(1)"',
  "`**bold**`",
  "<img src=x onerror=alert(1)>&lt;b&gt;",
  "%%{init: {}}%%",
  "style x:#fff;",
  "end",
  'a" -> "b',
  "\\N\\",
  '\\"',
  "\u001b[31m\u202e\u2028\u0000\ud800",
  "n0 --> n1",
  "x".repeat(1_000_000),
  "王小明 😀",
];

const flow = messageFlow([
  ...HOSTILE.map((name, n) => say(`m${n}`, "x", { sentFrom: name, sendTo: HOSTILE, causeBy: name })),
  say("all", "x", { sentFrom: HOSTILE[0] as string }),
  say("user", "x", { sendTo: [HOSTILE[0] as string] }),
]);

/** The lines of a flowchart: nothing inside quotes can end them. */
const LABEL = String.raw`"(?:[\p{L}\p{N} .,…()-]|#\d{1,7};)+"`;
const MERMAID = new RegExp(
  String.raw`^(?:flowchart LR|  %% \d+ lighter edges are not drawn|  n\d+(?:\[${LABEL}\]|\(\[${LABEL}\]\))|  n\d+ (?:-->|-\.->)\|${LABEL}\| n\d+)$`,
  "u",
);
/** A quoted string of Graphviz, in which every backslash is escaped. */
const QUOTED = String.raw`"(?:[^"\\&\p{C}]|\\"|\\\\|&amp;)*"`;
const GRAPHVIZ = new RegExp(
  String.raw`^(?:digraph troupe \{|  rankdir=LR;|  node \[shape=box\];|  n\d+ \[label=${QUOTED}(?:, shape=ellipse)?\];|  n\d+ -> n\d+ \[label=${QUOTED}, weight=\d+(?:, style=dashed)?\];|\})$`,
  "u",
);

/** Labels with the numbers read back, as Mermaid shows them. */
function shownByMermaid(text: string): string {
  return text.replace(/#(\d+);/g, (_all, code: string) => String.fromCodePoint(Number(code)));
}

describe("flowMermaid", () => {
  it("draws roles as boxes, others as stadiums, broadcasts dotted, with weights and causes", () => {
    const small = messageFlow([
      say("1", "go", { sendTo: ["Ann"] }),
      say("2", "a", { sentFrom: "Ann", causeBy: "Write" }),
      say("3", "b", { sentFrom: "Ann", causeBy: "Write" }),
      say("4", "c", { sentFrom: "Ann", causeBy: "Review" }),
      say("5", "d", { sentFrom: "Ann", causeBy: "Test" }),
    ]);
    expect(flowMermaid(small).split("\n")).toEqual([
      "flowchart LR",
      '  n0(["(outside)"])',
      '  n1["Ann"]',
      '  n2(["(all)"])',
      '  n0 -->|"1 UserRequirement"| n1',
      '  n1 -.->|"4 Write, Review and 1 more"| n2',
    ]);
  });

  it("never reads a name as syntax", () => {
    const lines = flowMermaid(flow).split("\n");
    expect(lines.filter((line) => !MERMAID.test(line))).toEqual([]);
    expect(lines).toHaveLength(1 + flow.nodes.length + flow.edges.length);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(2_000);
  });

  it("shows visible names unchanged", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 40 }), (name) => {
        fc.pre(!/[\p{C}\p{Zl}\p{Zp}]/u.test(name));
        const [, node = ""] = flowMermaid(messageFlow([say("1", "x", { sentFrom: name, sendTo: "<none>" })])).split("\n");
        expect(node).toMatch(MERMAID);
        expect(shownByMermaid(node)).toBe(`  n0["${name}"]`);
      }),
    );
  });

  it("draws the heaviest 500 edges and counts the others", () => {
    const many = messageFlow(
      Array.from({ length: 600 }, (_, n) => say(`m${n}`, "x", { sentFrom: "Ann", sendTo: [`role ${n}`] })).concat(
        say("more", "x", { sentFrom: "Ann", sendTo: ["role 599"] }),
      ),
    );
    const lines = flowMermaid(many).split("\n");
    expect(lines[1]).toBe("  %% 100 lighter edges are not drawn");
    expect(lines.filter((line) => line.includes("-->"))).toHaveLength(500);
    expect(lines.at(-1)).toBe('  n0 -->|"2 UserRequirement"| n600');
  });
});

describe("flowGraphviz", () => {
  it("is a digraph whose broadcasts are dashed", () => {
    const small = messageFlow([say("1", "go", { sendTo: ["Ann"] }), say("2", "a", { sentFrom: "Ann", causeBy: "R&D" })]);
    expect(flowGraphviz(small).split("\n")).toEqual([
      "digraph troupe {",
      "  rankdir=LR;",
      "  node [shape=box];",
      '  n0 [label="(outside)", shape=ellipse];',
      '  n1 [label="Ann"];',
      '  n2 [label="(all)", shape=ellipse];',
      '  n0 -> n1 [label="1 UserRequirement", weight=1];',
      '  n1 -> n2 [label="1 R&amp;D", weight=1, style=dashed];',
      "}",
    ]);
  });

  it("never reads a name as syntax", () => {
    const lines = flowGraphviz(flow).split("\n");
    expect(lines.filter((line) => !GRAPHVIZ.test(line))).toEqual([]);
    expect(lines).toHaveLength(4 + flow.nodes.length + flow.edges.length);
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1 }), (name) => {
        const text = flowGraphviz(messageFlow([say("1", "x", { sentFrom: name, sendTo: [`${name}"`], causeBy: `${name}\\` })]));
        expect(text.split("\n").filter((line) => !GRAPHVIZ.test(line))).toEqual([]);
      }),
    );
  });
});
