import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { erdosRenyi, graphmlText, layeredTopology, readGraphml, topologyMetrics, topologyOf } from "../../../src/research/index.ts";

const graph = (body: string, direction: string = "undirected"): string =>
  `<?xml version="1.0"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n<graph edgedefault="${direction}">${body}</graph></graphml>\n`;

describe("GraphML", () => {
  it("of any graph is read back as it was", async () => {
    const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 }).filter((text) => !/[\u0000-\u001f\ufffe\uffff]/.test(text));
    const edges = fc.array(
      fc.tuple(name, name).filter(([from, to]) => from !== to),
      { minLength: 1, maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(edges, fc.boolean(), async (pairs, directed) => {
        const topology = topologyOf(pairs, { directed });
        expect(await readGraphml(graphmlText(topology))).toEqual(topology);
      }),
      { numRuns: 60 },
    );
    for (const topology of [layeredTopology([2, 2]), erdosRenyi(30, { probability: 0, seed: 1 })])
      expect(await readGraphml(graphmlText(topology))).toEqual(topology);
  });

  it("of other programs is read: keys, data, comments, prefixes, either quote, and edges of both kinds", async () => {
    const text = graph(
      `<!-- <node id="no"/> --><key id="d0" for="node"/><desc><![CDATA[<node id="no"/>]]></desc>
       <node id='a &amp; "b"'><data key="d0">1 &lt; 2</data></node><g:node id="c&#x41;"/><node id="d"/>
       <edge id="e" source='a &amp; "b"' target="c&#65;" directed="true"/><edge source="cA" target="d"><data key="w">3</data></edge>`,
    );
    expect(await readGraphml(text)).toEqual({
      nodes: ['a & "b"', "cA", "d"],
      edges: [
        ['a & "b"', "cA"],
        ["cA", "d"],
        ["d", "cA"],
      ],
      directed: true,
    });
    const odd = await readGraphml(graph('<node id="__proto__"/><node id="b"/><edge source="__proto__" target="b"/>'));
    expect(topologyMetrics(odd).components).toBe(1);
    const returns = await readGraphml(graph('<node id="a"/>\r<node\r\nid="b&#13;"/>').replaceAll("\n", "\r\n"));
    expect(returns.nodes).toEqual(["a", "b\r"]);
  });

  it("that is broken, hostile or of another kind is refused with its place", async () => {
    const bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>';
    const file = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>';
    const broken = [
      ...["", "hello", "<graphml>", "<graphml></graphml>", "<a></b>", "<graphml><graph></graph></graphml>"],
      ...[bomb, file].map((type) => `${type}<graphml><graph edgedefault="directed"><node id="&e;"/></graph></graphml>`),
      ...[
        "<node/>",
        '<node id="&e;"/>',
        '<node id="&#1114112;"/>',
        '<node id="&#xD800;"/>',
        '<node id="&#0;"/>',
        '<node id="&constructor;"/>',
        '<node id="a" id="b"/>',
        '<node id="\ud800"/>',
        `<node id="a"><data>${"<a>".repeat(100_000)}${"</a>".repeat(100_000)}</data></node>`,
        "<hyperedge/>",
        '<node id="a"><port name="p"/></node>',
        '<node id="a',
      ].map((body) => graph(body)),
      ...['<edge source="a"/>', '<node id="a"><graph edgedefault="directed"/></node>', '<edge source="a" target="b" directed="yes"/>'].map(
        (body) => graph(body),
      ),
    ];
    for (const text of broken)
      await expect(readGraphml(text), text.slice(0, 200)).rejects.toMatchObject({
        code: "GRAPHML_INVALID",
        message: expect.stringMatching(/^Expected [^\n]+\.$/) as string,
      });
    await expect(readGraphml(graph('\n<node id="a"/>\n<node id="b">'))).rejects.toThrow(/line 5, column/);
    const hyper = graph('<node id="a"/><hyperedge/>');
    await expect(readGraphml(hyper)).rejects.toThrow(`at character ${hyper.indexOf("<hyperedge")} of`);
    const typed = `<!DOCTYPE graphml SYSTEM "http://example.org/graphml.dtd">${graph('<node id="a"/>').split("?>")[1]}`;
    await expect(readGraphml(typed)).rejects.toThrow(/no document type at character 0/);
    await expect(readGraphml("<a>".repeat(100_000))).rejects.toThrow(/elements in too many others/);
    await expect(readGraphml(" ".repeat(32_000_001))).rejects.toMatchObject({ code: "TOPOLOGY_TOO_LARGE" });
    for (const body of [
      '<node id="a"/><edge source="a" target="z"/>',
      '<node id="a"/><edge source="a" target="a"/>',
      '<node id="a"/><node id="a"/>',
      "",
    ])
      await expect(readGraphml(graph(body))).rejects.toMatchObject({ code: "TOPOLOGY_INVALID" });
    expect(() => graphmlText(topologyOf([["a", "\u0001"]]))).toThrow(/that XML can hold/);
  });

  it("is read in time that grows with its length", { tags: ["numbers", "long"] }, async () => {
    const started = performance.now();
    for (const text of [
      "<".repeat(50_000),
      "<a ".repeat(50_000),
      `<a ${"b='c' ".repeat(20_000)}`,
      "<!--".repeat(20_000),
      "&".repeat(50_000),
      "<a>".repeat(50_000),
      `<a>${"\r".repeat(150_000)}</a>`,
      `<a>${"&amp;]]".repeat(50_000)}</a>`,
    ])
      await expect(readGraphml(text)).rejects.toThrow(/Expected/);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
