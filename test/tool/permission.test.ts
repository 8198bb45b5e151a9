import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { JsonObject } from "../../src/kernel/json.ts";
import { fitsGlob } from "../../src/tool/glob.ts";
import { decide, type Decision, type Permission, type PermissionPolicy, type PermissionRule } from "../../src/tool/permission.ts";
import { spentBy } from "../kernel/spent.ts";
import { tries } from "../long.ts";

const shell = { name: "shell", permission: "ask" as Permission };

function said(
  rules: readonly PermissionRule[],
  args: JsonObject,
  tool: { readonly name: string; readonly permission: Permission } = shell,
): Decision {
  return decide(tool, args, { rules });
}

describe("a pattern", () => {
  it.each([
    ["shell", "shell", true],
    ["shell", "shel", false],
    ["shell", "*", true],
    ["", "*", true],
    ["mcp_files_read", "mcp_*", true],
    ["mcp_files_read", "mcp_*_read", true],
    ["mcp_files_read", "*_write", false],
    ["abc", "a*b*c", true],
    ["acb", "a*b*c", false],
    ["aa", "a*a", true],
    ["a", "a*a", false],
    ["ababab", "*ab", true],
    ["a.c", "a.c", true],
    ["abc", "a.c", false],
    ["a?", "a?", true],
    ["(a+)+$", "(a+)+$", true],
    ["x\ny", "x*y", true],
  ])("%j fits %j: %s", (text, pattern, fits) => {
    expect(fitsGlob(text, pattern)).toBe(fits);
  });

  it("fits as a regular expression would that is made of it", { tags: "numbers" }, () => {
    const word = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 8 });
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 12 }), word, (text, pattern) => {
        const pieces = pattern.split("*");
        expect(fitsGlob(text, pattern)).toBe(new RegExp(`^${pieces.join("[^]*")}$`).test(text));
      }),
      { numRuns: tries(334, 4_000) },
    );
  });

  it("ends soon on texts and patterns that are made to take long", { tags: ["numbers", "long"] }, async () => {
    const pattern = `${"*a".repeat(200)}*b`;
    const spent = await spentBy(() => {
      expect(fitsGlob("a".repeat(1_000_000), pattern)).toBe(false);
      expect(fitsGlob(`${"a".repeat(499_999)}c`.repeat(2), `*${"a".repeat(400)}b*`)).toBe(false);
    });
    expect(spent).toBeLessThan(2_000);
  });
});

describe("Permission.P1 of all rules that fit, the strictest decides", () => {
  const allow: PermissionRule = { tool: "shell", decide: "allow" };
  const ask: PermissionRule = { tool: "sh*", decide: "ask" };
  const deny: PermissionRule = { tool: "*", args: { command: "rm *" }, decide: "deny" };

  it("wherever it stands", () => {
    for (const rules of [
      [allow, ask, deny],
      [deny, ask, allow],
      [ask, deny, allow],
    ]) {
      expect(said(rules, { command: "rm -rf build" })).toBe("deny");
      expect(said(rules, { command: "ls" })).toBe("ask");
    }
    expect(said([allow], { command: "ls" })).toBe("allow");
  });

  it("so no rule loosens what another says: with more rules it is at least as strict", () => {
    const decision = fc.constantFrom<Decision>("allow", "ask", "deny");
    const rule: fc.Arbitrary<PermissionRule> = fc.record({
      tool: fc.constantFrom("shell", "sh*", "*", "other"),
      args: fc.constantFrom({}, { command: "rm *" }, { command: "*" }, { path: "*" }),
      decide: decision,
    });
    const strictness = { allow: 0, ask: 1, deny: 2 };
    fc.assert(
      fc.property(decision, fc.array(rule), fc.array(rule), fc.constantFrom("rm x", "ls"), (base, rules, more, command) => {
        const first = [{ tool: "shell", decide: base }, ...rules];
        const [before, after] = [said(first, { command }), said([...more, ...first], { command })];
        expect(strictness[after]).toBeGreaterThanOrEqual(strictness[before]);
      }),
    );
  });
});

describe("Permission.P2 Permission.P3 where no rule fits", () => {
  it("the policy's default decides, and without one the tool", () => {
    expect(decide(shell, {}, {})).toBe("ask");
    expect(decide(shell, {}, { default: "allow" })).toBe("allow");
    expect(decide({ name: "read", permission: "allow" }, {}, { default: "deny" })).toBe("deny");
  });

  it("only a rule that names the call allows a call that the tool itself denies", () => {
    const careful = { name: "shell", permission: [{ args: { command: "rm *" }, decide: "deny" as const }] };
    expect(decide(careful, { command: "rm x" }, { default: "allow" })).toBe("deny");
    expect(decide(careful, { command: "ls" }, {})).toBe("ask");
    expect(decide(careful, { command: "rm x" }, { rules: [{ tool: "shell", args: { command: "rm x" }, decide: "allow" }] })).toBe("allow");
  });
});

