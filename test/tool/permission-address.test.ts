import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decide, type Decision } from "../../src/tool/permission.ts";

const tool = { name: "fetch", permission: "ask" as const };

function said(pattern: string, value: string, decision: Decision): Decision {
  return decide(tool, { value }, { rules: [{ tool: "fetch", args: { value: pattern }, decide: decision }] });
}

const denies = (pattern: string, value: string): boolean => said(pattern, value, "deny") === "deny";
const allows = (pattern: string, value: string): boolean => said(pattern, value, "allow") === "allow";

/** Ways to write one letter of a host. */
const letter = (char: string): fc.Arbitrary<string> =>
  fc.constantFrom(
    char,
    char,
    char.toUpperCase(),
    `%${char.charCodeAt(0).toString(16)}`,
    char === "." ? "\u3002" : String.fromCharCode(char.charCodeAt(0) + 0xfee0),
    `${char}\u00ad`,
    `${char}\t`,
    `${char}\n`,
  );
const spelled = (text: string): fc.Arbitrary<string> => fc.tuple(...text.split("").map(letter)).map((letters) => letters.join(""));
const place = fc.constantFrom("", "/", "/x", "?x", "#x", "/a/../b", "//x", "\\x", "/%2e%2e/x");
const spellings = (scheme: string, hosts: fc.Arbitrary<string>, port: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom("", " ", "\n", "\u0001"),
      fc.constantFrom(scheme, scheme.toUpperCase(), `${scheme.slice(0, 2)}\t${scheme.slice(2)}`),
      fc.constantFrom(":", ":/", "://", ":///", ":\\\\", ":/\\"),
      fc.constantFrom("", "u@", "u:p@", "good.test@", "good.test%5C@"),
      hosts,
      fc.constantFrom("", `:${port}`, `:0${port}`, ":"),
      place,
    )
    .map((parts) => parts.join(""));

