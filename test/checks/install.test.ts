import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { installPackages } from "../../src/checks/install.ts";
import { chooseSandbox, plainSandbox } from "../../src/workspace/choose-sandbox.ts";
import { refusedSandbox } from "../../src/workspace/sandbox.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { projectOf } from "./page-project.ts";

const sandbox = await chooseSandbox("auto");
const closed = refusedSandbox("it is closed", "Open it.");

/** A server of this machine that tells what it was asked for. */
async function serverOf(answers: (path: string, address: string) => string | Buffer | undefined) {
  const asked: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    asked.push(url);
    const { port } = server.address() as AddressInfo;
    const body = answers(decodeURIComponent(url.slice(1)), `http://127.0.0.1:${port}`);
    response.writeHead(body === undefined ? 404 : 200, {
      "content-type": typeof body === "string" ? "text/html" : "application/octet-stream",
    });
    response.end(body);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { url, asked, [Symbol.asyncDispose]: async () => void (await new Promise((resolve) => server.close(resolve))) };
}

/** The archive of a package whose script would leave a mark. */
function archiveOf(manifest: object): Buffer {
  const top = scratchFolder();
  mkdirSync(join(top, "package"));
  const scripts = { preinstall: "echo ran > ran", postinstall: "echo ran > ran" };
  writeFileSync(join(top, "package", "package.json"), JSON.stringify({ bin: "cli.js", scripts, ...manifest }));
  writeFileSync(join(top, "package", "cli.js"), "#!/usr/bin/env node\nconsole.log('the tool runs');\n", { mode: 0o755 });
  execFileSync("tar", ["-czf", join(top, "tool.tgz"), "-C", top, "package"]);
  return readFileSync(join(top, "tool.tgz"));
}

/** A registry that has one version of each package. @param more members of its manifest, such as its dependencies */
function registryOf(packages: Readonly<Record<string, { readonly tarball?: string; readonly more?: object }>>) {
  const archives = new Map(Object.entries(packages).map(([name, { more }]) => [name, archiveOf({ name, version: "1.0.0", ...more })]));
  return serverOf((path, address) => {
    const archive = archives.get(path.replace(/\.tgz$/, ""));
    if (archive === undefined || path.endsWith(".tgz")) return archive;
    const { tarball = `${address}/${path}.tgz`, more } = packages[path] ?? {};
    const dist = { tarball, integrity: `sha512-${createHash("sha512").update(archive).digest("base64")}` };
    const version = { name: path, version: "1.0.0", bin: "cli.js", hasInstallScript: true, dist, ...more };
    return JSON.stringify({ name: path, "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": version } });
  });
}

const secretServer = (): ReturnType<typeof serverOf> => serverOf(() => "the secret");
const manifest = (dependencies: object, more: object = {}): string => JSON.stringify({ name: "project", dependencies, ...more });