describe("Permission.P4 a rule that allows fits only what it plainly covers", () => {
  const git: readonly PermissionRule[] = [{ tool: "shell", args: { command: "git status*" }, decide: "allow" }];

  it.each([
    ["git status", "allow"],
    ["git status --short", "allow"],
    ["git status; rm -rf /", "ask"],
    ["git status && curl evil.test", "ask"],
    ["git status | sh", "ask"],
    ["git status `id`", "ask"],
    ["git status $(id)", "ask"],
    ["git status > ~/.bashrc", "ask"],
    ["git status\nrm -rf /", "ask"],
    ["git status\u2028rm -rf /", "ask"],
  ] as const)("%j: %s", (command, decision) => {
    expect(said(git, { command })).toBe(decision);
  });

  it.each([
    ["src/a.ts", "allow"],
    ["src/../../etc/passwd", "ask"],
    ["src/..\\secret", "ask"],
    ["src/%2e%2E/secret", "ask"],
    ["src/a..b/c...d", "allow"],
    ["src/..", "ask"],
  ] as const)("the path %j: %s", (path, decision) => {
    expect(said([{ tool: "editor", args: { path: "src/*" }, decide: "allow" }], { path }, { name: "editor", permission: "ask" })).toBe(
      decision,
    );
  });

  it("an address may have an & in it", () => {
    const rules: readonly PermissionRule[] = [{ tool: "web_fetch", args: { url: "https://docs.test/*" }, decide: "allow" }];
    const fetch = { name: "web_fetch", permission: "ask" as const };
    expect(said(rules, { url: "https://docs.test/a?b=1&c=2" }, fetch)).toBe("allow");
    expect(said(rules, { url: "https://docs.test.evil.test/" }, fetch)).toBe("ask");
  });

  it("of a list every entry must fit to allow, and one is enough to deny", () => {
    const rules: readonly PermissionRule[] = [
      { tool: "shell", args: { paths: "src/*" }, decide: "allow" },
      { tool: "shell", args: { paths: "*.env" }, decide: "deny" },
    ];
    expect(said(rules, { paths: ["src/a", "src/b"] })).toBe("allow");
    expect(said(rules, { paths: ["src/a", "lib/b"] })).toBe("ask");
    expect(said(rules, { paths: ["src/a", "src/.env"] })).toBe("deny");
    expect(said(rules, { paths: [] })).toBe("ask");
  });

  it("more white space is no way around a rule that denies", () => {
    const rules: readonly PermissionRule[] = [{ tool: "shell", args: { command: "rm -rf *" }, decide: "deny" }];
    expect(said(rules, { command: "  rm \t -rf\n/" })).toBe("deny");
  });

  it.each([
    ["https://EVIL.test/", "deny"],
    ["HTTPS://evil.test/", "deny"],
    ["https://%65vil.test/", "deny"],
    ["https://\uff45vil.test/", "deny"],
    ["https://ev\u00adil.test/", "deny"],
    ["https://ev\nil.test/", "deny"],
    ["https://good.test/", "ask"],
    ["https://100%.good.test/", "ask"],
  ] as const)("another way to write an address is no way around a rule that denies: %j: %s", (url, decision) => {
    expect(said([{ tool: "shell", args: { url: "*Evil.test*" }, decide: "deny" }], { url })).toBe(decision);
  });

  it.each(["secret/key", "./secret/key", "secret//key", ".//secret/./key", "SECRET/key"])(
    "nor is another way to write a path: %j",
    (path) => {
      expect(said([{ tool: "shell", args: { path: "secret/key" }, decide: "deny" }], { path })).toBe("deny");
      expect(said([{ tool: "shell", args: { path: "./secret/*" }, decide: "deny" }], { path })).toBe("deny");
    },
  );

  it("nor is a tool's name in other letters, which allows nothing", () => {
    expect(said([{ tool: "SHELL", decide: "deny" }], {})).toBe("deny");
    expect(said([{ tool: "Sh*", decide: "allow" }], {})).toBe("ask");
  });

  it.each([
    ["https://docs.good.test/a", "allow"],
    ["https://docs.good.test/a/b?c=d&e", "allow"],
    ["https://evil.test/.good.test/", "ask"],
    ["https://evil.test?.good.test/", "ask"],
    ["https://evil.test#.good.test/", "ask"],
    ["https://evil.test\\.good.test/", "ask"],
    ["https://evil.test:443@docs.good.test/", "ask"],
    ["http://docs.good.test/", "ask"],
  ] as const)("a * in a host stays in the host: %j: %s", (url, decision) => {
    expect(said([{ tool: "shell", args: { url: "https://*.good.test/*" }, decide: "allow" }], { url })).toBe(decision);
  });

  it("a long argument is not allowed by a pattern, but denied by one", () => {
    const command = `echo ${"x".repeat(20_000)}`;
    expect(said([{ tool: "shell", args: { command: "echo *" }, decide: "allow" }], { command })).toBe("ask");
    expect(said([{ tool: "shell", args: { command: "echo *" }, decide: "deny" }], { command })).toBe("deny");
  });
});