describe("Permission.P4 a rule that denies a web address", () => {
  it("holds for every spelling that leads to the same origin", () => {
    const hosts = spelled("evil.com").chain((host) => fc.constantFrom(host, `${host}.`));
    fc.assert(
      fc.property(spellings("https", hosts, "443"), (text) => {
        fc.pre(URL.canParse(text) && ["https://evil.com", "https://evil.com."].includes(new URL(text).origin));
        expect([text, denies("https://evil.com/*", text)]).toEqual([text, true]);
      }),
      { numRuns: 500 },
    );
  });

  it("holds for every number and every address of IPv6 that stands for an address of IPv4", () => {
    const part = (n: number): fc.Arbitrary<string> =>
      fc.constantFrom(String(n), `0x${n.toString(16)}`, `0X0${n.toString(16)}`, `0${n.toString(8)}`);
    const hosts = (a: number, b: number, c: number, d: number): fc.Arbitrary<string> => {
      const [high, low] = [a * 256 + b, c * 256 + d].map((group) => group.toString(16));
      return fc.oneof(
        fc.tuple(part(a), part(b), part(c), part(d)).map((parts) => parts.join(".")),
        fc.tuple(part(a), part(b), part(c * 256 + d)).map((parts) => parts.join(".")),
        fc.tuple(part(a), part((b * 256 + c) * 256 + d)).map((parts) => parts.join(".")),
        part(((a * 256 + b) * 256 + c) * 256 + d),
        fc.constantFrom(
          `[::ffff:${a}.${b}.${c}.${d}]`,
          `[0:0:0:0:0:FFFF:${high}:${low}]`,
          `[::${high}:${low}]`,
          `[::ffff:0:${high}:${low}]`,
          `[64:ff9b::${a}.${b}.${c}.${d}]`,
          `[64:ff9b:1::${high}:${low}]`,
          `[2002:${high}:${low}::1]`,
        ),
      );
    };
    const byte = fc.nat({ max: 255 });
    const cases = fc.tuple(fc.integer({ min: 1, max: 255 }), byte, byte, byte).chain(([a, b, c, d]) =>
      fc.record({
        dotted: fc.constant([a, b, c, d].join(".")),
        host: hosts(a, b, c, d),
        text: spellings("http", hosts(a, b, c, d), "80"),
      }),
    );
    fc.assert(
      fc.property(cases, ({ dotted, host, text }) => {
        fc.pre(URL.canParse(text));
        expect([text, denies(`http://${dotted}/*`, text)]).toEqual([text, true]);
        expect([host, denies(`*${dotted}*`, `curl http://${host}/latest`)]).toEqual([host, true]);
        expect([host, denies(dotted, host)]).toEqual([host, true]);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ["https://evil.com/*", "https://evil.com:8443/x", true],
    ["https://evil.com/*", "evil.com/x", true],
    ["https://evil.com/*", "//evil.com/x", true],
    ["https://evil.com/*", "https://good.com\\@evil.com/", true],
    ["https://evil.com", "https://evil.com/x", true],
    ["https://evil.com/login", "https://evil.com/login?next=1", true],
    ["https://evil.com/login", "https://evil.com/a/../%6Cogin#top", true],
    ["https://evil.com:8443/*", "https://evil.com/x", false],
    ["https://evil.com/*", "https://evil.com.good.test/x", false],
    ["https://evil.com/*", "https://good.test/evil.com/", false],
    ["https://evil.com/admin/*", "https://evil.com/", false],
    ["https://*.evil.com/*", "https://A.B.EVIL.com.:443", true],
    ["http*://b\u00fccher.example/*", "https://xn--bcher-kva.example/x", true],
    ["http://xn--bcher-kva.example/*", "http://B\u00dcCHER.example", true],
    ["*https://evil.com/*", "curl -s 'https://evil.com:443/x'", true],
    ["curl https://evil.com/*", "cd /tmp && curl  'https://u@evil.com'", true],
    ["http://[::1]:*/*", "http://[0:0:0:0:0:0:0:1]:9/", true],
    ["https://evil.com/*", "see evil", false],
  ])("%s, %j: %s", (pattern, text, isDenied) => {
    expect(denies(pattern, text)).toBe(isDenied);
  });
});

describe("Permission.P4 a rule that allows a web address", () => {
  const words = "https http : / // \\ @ ? # . docs.good.test good.test evil.test 443 8443 %2f %40 [ ] * x";
  const piece = fc.constantFrom(...words.split(" "), " ", "\t");
  const text = fc.oneof(
    fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join("")),
    fc.array(piece, { maxLength: 6 }).map((pieces) => `https://docs.good.test${pieces.join("")}`),
    fc.array(piece, { maxLength: 6 }).map((pieces) => `https://${pieces.join("")}docs.good.test/`),
  );

  it("allows no other host, port or scheme, whoever reads the address", () => {
    fc.assert(
      fc.property(text, (address) => {
        for (const pattern of ["https://docs.good.test/*", "https://docs.good.test*", "https://docs.good.test:443/*"])
          if (allows(pattern, address)) expect(new URL(address).origin).toBe("https://docs.good.test");
        if (allows("https://*.good.test/*", address)) expect(new URL(address).host).toMatch(/^([\w-]+\.)+good\.test$/);
        expect(allows("https://*", address) && /[\\\s]|^https:\/\/[^/?#]*@/.test(address)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ["https://docs.test/*", "https://docs.test", true],
    ["https://docs.test/*", "https://DOCS.test:443/a?b=1&c=2", true],
    ["https://docs.test/*", "https://docs.test?b=1", true],
    ["https://docs.test/*", "https://docs.test:8443/a", false],
    ["https://docs.test:*/*", "https://docs.test:8443/a", true],
    ["http://127.0.0.1:8080/*", "http://0x7f000001:8080/a", true],
    ["http://127.0.0.1:8080/*", "http://127.0.0.1/a", false],
    ["http://127.0.0.*/*", "http://127.0.0.1.evil.test/a", false],
    ["https://docs.test*", "https://docs.test.evil.test/", false],
    ["https://docs.test*", "https://docs.testing/", false],
    ["https://docs.test*", "https://docs.test/a/b", true],
    ["https://docs.test", "https://docs.test/", true],
    ["https://docs.test", "https://docs.test/x", false],
    ["https://*", "https://any.test/x", true],
    ["https:*", "https://any.test/x", true],
    ["https://docs.test/*", "https:docs.test/a", false],
    ["https://docs.test/*", "https://docs.test./a", false],
    ["https://docs.test/*", "https://u@docs.test/a", false],
    ["https://docs.test/*", "https://docs.test\\@evil.test/", false],
  ])("%s, %j: %s", (pattern, address, isAllowed) => {
    expect(allows(pattern, address)).toBe(isAllowed);
  });
});

describe("Permission.P4 a rule for mail addresses", () => {
  it.each([
    ["ada@example.org", true],
    ["ada@EXAMPLE.org", true],
    ["ada@example.org, bob@example.org", true],
    ["eve@evil.test, ada@example.org", false],
    ["eve@evil.test;ada@example.org", false],
    ["eve@evil.test ada@example.org", false],
    ["<eve@evil.test> ada@example.org", false],
    ["eve%evil.test@example.org", false],
    ["eve@evil.test?cc=ada@example.org", false],
    ["mailto:eve@evil.test,@example.org", false],
    ["@example.org", false],
    ["ada@sub.example.org", false],
    ["ada@evil-example.org", false],
    ["rm -rf / #@example.org", false],
  ])("that allows *@example.org, %j: %s", (text, isAllowed) => {
    expect(allows("*@example.org", text)).toBe(isAllowed);
  });

  it.each([
    ["eve@evil.test", true],
    ["EVE@Evil.Test.", true],
    ["ada@example.org, Eve <eve@evil.test>", true],
    ["mailto:eve@evil.test?subject=x", true],
    ["eve@\uff45vil.test", true],
    ["eve@good.test", false],
  ])("that denies *@evil.test, %j: %s", (text, isDenied) => {
    expect(denies("*@evil.test", text)).toBe(isDenied);
  });
});

describe("Permission.P4 a rule for commands", () => {
  it.each([
    ["git *", "git log", true],
    ["git *", "git log --oneline -3", true],
    ["git *", "gitx log", false],
    ["git *", "git log; rm -rf /", false],
    ["git *", "git log || rm -rf /", false],
    ["git *", "git log & rm -rf /", false],
    ["git *", "git log ${x@P}", false],
    ["git *", "git log <(rm x)", false],
    ["git *", "git", false],
    ["git status*", "git status", true],
    ["git status*", "git statuses", false],
    ["git * --stat", "git log -3 --stat", true],
    ["git * --stat", "git log --stat --output=x", false],
    ["git log --max-count=*", "git log --max-count=3", true],
    ["git log --max-count=*", "git log --max-count=3 --output=x", false],
    ["curl https://docs.test/*", "curl https://docs.test/a", true],
    ["curl https://docs.test/*", "curl https://docs.test/a https://evil.test/", false],
    ["curl https://docs.test/*", "curl https://docs.test@evil.test/", false],
    ["* --version", "node --version", true],
  ])("that allows %s, %j: %s", (pattern, command, isAllowed) => {
    expect(allows(pattern, command)).toBe(isAllowed);
  });

  it("allows one simple command of the words of its pattern, whatever stands for *", () => {
    const word = fc.constantFrom("git", "log", "rm", ";", "&&", "|", "\n", "`", "$(", ">", "x", "gitx", "--a", "");
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), (words) => {
        const command = words.join(" ");
        if (allows("git *", command)) expect(command).toMatch(/^git [^;&|`<>\n]*$/);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ["rm *", "rm -rf /", true],
    ["rm *", "cd / && rm -rf x", true],
    ["rm *", "ls; r''m -rf x", true],
    ["rm *", "echo $(rm x)", true],
    ["rm -rf *", "rm   -rf\t/", true],
    ["rm *", "grep form x", false],
  ])("that denies %s, %j: %s", (pattern, command, isDenied) => {
    expect(denies(pattern, command)).toBe(isDenied);
  });
});