describe.runIf(sandbox.kind === "bubblewrap")("installPackages in bubblewrap", () => {
  it("puts the packages of a registry into the project, runs none of their scripts, and changes nothing else", async () => {
    await using registry = await registryOf({ tool: {}, "@scope/other": {} });
    const dependencies = { tool: "^1.0.0", mine: "npm:@scope/other@1.x" };
    const root = projectOf({ "package.json": manifest(dependencies, { scripts: { postinstall: "echo ran > ran" } }), "index.js": "1" });
    mkdirSync(join(root, "node_modules", "old"), { recursive: true });
    expect(await installPackages({ root, sandbox, stack: "node", registry: registry.url })).toEqual({
      kind: "installed",
      folder: "node_modules",
    });
    expect(readdirSync(root).sort()).toEqual(["index.js", "node_modules", "package.json"]);
    expect(readdirSync(join(root, "node_modules")).sort()).toEqual([".bin", ".package-lock.json", "mine", "tool"]);
    expect(existsSync(join(root, "node_modules", "tool", "ran"))).toBe(false);
    const ran = await sandbox.run({ root, command: ["node", "node_modules/.bin/tool"] });
    expect(ran).toMatchObject({ kind: "exited", code: 0, stdout: "the tool runs\n" });
  });

  it("gives no setting, lock file or program of the project to the command", { tags: ["company", "long"] }, async () => {
    await using registry = await registryOf({ tool: {} });
    await using secret = await secretServer();
    const evil = "#!/bin/sh\necho ran > ran\n";
    const lock = {
      name: "project",
      lockfileVersion: 3,
      packages: { "node_modules/tool": { version: "1.0.0", resolved: `${secret.url}x.tgz` } },
    };
    const root = projectOf({
      "package.json": manifest({ tool: "1.0.0" }),
      ".npmrc": `registry=${secret.url}\nproxy=${secret.url}\ngit=./evil.sh\nscript-shell=./evil.sh\nnode-options=--require ./evil.js\nignore-scripts=false\n`,
      "package-lock.json": JSON.stringify(lock),
      "evil.sh": evil,
      "evil.js": "require('fs').writeFileSync('ran', '')",
    });
    expect(await installPackages({ root, sandbox, stack: "node", registry: registry.url })).toMatchObject({ kind: "installed" });
    expect([secret.asked, existsSync(join(root, "ran")), existsSync(join(root, "node_modules/tool/ran"))]).toEqual([[], false, false]);
  });

  it("reaches no other server of this machine, whatever a package of the registry asks for", async () => {
    await using secret = await secretServer();
    await using registry = await registryOf({
      elsewhere: { tarball: `${secret.url}tool.tgz` },
      git: { more: { dependencies: { a: `git+${secret.url}a.git` } } },
      http: { more: { dependencies: { a: `${secret.url}a.tgz` } } },
    });
    for (const name of ["elsewhere", "git", "http"]) {
      const root = projectOf({ "package.json": manifest({ [name]: "1.0.0" }) });
      const report = await installPackages({ root, sandbox, stack: "node", registry: registry.url });
      expect([name, report.kind]).toEqual([name, "failed"]);
    }
    expect(secret.asked).toEqual([]);
  });

  it("installs wheels of Python and builds nothing", { tags: ["company", "long"] }, async () => {
    const wheel = join(scratchFolder(), "tool-1.0.0-py3-none-any.whl");
    const script = `import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as z:
    z.writestr("tool.py", "print('the tool runs')")
    z.writestr("tool-1.0.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: tool\\nVersion: 1.0.0\\n")
    z.writestr("tool-1.0.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    z.writestr("tool-1.0.0.dist-info/RECORD", "")`;
    execFileSync("python3", ["-c", script, wheel]);
    const links: Readonly<Record<string, string>> = {
      "simple/tool/": "tool-1.0.0-py3-none-any.whl",
      "simple/source/": "source-1.0.0.tar.gz",
    };
    await using registry = await serverOf((path) => {
      if (path.endsWith(".whl")) return readFileSync(wheel);
      return links[path] === undefined ? undefined : `<a href="/files/${links[path]}">${links[path]}</a>`;
    });
    const install = (requirements: string) =>
      installPackages({
        root: projectOf({ "requirements.txt": requirements, "setup.py": "open('ran', 'w')", "pip.conf": "[global]\nno-index = true" }),
        ...{ sandbox, stack: "python" as const, registry: `${registry.url}simple/` },
      });
    expect(await install("# of the registry\ntool[extra] >= 1.0, <2 ; python_version >= '3'  # the tool\n")).toEqual({
      kind: "installed",
      folder: ".packages",
    });
    expect(await install("source==1.0.0")).toMatchObject({ kind: "failed" });
    expect(registry.asked.filter((path) => path.endsWith(".tar.gz"))).toEqual([]);
  });
});

