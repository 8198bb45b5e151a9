// A process that ends while a command runs, in one of several ways, when its input has a line. Its one argument is JSON: { mode, end, mark, root }.
import { Agent } from "../../dist/src/agent/index.js";
import { scriptedModel } from "../../dist/src/testing/index.js";
import { shellTool } from "../../dist/src/tools/index.js";
import { chooseSandbox, fileWorkspace } from "../../dist/src/workspace/index.js";

const { mode, end, mark, root } = JSON.parse(process.argv[2]);
const command = `trap '' TERM; sleep ${mark} & sleep ${mark}`;
const toolCalls = [{ id: "1", type: "function", function: { name: "shell", arguments: JSON.stringify({ command }) } }];
const ends = {
  "a signal": () => process.kill(process.pid, "SIGKILL"),
  exit: () => process.exit(3),
  "an error": () => {
    throw new Error("nobody catches it");
  },
};
process.stdin.once("data", () => ends[end]());
const tools = [shellTool({ workspace: fileWorkspace({ root, git: false }), sandbox: await chooseSandbox(mode) })];
const permissions = { rules: [{ tool: "*", decide: "allow" }] };
await new Agent({ name: "ann", model: scriptedModel([{ toolCalls }]), tools, permissions }).run("go").result;