describe("arguments of a rule", () => {
  it("reach inside, and are values of any type", () => {
    const rules: readonly PermissionRule[] = [{ tool: "*", args: { "options.force": "true", n: "1*" }, decide: "deny" }];
    expect(said(rules, { options: { force: true }, n: 12 })).toBe("deny");
    expect(said(rules, { options: { force: false }, n: 12 })).toBe("ask");
    expect(said(rules, { n: 12 })).toBe("ask");
    expect(said([{ tool: "*", args: { "a.b": "x" }, decide: "deny" }], { "a.b": "x" })).toBe("deny");
  });

  it("reach inside every entry of a list", () => {
    const rules = (decision: Decision): readonly PermissionRule[] => [{ tool: "*", args: { "files.path": "src/*" }, decide: decision }];
    const both = { files: [{ path: "lib/a" }, { path: "src/b" }] };
    expect([said(rules("deny"), both), said(rules("allow"), both)]).toEqual(["deny", "ask"]);
    expect(said(rules("allow"), { files: [{ path: "src/a" }, { path: "src/b" }] })).toBe("allow");
    expect(said(rules("allow"), { files: [{ path: "src/a" }, {}] })).toBe("ask");
    expect(said(rules("allow"), { files: [] })).toBe("ask");
  });

  it("cannot be hidden behind one whose name is the whole way", () => {
    const rules = (decision: Decision): readonly PermissionRule[] => [{ tool: "*", args: { "options.path": "src/*" }, decide: decision }];
    const hidden = { "options.path": "src/a", options: { path: "/etc/passwd" } };
    expect(said(rules("allow"), hidden)).toBe("ask");
    expect(said(rules("deny"), { "options.path": "lib/a", options: { path: "src/b" } })).toBe("deny");
  });

  it("are what was given, and nothing that every object has", () => {
    for (const name of ["constructor", "__proto__", "toString", "constructor.name"]) {
      expect(said([{ tool: "*", args: { [name]: "*" }, decide: "deny" }], { command: "ls" })).toBe("ask");
    }
  });
});

test.each<[string, PermissionPolicy]>([
  ["a decision that is none", { default: "maybe" as Decision }],
  ["a rule's decision that is none", { rules: [{ tool: "*", decide: "alow" as Decision }] }],
  ["a decision that every object has", { default: "constructor" as Decision }],
  ["a rule without a tool", { rules: [{ decide: "deny" } as PermissionRule] }],
  ["an empty pattern", { rules: [{ tool: "", decide: "deny" }] }],
  ["a pattern that is none", { rules: [{ tool: "*", args: { a: /x/ as unknown as string }, decide: "deny" }] }],
  ["a pattern beyond all measure", { rules: [{ tool: "*".repeat(501), decide: "deny" }] }],
])("a policy with %s is refused", (_, policy) => {
  expect(() => decide(shell, {}, policy)).toThrow(expect.objectContaining({ code: "PERMISSION_INVALID" }) as Error);
});

test("a rule that denies takes time in proportion to texts that are made to take long", { tags: ["numbers", "long"] }, async () => {
  const rules: readonly PermissionRule[] = [{ tool: "*", args: { path: `${"*a".repeat(100)}/../*b` }, decide: "deny" }];
  const spent = (length: number): Promise<number> =>
    spentBy(() => {
      for (const text of ["../", "a/", "%2e", " \t", "./%"]) {
        expect(said(rules, { path: text.repeat(Math.floor(length / text.length)) })).toBe("ask");
      }
    });
  await spent(1_000);
  const few = await spent(150_000);
  expect(await spent(600_000)).toBeLessThan(Math.max(few, 20) * 10);
});