describe("installPackages", () => {
  it.each([
    [{}, "node"],
    [{ "package.json": '{"name":"x","dependencies":{}}' }, "node"],
    [{ "package.json": "broken" }, "page"],
    [{ "requirements.txt": "# nothing yet\n\n" }, "python"],
  ] as const)("has nothing to do for %j", async (files, stack) => {
    expect(await installPackages({ root: projectOf({ ...files, "readme.md": "" }), sandbox: closed, stack })).toEqual({ kind: "nothing" });
  });

  it.each([
    ...[
      "file:vendor/tool.tgz",
      "file:../..",
      "./vendor",
      "../vendor",
      "/etc",
      "~/x",
      ".",
      "vendor/tool.tgz",
      "tool.tgz",
      "tool.tar.gz",
      "link:x",
    ],
    ...[
      "git+http://127.0.0.1/x.git",
      "git+ssh://git@127.0.0.1/x",
      "git://127.0.0.1/x",
      "git@127.0.0.1:x/y",
      "user/project",
      "github:user/project",
    ],
    ...["gist:11081aaa281", "http://127.0.0.1/x.tgz", "https://127.0.0.1/x.tgz", "HTTP://127.0.0.1", "//127.0.0.1/x", "workspace:*"],
    ...[
      "npm:tool@file:x",
      "npm:tool@npm:x",
      "npm:../x",
      "catalog:",
      "patch:tool@1#x",
      "1.0.0\n--registry=x",
      "user/project#semver:1",
      "C:\\x",
    ],
  ])("takes no version that leads elsewhere: %j", async (version) => {
    for (const list of ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"]) {
      const root = projectOf({ "package.json": JSON.stringify({ name: "project", [list]: { tool: version } }) });
      const report = await installPackages({ root, sandbox: closed, stack: "node" });
      expect(report).toMatchObject({ kind: "not run", reason: expect.stringContaining("names and versions of a registry") });
    }
  });

  it.each(["overrides", "resolutions", "workspaces", "bundleDependencies"])("takes no package.json with %s", async (member) => {
    const root = projectOf({ "package.json": manifest({ tool: "1" }, { [member]: { tool: "file:x" } }) });
    const report = await installPackages({ root, sandbox: closed, stack: "node" });
    expect(report).toMatchObject({ kind: "not run", reason: expect.stringContaining(member) });
  });

  it.each(["../x", "a b", "--registry=x", "@a/../b", "a@1", "x/y", ".", "http://x"])("takes no name that is none: %j", async (name) => {
    const root = projectOf({ "package.json": manifest({ [name]: "1" }) });
    expect(await installPackages({ root, sandbox: closed, stack: "node" })).toMatchObject({
      kind: "not run",
      reason: expect.not.stringContaining("closed"),
    });
  });

  it.each([
    ...[
      "-e .",
      "-e git+http://127.0.0.1/x",
      "--editable=.",
      ".",
      "./x",
      "../x",
      "/etc/x",
      "x/y",
      "tool @ file:///etc",
      "tool@http://127.0.0.1/x.whl",
    ],
    ...[
      "http://127.0.0.1/x.whl",
      "file:x.whl",
      "git+http://127.0.0.1/x",
      "-r other.txt",
      "-c other.txt",
      "--requirement other.txt",
      "C:\\x",
    ],
    ...["--index-url http://127.0.0.1", "-i http://127.0.0.1", "--extra-index-url http://127.0.0.1", "--find-links .", "-f .", "--pre"],
    ...[
      "--no-binary :all:",
      "--trusted-host x",
      "tool --global-option=x",
      "tool==1 --config-settings=x",
      "tool \\",
      "tool==${SECRET}",
      "tool; x@y",
    ],
  ])("takes no requirement that leads elsewhere: %j", async (line) => {
    for (const text of [line, `good==1.0\n${line}`, `good==1.0\r${line}`]) {
      const report = await installPackages({ root: projectOf({ "requirements.txt": text }), sandbox: closed, stack: "python" });
      expect(report).toMatchObject({ kind: "not run", reason: expect.stringContaining("names and versions of a registry") });
    }
  });

  it("does not read what a link points to", async () => {
    const root = projectOf({ "readme.md": "" });
    const secret = join(scratchFolder(), "secret");
    writeFileSync(secret, "- the secret");
    symlinkSync(secret, join(root, "requirements.txt"));
    expect(await installPackages({ root, sandbox: closed, stack: "python" })).toEqual({ kind: "nothing" });
  });

  it("is refused where the network cannot be closed", async () => {
    const root = projectOf({ "package.json": manifest({ tool: "1" }) });
    const report = await installPackages({ root, sandbox: plainSandbox(), stack: "node" });
    expect(report).toMatchObject({ kind: "not run", reason: expect.stringMatching(/network.*registry\.npmjs\.org/) });
  });

  it("says why it did not run, and ends when the signal aborts", async () => {
    const root = projectOf({ "package.json": manifest({ tool: "1" }) });
    expect(await installPackages({ root, sandbox: closed, stack: "node" })).toEqual({ kind: "not run", reason: "it is closed. Open it." });
    if (sandbox.kind !== "bubblewrap") return;
    const aborted = installPackages({ root, sandbox, stack: "node", signal: AbortSignal.abort() });
    await expect(aborted).rejects.toMatchObject({ name: "AbortedError" });
  });

  it("takes an address of a registry without a key in it", async () => {
    const root = projectOf({ "package.json": manifest({ tool: "1" }) });
    for (const registry of ["x", "file:///etc", "http://user:key@127.0.0.1/"])
      await expect(installPackages({ root, sandbox: closed, stack: "node", registry })).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });
});
